package import KVBase

/// How many calls to an external service may be under way. Safe from any thread.
package final class CallLimit: Sendable {
  private struct State {
    var running = 0
    var isClosed = false
  }

  /// How many there may be.
  package let count: Int
  private let state = Monitor(State())

  package init(_ count: Int) { self.count = count }

  /// Begins a call, which `leave` has to end; false: there are too many, or this is closed.
  package func enter() -> Bool {
    state.withLock { state in
      guard state.running < count, !state.isClosed else { return false }
      state.running += 1
      return true
    }
  }

  package func leave() { state.withLock { $0.running -= 1 } }

  /// From now on no call begins.
  package func close() { state.withLockNotifyingAll { $0.isClosed = true } }

  /// Waits until a moment; false: this was closed meanwhile.
  package func wait(until deadline: Deadline) -> Bool {
    state.wait(until: deadline) { $0.isClosed ? true : nil } == nil
  }
}
