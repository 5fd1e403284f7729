internal import KVBase

/// Which data the backend had when it answered last. Safe from any thread.
final class AnsweredData: Sendable {
  private let last = Monitor<BackendData?>(nil)

  /// Nil: it has not answered, or did not say.
  var value: BackendData? { last.withLock { $0 } }

  /// For `Call.answered`.
  func hear(_ data: BackendData?) { last.withLock { $0 = data } }

  /// Notes it before anything of the answer is stored: what is here is of the data that the backend had before. False: the answer did
  /// not say.
  @discardableResult
  func note(in local: any Outbox, _ collection: String) throws(StoreError) -> Bool {
    guard let value else { return false }
    try local.note(value, in: collection)
    return true
  }
}
