internal import KVBase

/// Live data: one long poll for all subscribed collections and streams, and what it means.
///
///     idle ── registered and subscribed    ──> join ──> poll ──> deliver ──┐
///                                               ▲                         │
///                                               └─────────────────────────┘
///     poll fails ──> unexpectedDisconnect ──> pause, probe … ──> reconnected ──> poll from the same position
///
/// One thread runs `run`; everything else may be called from any thread and returns without waiting for the
/// network. Each step starts from the state as it is then: who subscribes, unsubscribes or logs out changes the
/// state and wakes the thread. Subscribers are called on that thread, with no lock held, in order: they must not
/// wait.
package final class LiveFeed: Sendable {
  /// A subscriber to one topic.
  package final class Subscriber: Sendable {
    let topic: LiveTopic
    let receive: @Sendable (LiveEvent) -> Void
    /// Hears which data the backend has, before messages about them.
    let hears: @Sendable (BackendData) -> Void
    private let over = Monitor(false)

    init(
      _ topic: LiveTopic, hears: @escaping @Sendable (BackendData) -> Void,
      _ receive: @escaping @Sendable (LiveEvent) -> Void
    ) {
      self.topic = topic
      self.hears = hears
      self.receive = receive
    }

    /// Whether it has ended: what it was told before, and has not looked at, is of no interest any more.
    package var isOver: Bool { over.withLock { $0 } }
    func end() { over.withLock { $0 = true } }
  }

  /// A subscriber that has left a topic, and the outcome as soon as it is known.
  final class Departure {
    var answer: Result<Void, StoreError>?
  }

  /// A topic that the backend sends us messages about.
  struct Joined {
    /// Before it everything has been told, by the backend's clock; nil: unknown.
    var since: BackendMoment?
    var mustCatchUp = false
    /// The backend may have forgotten it since: the device was registered anew.
    var isForgotten = false
  }

  struct State {
    var registration: LiveRegistration?
    var position: LivePosition?
    var subscribers: [ObjectIdentifier: Subscriber] = [:]
    /// The subscribers that received the event `ready`.
    var ready: Set<ObjectIdentifier> = []
    var joined: [LiveTopic: Joined] = [:]
    var isConnected = false
    /// The service could not be reached, and was not probed with success since.
    var isDown = false
    /// How often the device was registered anew since the last answer to a poll.
    var renewals = 0
    /// Failures since the last answer to a poll.
    var attempt = 0
    /// When messages could last be had, in seconds by the clock.
    var lastAnswer: Double?
    var messages = RecentKeys(capacity: 4096)
    /// Versions of entities that were told.
    var versions = RecentKeys(capacity: 4096)
    /// Since when the step that runs has waited for the service, in seconds by the clock; nil: it does not.
    var waitingSince: Double?
    /// The next probe needs no pause before it.
    var mustHurry = false
    /// Cancels the step that is being taken.
    var step: Cancellation?
    /// The topic that this step takes us into or out of. It is only stopped with everything: a request that is given up may
    /// still be carried out, after the one that follows it.
    var moving: LiveTopic?
    /// The subscribers that have left a topic and wait for the answer.
    var departures: [LiveTopic: [Departure]] = [:]
    var isClosed = false

    var wanted: Set<LiveTopic> { Set(subscribers.values.map(\.topic)) }

    /// The step that is stopped when something else is wanted.
    var interruptible: Cancellation? { moving == nil ? step : nil }

    /// Answers those who have left a topic: nil, if others listen to it, or the backend sends nothing of it any more.
    mutating func settleDepartures() {
      for (topic, departures) in departures {
        let isDone = wanted.contains(topic) || joined[topic] == nil && moving != topic
        guard isDone || isDown else { continue }
        for departure in departures {
          departure.answer =
            isDone
            ? .success(()) : .failure(StoreError(.network, "The backend could not be informed."))
        }
        self.departures[topic] = nil
      }
    }

    /// Forgets everything but what the loop needs; returns those who listened.
    mutating func reset() -> [Subscriber] {
      for departure in departures.values.joined() { departure.answer = .success(()) }
      defer { self = State(step: step, isClosed: isClosed) }
      return Array(subscribers.values)
    }
  }

  let remote: any LiveRemote
  /// Fetches what is too large for a message, and what was missed; retries by itself.
  let entities: any Remote
  let clock: any RetryClock
  /// Seconds since some moment; may jump.
  let now: @Sendable () -> Double
  let state = Monitor(State())

  package init(
    _ remote: any LiveRemote, entities: any Remote, clock: any RetryClock = SystemRetryClock(),
    now: @escaping @Sendable () -> Double = { Double(Timestamp.now().milliseconds) / 1000 }
  ) {
    self.remote = remote
    self.entities = entities
    self.clock = clock
    self.now = now
  }

  // MARK: What is wanted

  package var registration: LiveRegistration? { state.withLock { $0.registration } }

  /// Whether the service could not be reached when it was last asked.
  package var isDown: Bool { state.withLock { $0.isDown } }

  /// Starts to listen. What another user had registered ends; false: this one listens already, with another device.
  package func begin(_ registration: LiveRegistration) -> Bool {
    if self.registration?.isOf(registration.userId) == false { stop() }
    return state.withLockNotifyingAll { state in
      guard state.registration == nil else { return state.registration == registration }
      state.registration = registration
      return true
    }
  }

  /// Ends everything: when this returns, no callback runs any more, and each subscriber has been notified of the end
  /// so.
  package func stop() {
    let (step, subscribers) = state.withLockNotifyingAll { state -> (Cancellation?, [Subscriber]) in
      for subscriber in state.subscribers.values { subscriber.end() }
      return (state.step, state.reset())
    }
    step?.cancel()
    _ = state.wait { $0.step == nil ? true : nil }
    for subscriber in subscribers { subscriber.receive(.status(.disconnected)) }
  }

  /// Ends the loop.
  package func close() {
    state.withLockNotifyingAll { $0.isClosed = true }
    stop()
  }

  /// Listens to a topic. Throws `.misuse` without a registration. Otherwise nothing is waited for, and what
  /// goes wrong is an event. `hears` receives which data the backend has, before messages about them.
  package func subscribe(
    to topic: LiveTopic, hears: @escaping @Sendable (BackendData) -> Void = { _ in },
    _ receive: @escaping @Sendable (LiveEvent) -> Void
  ) throws(StoreError) -> Subscriber {
    let subscriber = Subscriber(topic, hears: hears, receive)
    let (isOpen, step) = state.withLockNotifyingAll { state -> (Bool, Cancellation?) in
      guard state.registration != nil, !state.isClosed else { return (false, nil) }
      state.subscribers[ObjectIdentifier(subscriber)] = subscriber
      return (true, state.interruptible)
    }
    guard isOpen else {
      throw StoreError(.misuse, "The user is not registered for live data.")
    }
    // The poll starts anew from the same position, with the topic in it.
    step?.cancel()
    return subscriber
  }

  /// Ends a subscription; a second time nothing happens.
  package func unsubscribe(_ subscriber: Subscriber) { _ = depart(subscriber) }

  /// The same, and waits until the backend sends nothing of the topic any more, unless others listen to it.
  ///
  /// Throws what the backend said if it refused, or `.network` if it could not be told: nothing is told to the subscriber
  /// any more in any case.
  package func unsubscribe(_ subscriber: Subscriber, _ call: Call) throws(StoreError) {
    let departure = depart(subscriber)
    try call.wait(on: state, timeout: "The backend could not be informed in time.") { _ in
      departure.answer
    }.get()
  }

  private func depart(_ subscriber: Subscriber) -> Departure {
    subscriber.end()
    let departure = Departure()
    let step = state.withLockNotifyingAll { state -> Cancellation? in
      state.ready.remove(ObjectIdentifier(subscriber))
      let wasThere = state.subscribers.removeValue(forKey: ObjectIdentifier(subscriber)) != nil
      state.departures[subscriber.topic, default: []].append(departure)
      state.settleDepartures()
      return wasThere && !state.wanted.contains(subscriber.topic) ? state.interruptible : nil
    }
    step?.cancel()
    return departure
  }

  /// Seconds of silence that are doubted once other requests are answered.
  private static let doubtfulSilence = 30.0

  /// The backend has answered another request of the client: what has waited for it for long is asked anew. Packets that
  /// vanish look like a service that has nothing to say. Cheap enough for each answer.
  package func recordAnswer() {
    let now = self.now()
    let step = state.withLock { state -> Cancellation? in
      guard let start = state.waitingSince, abs(now - start) > Self.doubtfulSilence else {
        return nil
      }
      state.waitingSince = nil
      state.mustHurry = state.isDown
      return state.step
    }
    step?.cancel()
  }

  // MARK: Telling

  /// Tells those who listen to a topic, or to any; not those who were not told yet that they are ready.
  func notify(_ event: LiveEvent, to topic: LiveTopic? = nil, during step: Cancellation) {
    let subscribers = state.withLock { state in
      state.step === step
        ? state.subscribers.filter {
          state.ready.contains($0.key) && (topic == nil || $0.value.topic == topic)
        }.map(\.value) : []
    }
    for subscriber in subscribers where !subscriber.isOver && !isOver(step) {
      subscriber.receive(event)
    }
  }

  /// Whether what this step was for has ended meanwhile.
  func isOver(_ step: Cancellation) -> Bool {
    state.withLock { $0.registration == nil || $0.step !== step }
  }

  /// Tells those who listen to some topics that nothing will follow.
  func fail(_ error: StoreError, _ topics: Set<LiveTopic>) {
    let failed = state.withLockNotifyingAll { state -> [Subscriber] in
      let failed = state.subscribers.filter { topics.contains($0.value.topic) }
      for id in failed.keys {
        state.subscribers[id] = nil
        state.ready.remove(id)
      }
      return Array(failed.values)
    }
    finish(error, failed)
  }

  func finish(_ error: StoreError, _ subscribers: [Subscriber]) {
    for subscriber in subscribers where !subscriber.isOver {
      subscriber.receive(.failure(error))
      subscriber.receive(.status(.disconnected))
      subscriber.end()
    }
  }
}
