package import KVJSON

/// What the backend said about its entities; ours with a pending write are left alone. Safe from any thread; each call
/// is one transaction.
package protocol Replica: AnyObject, Sendable {
  /// Stores entities of the backend, replacing older ones; rows with a pending write are left alone.
  /// Every outline must have an id. Gives how many were stored. What it stores can be had again: it need not
  /// survive a power failure before the next call that is durable, such as `finishRefresh`.
  func store(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in collection: String
  ) throws(StoreError) -> Int

  /// Of versions that the backend has listed, the ids of those that are not what is here. The others count
  /// as written now. Need not be durable.
  func differing(_ versions: [EntityVersion], in collection: String) throws(StoreError) -> [String]

  /// Of these entities those that were stored since a read took its mark.
  func written(
    _ ids: [String], since mark: RefreshMark, in collection: String
  ) throws(StoreError) -> [String]

  /// Deletes entities that the backend no longer has, except those with a pending write; gives how many. Their
  /// tombstones say `version`, if that is known, else the version that was here.
  func forget(_ ids: [String], in collection: String, at version: RecordVersion?) throws(StoreError)
    -> Int
}

extension Replica {
  package func forget(_ ids: [String], in collection: String) throws(StoreError) -> Int {
    try forget(ids, in: collection, at: nil)
  }
}
