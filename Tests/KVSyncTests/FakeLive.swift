import KVBase
import KVSync

/// A live service that does as a test says: polls take what was put in, in its order.
final class FakeLive: LiveRemote {
  struct State {
    var answers: [Result<LivePoll, StoreError>] = []
    var joins: [String] = []
    var leaves: [String] = []
    /// Whether requests to leave get an answer.
    var lets = true
    var isLeaving = false
    var cutLeaves = 0
    var cutPolls = 0
    var positions: [LivePosition?] = []
    var probes = 0
    /// The errors of the next requests to join, one for each.
    var joinErrors: [StoreError] = []
    var probeErrors: [StoreError] = []
    var leaveErrors: [StoreError] = []
    /// Whether probes fail, however many there are.
    var isUnreachable = false
    var time = 100
  }

  let state = Monitor(State())

  func put(_ answer: Result<LivePoll, StoreError>) {
    state.withLockNotifyingAll { $0.answers.append(answer) }
  }

  /// Answers the poll that waits, or the next one.
  func send(_ messages: LiveMessage..., isIncomplete: Bool = false) {
    state.withLockNotifyingAll { state in
      state.time += 1
      let next = LivePosition("\(state.time) 4")
      state.answers.append(.success(.messages(messages, next: next, isIncomplete: isIncomplete)))
    }
  }

  func register(
    _ userId: String?, device: String, call: Call
  ) throws(StoreError) -> LiveRegistration {
    throw StoreError(.unsupported, "")
  }

  func unregister(
    _ registration: LiveRegistration, token: String?, call: Call
  ) throws(StoreError) {}

  func join(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) -> BackendMoment? {
    let error = state.withLockNotifyingAll { state -> StoreError? in
      state.joins.append(topic.collection ?? "")
      return state.joinErrors.isEmpty ? nil : state.joinErrors.removeFirst()
    }
    if let error { throw error }
    return BackendMoment("2026-01-01T00:00:00.000Z")
  }

  func leave(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) {
    state.withLockNotifyingAll { $0.isLeaving = true }
    let isAnswered: Bool? = wait(call) { $0.lets ? true : nil }
    let error = state.withLockNotifyingAll { state -> StoreError? in
      state.isLeaving = false
      if isAnswered == nil { state.cutLeaves += 1 }
      state.leaves.append(topic.collection ?? "")
      return state.leaveErrors.isEmpty ? nil : state.leaveErrors.removeFirst()
    }
    if let error { throw error }
  }

  func poll(
    _ registration: LiveRegistration, from position: LivePosition?, call: Call
  ) throws(StoreError) -> LivePoll {
    state.withLockNotifyingAll { $0.positions.append(position) }
    guard position != nil else {
      return .messages([], next: LivePosition("100 4"))
    }
    let answer = wait(call) { $0.answers.isEmpty ? nil : $0.answers.removeFirst() }
    guard let answer else {
      state.withLockNotifyingAll { $0.cutPolls += 1 }
      throw StoreError(.cancelled, "")
    }
    return try answer.get()
  }

  /// Waits until `body` gives something; nil: the call was cancelled.
  private func wait<R>(_ call: Call, for body: (inout State) -> R?) -> R? {
    let cancellation = call.cancellation
    return cancellation.notifying {
      self.state.withLockNotifyingAll { _ in }
    } during: {
      state.wait { state -> R?? in
        cancellation.isCancelled ? .some(nil) : body(&state).map(Optional.some)
      } ?? nil
    }
  }

  func probe(_ registration: LiveRegistration, _ call: Call) throws(StoreError) {
    let error = state.withLockNotifyingAll { state -> StoreError? in
      state.probes += 1
      if state.isUnreachable { return StoreError(.network, "") }
      return state.probeErrors.isEmpty ? nil : state.probeErrors.removeFirst()
    }
    if let error { throw error }
  }
}

/// The events that one subscriber has received.
final class ReceivedEvents: Sendable {
  let events = Monitor<[LiveEvent]>([])

  func receive(_ event: LiveEvent) { events.withLockNotifyingAll { $0.append(event) } }

  /// The events, once there are so many; fewer if that takes more than ten seconds.
  func first(_ count: Int) -> [LiveEvent] {
    events.wait(until: .after(seconds: 60)) { $0.count >= count ? $0 : nil }
      ?? events.withLock { $0 }
  }
}
