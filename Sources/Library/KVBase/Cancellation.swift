/// Cancels a running operation. Cancelling is final and may happen on any thread.
package final class Cancellation: Sendable {
  private struct State {
    var isCancelled = false
    var next = 0
    var handlers: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Monitor(State())

  package init() {}

  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Cancels and runs the handlers on this thread, with no lock held. The second time does nothing.
  package func cancel() {
    let handlers = state.withLockNotifyingAll { state -> [@Sendable () -> Void] in
      guard !state.isCancelled else { return [] }
      state.isCancelled = true
      defer { state.handlers = [:] }
      return Array(state.handlers.values)
    }
    for handler in handlers { handler() }
  }

  /// Runs `body`; if the cancellation comes before `body` returns, `handler` runs at that moment.
  package func notifying<R, E: Error>(
    _ handler: @escaping @Sendable () -> Void, during body: () throws(E) -> R
  ) throws(E) -> R {
    let key = state.withLock { state -> Int? in
      guard !state.isCancelled else { return nil }
      state.next += 1
      state.handlers[state.next] = handler
      return state.next
    }
    if key == nil { handler() }
    defer { if let key { state.withLock { _ = $0.handlers.removeValue(forKey: key) } } }
    return try body()
  }
}
