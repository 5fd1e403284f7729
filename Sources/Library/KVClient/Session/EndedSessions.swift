internal import KVBase
internal import KVSync

/// Whether sessions have ended here that the backend may not have ended yet, and whether that is being told to it.
final class EndedSessions: Sendable {
  private struct State {
    var areWaiting = false
    var isSending = false
  }

  private let state = Monitor(State())

  /// There are some. True: the caller is the one to tell the backend; `end` must follow.
  func add() -> Bool {
    state.withLock { state in
      defer { state = State(areWaiting: true, isSending: true) }
      return !state.isSending
    }
  }

  /// True: there may be some, and the caller is the one to tell the backend; `end` must follow.
  func begin() -> Bool {
    state.withLock { state in
      guard state.areWaiting, !state.isSending else { return false }
      state.isSending = true
      return true
    }
  }

  /// Whether `begin` would give true.
  var mayBegin: Bool { state.withLock { $0.areWaiting && !$0.isSending } }

  func end(areLeft: Bool) { state.withLock { $0 = State(areWaiting: areLeft, isSending: false) } }
}
