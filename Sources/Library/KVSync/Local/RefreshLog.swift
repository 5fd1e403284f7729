package import KVBase
package import KVQuery

/// The times at which requests were answered by the backend, and the removal of entities that a full read has not brought.
/// Safe from any thread; each call is one transaction.
package protocol RefreshLog: AnyObject, Sendable {
  /// Starts a refresh: what is written from now on, by anybody, is newer than the mark it gives.
  func beginRefresh(of collection: String) throws(StoreError) -> RefreshMark

  /// What matches, was not written since `mark` and has no pending write, in the order of the rows, from
  /// after `order`: what `finishRefresh` would delete.
  func unseen(
    _ query: Query, from mark: RefreshMark, in collection: String, after order: Int64, limit: Int,
    within budget: WorkBudget
  ) throws(StoreError) -> [(order: Int64, id: String)]

  /// Ends a refresh: deletes what matches `query`, was not written since `mark` and has no pending
  /// write, and remembers when the backend read it, unless requests were forgotten since `mark`. `query` nil: nothing
  /// is deleted. Gives how many went.
  func finishRefresh(
    of collection: String, from mark: RefreshMark, deletingUnseen query: Query?,
    recording request: (key: RequestKey, startedAt: BackendMoment)?
  ) throws(StoreError) -> Int

  /// Says that the backend has what matches as it is here: it counts as stored at that moment, unless it has pending writes. Writes
  /// to each of these entities.
  func confirm(_ query: Query, in collection: String, at moment: Timestamp) throws(StoreError)

  /// When the backend last evaluated this request; nil if unknown.
  func lastRequest(_ key: RequestKey, in collection: String) throws(StoreError) -> BackendMoment?

  /// The requests of a collection of which that is known.
  func requests(in collection: String) throws(StoreError) -> [RequestKey]

  /// Makes the next reads of changes begin at this moment, as the backend writes it, if they would begin later.
  func reviseRequests(in collection: String, to moment: String) throws(StoreError)

  /// Notes which data of the backend's an answer is of. True: entities may be here that the backend confirmed when it had
  /// other data, and the application wants them kept.
  func noteEpoch(
    _ moment: BackendMoment, in collection: String, from mark: RefreshMark
  ) throws(StoreError) -> Bool

  /// Keeps those of some entities that the backend confirmed before `mark`, when it had other data, and that it has
  /// lost: it has none, or an older version, or one that was made after an older one was put back.
  func keepLost(
    _ lost: [(id: String, theirs: RemoteVersion)], in collection: String, from mark: RefreshMark
  ) throws(StoreError)

  /// Forgets one record, or all of the collection.
  func forgetRequest(_ key: RequestKey?, in collection: String) throws(StoreError)
}
