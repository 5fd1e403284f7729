package import KVJSON

/// What the backend said about its entities; ours with a pending write are left alone. Safe from any thread; each call
/// is one transaction.
package protocol Replica: AnyObject, Sendable {
  /// Stores entities of the backend, replacing older ones; rows with a pending write are left alone.
  /// Every outline must have an id. What it stores can be had again: it need not
  /// survive a power failure before the next call that is durable, such as `finishRefresh`.
  ///
  /// `mark`: when the read began that has brought them. What was stored since then, perhaps from a later answer to another
  /// process, stays if its version is newer. An entity that was deleted since then, or of which it is not known which
  /// version is newer, is doubtful. nil: the entities are the newest that there are.
  func store(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in collection: String,
    since mark: RefreshMark?
  ) throws(StoreError) -> ReplicaChange

  /// The ids of the listed versions that differ from the local ones. The others count as written now. Need not be durable.
  func differing(_ versions: [EntityVersion], in collection: String) throws(StoreError) -> [String]

  /// Deletes entities that the backend no longer has, except those with a pending write. Their
  /// tombstones say `version`, if that is known, else the version that was here.
  ///
  /// `mark`: when the read began that says so. What was stored since then stays, and is doubtful. nil: it is certain.
  func forget(
    _ ids: [String], in collection: String, at version: RecordVersion?, since mark: RefreshMark?
  ) throws(StoreError) -> ReplicaChange

  /// Deletes entities that are not wanted here any more, although the backend has them, except those with a pending write and
  /// those for which `isUnwanted` is false as they are now; gives how many went. `version`: the backend's, if it is newer than
  /// what is here. Need not be durable.
  func release(
    _ ids: [String], in collection: String, at version: RecordVersion?,
    if isUnwanted: ([UInt8]) -> Bool
  ) throws(StoreError) -> Int
}

/// What a part of an answer has changed in the local store.
package struct ReplicaChange: Sendable {
  /// How many entities were stored or deleted.
  package var count: Int
  /// The ids of those that were left as they are, since another answer about them may be the later one: the backend has to
  /// be asked again.
  package var doubtful: [String]

  package init(count: Int = 0, doubtful: [String] = []) {
    self.count = count
    self.doubtful = doubtful
  }
}

extension Replica {
  /// Stores entities that are the newest there are; gives how many were stored.
  package func store(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in collection: String
  ) throws(StoreError) -> Int {
    try store(bytes, outlines, in: collection, since: nil).count
  }

  /// Deletes entities that the backend certainly no longer has; gives how many.
  package func forget(
    _ ids: [String], in collection: String, at version: RecordVersion? = nil
  ) throws(StoreError) -> Int {
    try forget(ids, in: collection, at: version, since: nil).count
  }
}
