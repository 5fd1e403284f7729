internal import KVBase

/// A lock that many hold at once, or one alone, who waits until the others have given it back; meanwhile nobody else is given
/// it. Safe from any thread. A thread takes it once only.
final class SharedLock: Sendable {
  private struct State {
    var holders = 0
    /// Whether somebody holds it alone, or waits for the others.
    var isClaimed = false
  }

  private let state = Monitor(State())

  /// Runs `body` while nobody holds it alone.
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

  /// Runs `body` while nobody else holds it.
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
