internal import KVBase

/// What the thread of the feed does: it finds the step that is due, and takes it.
extension LiveFeed {
  private enum Step {
    case join(LiveTopic)
    case leave(LiveTopic)
    case catchUp(LiveTopic)
    case poll
    case reconnect

    /// The topic that it takes us into, or out of.
    var moving: LiveTopic? {
      switch self {
      case .join(let topic), .leave(let topic): topic
      case .catchUp, .poll, .reconnect: nil
      }
    }

    /// For the service to say something.
    var waits: Bool {
      switch self {
      case .poll, .reconnect: true
      case .join, .leave, .catchUp: false
      }
    }
  }

  /// Seconds: the service answers a poll that nothing happens for after 280.
  private static let pollSeconds = 310.0
  /// Seconds for what is answered at once.
  private static let callSeconds = 60.0
  /// Seconds without messages after which the service's memory may not reach back far enough.
  private static let longestAbsence = 600.0
  private static let firstPause = 3.0
  private static let longestPause = 60.0
  /// How many failures in a row may come from a proxy in front of the service, or from expired sessions.
  private static let patience = 3

  /// Works until `close`.
  package func run() {
    while let (step, registration, cancellation) = next() {
      do throws(StoreError) {
        try perform(step, registration, cancellation: cancellation)
      } catch {
        handle(error, step, cancellation: cancellation)
      }
      state.withLockNotifyingAll { state in
        (state.step, state.moving) = (nil, nil)
        state.settleDepartures()
      }
    }
  }

  /// Waits until there is something to do; nil: never again.
  private func next() -> (Step, LiveRegistration, Cancellation)? {
    let now = self.now
    let next = state.wait { state -> (Step, LiveRegistration, Cancellation)?? in
      if state.isClosed { return .some(nil) }
      guard let registration = state.registration, let step = Self.step(state) else { return nil }
      let cancellation = Cancellation()
      state.step = cancellation
      state.moving = step.moving
      state.waitingSince = step.waits ? now() : nil
      return (step, registration, cancellation)
    }
    return next ?? nil
  }

  private static func step(_ state: State) -> Step? {
    let wanted = state.wanted
    if state.isDown { return wanted.isEmpty ? nil : .reconnect }
    if let new = wanted.first(where: { state.joined[$0]?.isForgotten != false }) {
      return .join(new)
    }
    if let old = state.joined.keys.first(where: { !wanted.contains($0) }) { return .leave(old) }
    guard !wanted.isEmpty else { return nil }
    if state.position != nil, let late = state.joined.first(where: { $0.value.mustCatchUp }) {
      return .catchUp(late.key)
    }
    return .poll
  }

  private func perform(
    _ step: Step, _ registration: LiveRegistration, cancellation: Cancellation
  ) throws(StoreError) {
    let call = Call(deadline: .after(seconds: Self.callSeconds), cancellation: cancellation)
    // A new subscriber of a joined topic does not wait for an answer.
    announce(cancellation)
    switch step {
    case .join(let topic):
      let since = try remote.join(topic, registration, call: call)
      state.withLock { state in
        guard state.step === cancellation, state.registration != nil else { return }
        // A topic that is joined again keeps the moment up to which everything was delivered.
        state.joined[topic, default: Joined(since: since)].isForgotten = false
      }
      if let data = since?.data { tell(data, of: topic, during: cancellation) }
    case .leave(let topic):
      // Left locally in any case: late messages have no subscriber.
      state.withLock { state in if state.step === cancellation { state.joined[topic] = nil } }
      do throws(StoreError) { try remote.leave(topic, registration, call: call) } catch {
        refuse(departuresFrom: topic, error)
      }
    case .catchUp(let topic):
      try catchUp(topic, call, step: cancellation)
    case .poll:
      try poll(registration, cancellation)
    case .reconnect:
      try reconnect(registration, call, step: cancellation)
    }
  }

  /// Tells those who have left a topic that the backend still sends what happens there.
  private func refuse(departuresFrom topic: LiveTopic, _ error: StoreError) {
    state.withLockNotifyingAll { state in
      for departure in state.departures.removeValue(forKey: topic) ?? [] {
        departure.answer = .failure(error)
      }
    }
  }

  /// Tells those who listen to a topic which data the backend has, before messages about them come. Those who come later are
  /// told when they are told that they are connected.
  private func tell(_ data: BackendData, of topic: LiveTopic, during step: Cancellation) {
    let subscribers = state.withLock { state in
      state.step === step
        ? state.subscribers.filter { state.ready.contains($0.key) && $0.value.topic == topic }.map(
          \.value) : []
    }
    for subscriber in subscribers where !subscriber.isOver { subscriber.hears(data) }
  }

  // MARK: Polling

  private func poll(
    _ registration: LiveRegistration, _ step: Cancellation
  ) throws(StoreError) {
    let call = Call(deadline: .after(seconds: Self.pollSeconds), cancellation: step)
    let position = state.withLock { $0.position }
    let answer = try remote.poll(registration, from: position, call: call)
    state.withLock { $0.waitingSince = nil }
    switch answer {
    case .refused(let topics, let error): refuse(Set(topics), error)
    case .registeredAnew(let registration, let error): goOn(with: registration, error, step: step)
    case .messages(let messages, let next, let isIncomplete):
      guard !isOver(step) else { return }
      let wasAway = recordSuccess()
      for message in messages { deliver(message, call, step: step) }
      state.withLock { state in
        guard state.registration != nil, state.step === step else { return }
        state.position = next
        guard position != nil, isIncomplete || wasAway else { return }
        for topic in state.joined.keys { state.joined[topic]?.mustCatchUp = true }
      }
      announce(step)
    }
  }

  /// Gives whether there may be a gap between this success and the one before.
  private func recordSuccess() -> Bool {
    let now = self.now()
    return state.withLock { state in
      defer { state.lastAnswer = now }
      state.attempt = 0
      state.renewals = 0
      // A clock that was set back says as little as one that was set forward.
      return state.lastAnswer.map { abs(now - $0) > Self.longestAbsence } ?? false
    }
  }

  /// Tells those who are connected for the first time.
  private func announce(_ step: Cancellation) {
    let new = state.withLock { state -> [(Subscriber, BackendData?)] in
      guard state.position != nil, !state.isDown, state.step === step else { return [] }
      state.isConnected = true
      let new = state.subscribers.filter {
        state.joined[$0.value.topic] != nil && !state.ready.contains($0.key)
      }
      state.ready.formUnion(new.keys)
      return new.values.map { ($0, state.joined[$0.topic]?.since?.data) }
    }
    for (subscriber, data) in new where !subscriber.isOver {
      if let data { subscriber.hears(data) }
      subscriber.receive(.status(.connected))
      subscriber.receive(.ready)
    }
  }

  /// Some topics, or – none of ours being named – all.
  private func refuse(_ named: Set<LiveTopic>, _ error: StoreError) {
    let isOurs = state.withLock { !$0.wanted.isDisjoint(with: named) }
    if isOurs { fail(error, named) } else { failAll(error) }
  }

  /// Joins everything once more. If the next polls are refused as well, the user may not listen.
  private func goOn(
    with registration: LiveRegistration, _ error: StoreError, step: Cancellation
  ) {
    let isRefused = state.withLock { state -> Bool in
      guard state.step === step, state.registration != nil else { return false }
      state.renewals += 1
      if state.renewals > Self.patience { return true }
      state.registration = registration
      for topic in state.joined.keys {
        state.joined[topic]?.isForgotten = true
        // Messages were not kept for a device that the service did not know.
        if registration.isNew { state.joined[topic]?.mustCatchUp = true }
      }
      return false
    }
    if isRefused { failAll(error) }
  }

  private func failAll(_ error: StoreError) {
    finish(error, state.withLockNotifyingAll { $0.reset() })
  }

  // MARK: Failures

  private func handle(_ error: StoreError, _ step: Step, cancellation: Cancellation) {
    guard !isOver(cancellation), !cancellation.isCancelled else { return }
    // A poll that nothing came of goes on.
    if case .poll = step, error.kind == .timeout, error.isOffline { return }
    if mayPass(error, step) { return disconnect(cancellation) }
    switch step {
    case .join(let topic): fail(error, [topic])
    case .catchUp(let topic): missed(topic, cancellation)
    case .poll, .reconnect: failAll(error)
    case .leave: break
    }
  }

  /// Whether the same may succeed later.
  private func mayPass(_ error: StoreError, _ step: Step) -> Bool {
    if error.passes { return true }
    guard error.isFromStranger else { return false }
    // A history that cannot be read again and again must not keep the poll from going on.
    guard case .catchUp = step else { return true }
    return state.withLock { $0.attempt } < Self.patience
  }

  private func disconnect(_ step: Cancellation) {
    let isNews = state.withLock { state in
      defer { state.isConnected = false }
      state.attempt += 1
      state.isDown = true
      return state.isConnected
    }
    if isNews { notify(.status(.unexpectedDisconnect), during: step) }
  }

  /// Longer after each failure; not at all once there is reason to look at once.
  private func pause(_ call: Call) throws(StoreError) {
    let (attempt, mustHurry) = state.withLock { state in
      defer { state.mustHurry = false }
      return (state.attempt, state.mustHurry)
    }
    if mustHurry { return }
    let seconds = Retry.pause(
      after: attempt - 1, first: Self.firstPause, longest: Self.longestPause,
      share: 0.5 + clock.random() / 2)
    var waiting = call
    waiting.deadline = .never
    _ = try clock.wait(seconds, waiting)
  }

  /// Waits, then asks whether the service is there again. The position stays: what came meanwhile is delivered then.
  private func reconnect(
    _ registration: LiveRegistration, _ call: Call, step: Cancellation
  ) throws(StoreError) {
    try pause(call)
    let probing = Call(deadline: .after(seconds: Self.callSeconds), cancellation: step)
    try remote.probe(registration, probing)
    let wasKnown = state.withLock { state -> Bool in
      state.isDown = false
      guard state.position != nil else { return false }
      defer { state.isConnected = true }
      return !state.isConnected
    }
    if wasKnown { notify(.status(.reconnected), during: step) }
  }
}

extension StoreError {
  /// Whether the service could not be reached, was busy or is broken.
  fileprivate var passes: Bool {
    isOffline || failureClass == .passing || kind == .server
  }
}
