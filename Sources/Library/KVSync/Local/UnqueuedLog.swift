package import KVQuery

/// The requests that were sent without a queued write and have no answer yet. Safe from any thread; each call is one
/// transaction, durable when it returns.
package protocol UnqueuedLog: AnyObject, Sendable {
  /// Notes what is about to be sent past the queue: until an answer settles it, it is something of our own
  /// that the backend may have, and part of `PendingDetail.tried`. Gives the request's number, for
  /// `endUnqueued`.
  func beginUnqueued(
    _ versions: [(id: String, sent: RemoteVersion)], in collection: String
  ) throws(StoreError) -> Int64

  /// The same for a deletion by query: of each entity that matches here, and of each that has a pending
  /// write and matches in a version that the backend may have.
  func beginRemoval(of query: Query, in collection: String) throws(StoreError) -> Int64

  /// Notes what the answer to such a request says.
  func endUnqueued(_ request: Int64, _ outcome: UnqueuedOutcome) throws(StoreError)
}
