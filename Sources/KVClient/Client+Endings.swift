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

/// A logout while the backend is away ends the session there as soon as the backend answers again.
extension Client {
  /// Has the backend end the sessions that have ended here. What it cannot be told now is told after its next answer.
  /// `isBegun`: the caller has been told to by `add`.
  func sendEndings(_ options: Options, _ cancellation: Cancellation, isBegun: Bool = false) {
    guard let session, isBegun || endings.begin() else { return }
    var areLeft = false
    defer { endings.end(areLeft: areLeft) }
    for token in (try? session.endings()) ?? [] {
      do throws(StoreError) {
        // What it says is in the log.
        try asking("logout on the backend", options: options, cancellation: cancellation) {
          (call) throws(StoreError) in
          try accounts().logout(token: token, call)
        }
      } catch {
        // The backend itself says that there is no such session any more: then it has ended.
        guard error.kind == .unauthorized || error.kind == .notFound else {
          areLeft = true
          continue
        }
      }
      do throws(StoreError) { try session.forget(ending: token) } catch { areLeft = true }
    }
  }

  /// The same on a thread of ours, after an answer of the backend.
  func sendEndingsLater() {
    guard endings.mayBegin else { return }
    try? runners.network.run { [weak self] in
      guard let self else { return }
      sendEndings(self.options.calls, Cancellation())
    }
  }
}
