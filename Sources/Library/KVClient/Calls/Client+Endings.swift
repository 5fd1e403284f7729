internal import KVBase
internal import KVSync

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
