package import KVJSON
package import KVQuery

/// What an application does with pending writes by hand. Safe from any thread; each call is one transaction, durable
/// when it returns.
package protocol OutboxAdmin: AnyObject, Sendable {
  /// Replaces what a pending create or update sends, except members that are not `known`; attempts and error start
  /// anew. False: not pending.
  func editPending(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, id: String, known: KnownMembers?,
    in collection: String
  ) throws(StoreError) -> Bool

  /// Lets a write that was set aside wait again; after a conflict over the version that it met. False: it
  /// is not pending.
  func releasePending(_ id: String, in collection: String) throws(StoreError) -> Bool

  /// The same for all of a collection that were set aside.
  func releaseQuarantined(in collection: String) throws(StoreError)

  /// Forgets one pending write and makes the entity what the backend has, as far as one knows; and all records of
  /// requests, so that the next read brings it. False: not pending, and nothing is forgotten.
  func revertPending(_ id: String, in collection: String) throws(StoreError) -> Bool

  /// Forgets one pending write, leaving the entity, of which `differing` then knows no version; and all records of
  /// requests. False: not pending, and nothing is forgotten.
  func dropPending(_ id: String, in collection: String) throws(StoreError) -> Bool

  /// The same for the pending writes of the entities that match (nil: all, deletions included); gives how many.
  func purge(_ query: Query?, in collection: String) throws(StoreError) -> Int
}
