internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// Feeds a subscription with live events. What a handler does not keep up with is dropped, and it is told that
/// it missed something: a handler that stands still costs no more memory than the events that wait.
final class LiveSource: EventSource {
  /// How many events may wait for the host; more are dropped.
  private static let limit = 1024

  private struct State {
    var live: LiveSubscription?
    var waiting = 0
    /// Entities were dropped; the subscriber is told after those that wait.
    var hasMissed = false
    var isEnded = false
  }

  private let state = Monitor(State())
  /// Lets go of this when it is closed, which ends the cycle.
  private let subscription: SubscriptionObject

  init(_ subscription: SubscriptionObject) { self.subscription = subscription }

  func begin(
    _ listen: (@escaping @Sendable (LiveEvent) -> Void) throws(StoreError) -> LiveSubscription
  ) throws(StoreError) {
    let live = try listen { [weak self] in self?.receive($0) }
    let isTooLate = state.withLock { state in
      if !state.isEnded { state.live = live }
      return state.isEnded
    }
    if isTooLate { live.end() }
  }

  func end() { taken()?.end() }

  func end(_ options: Options, _ cancellation: Cancellation) throws(StoreError) {
    guard let live = taken() else { return }
    try subscription.client.core.unsubscribe(live, options: options, cancellation: cancellation)
  }

  /// What fed this until now: it does so no longer.
  private func taken() -> LiveSubscription? {
    state.withLock { state in
      state.isEnded = true
      defer { state.live = nil }
      return state.live
    }
  }

  private func receive(_ event: LiveEvent) {
    let queued = state.withLock { state -> LiveEvent? in
      guard event.mayBeDropped else { return event }
      guard !state.hasMissed else { return nil }
      state.hasMissed = state.waiting >= Self.limit
      return state.hasMissed ? .missed : event
    }
    guard let queued else { return }
    state.withLock { $0.waiting += 1 }
    subscription.deliver(as: queued.kind) { [self] in
      let isOver = state.withLock { state in
        state.waiting -= 1
        if case .missed = queued { state.hasMissed = false }
        return state.live?.isOver ?? false
      }
      return isOver && queued.mayBeDropped ? nil : queued.event
    }
  }
}

extension LiveEvent {
  fileprivate var mayBeDropped: Bool {
    switch self {
    case .changed, .missed: true
    case .ready, .status, .failure: false
    }
  }

  /// The kind of handler that receives this event.
  fileprivate var kind: EventHandlers.Kind {
    switch self {
    case .ready: .ready
    case .changed: .next
    case .status, .missed: .status
    case .failure: .failure
    }
  }

  /// The event as JSON, or its error.
  fileprivate var event: Event {
    switch self {
    case .ready: .success(JSONValue.object(["event": "ready"]).bytes)
    case .missed: .success(JSONValue.object(["event": "missed"]).bytes)
    case .status(let status):
      .success(JSONValue.object(["event": "status", "status": .string(status.rawValue)]).bytes)
    case .failure(let error): .failure(error)
    case .changed(let change): .success(change.json)
    }
  }
}

extension LiveChange {
  fileprivate var json: [UInt8] {
    var text = JSONObjectWriter()
    switch self {
    case .saved(let entity, let id, let cause):
      Self.begin(&text, cause.rawValue, id: id)
      text.add("entity", json: entity)
    case .deleted(let id, _): Self.begin(&text, "delete", id: id)
    case .tooLarge(let id, _): Self.begin(&text, "fetch", id: id)
    case .said(let message):
      text.add("event", "message")
      text.add("message", json: message)
    }
    return text.finish()
  }

  private static func begin(_ text: inout JSONObjectWriter, _ change: String, id: String) {
    text.add("event", "change")
    text.add("change", .string(change))
    text.add("id", .string(id))
  }
}
