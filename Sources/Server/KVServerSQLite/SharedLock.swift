internal import KVBase

/// A lock that many threads share, or one holds alone: that one waits until the others have released it, and meanwhile no other
/// gets it. Safe from any thread. A thread takes it once only.
final class SharedLock: Sendable {
  private struct State {
    var holders = 0
    /// Whether a thread holds it alone, or waits for that.
    var isClaimed = false
  }

  private let state = Monitor(State())

  /// Runs `body` with the lock shared.
  func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    _ = state.wait { state -> Int? in
      if state.isClaimed { return nil }
      state.holders += 1
      return state.holders
    }
    defer {
      let isAwaited = state.withLock { state in
        state.holders -= 1
        return state.isClaimed && state.holders == 0
      }
      if isAwaited { state.withLockNotifyingAll { _ in } }
    }
    return try body()
  }

  /// Runs `body` with the lock held alone.
  func withLockAlone<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    _ = state.wait { state -> Bool? in
      if state.isClaimed { return nil }
      state.isClaimed = true
      return true
    }
    defer { state.withLockNotifyingAll { $0.isClaimed = false } }
    _ = state.wait { $0.holders == 0 ? true : nil }
    return try body()
  }
}
