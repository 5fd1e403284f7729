/// The records of deleted entities. Safe from any thread; each call is one transaction.
package protocol Tombstones: AnyObject, Sendable {
  /// The tombstone of a deleted entity; nil: nothing. Of one that is here it says nothing.
  func tombstone(of id: String, in collection: String) throws(StoreError) -> Tombstone?

  /// Whether a write that had no answer may still arrive of an entity that was removed here.
  func expectsLateWrites(in collection: String) throws(StoreError) -> Bool

  /// The ids of such entities, the latest first: those that were removed within the last hour, and that have no pending write.
  func awaitedLateWrites(in collection: String, limit: Int) throws(StoreError) -> [String]

  /// Queues the deletion of an entity that was removed here and has arrived on the backend since. False: it is here,
  /// or a write of it is pending.
  func removeArrived(
    _ entity: [UInt8], _ id: String, in collection: String
  ) throws(StoreError) -> Bool
}
