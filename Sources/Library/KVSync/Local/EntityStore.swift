package import KVBase
package import KVJSON
package import KVQuery

/// Local changes: entities and their pending writes, in one transaction. Safe from any thread; durable when a call
/// returns.
package protocol EntityStore: EntityReader {
  /// Saves entities and queues their writes, all or nothing. `entities[i]` starts at `outlines[i]` of
  /// `bytes`. An entity without `_id` gets one and is queued as a create, one with `_id` as an update (or
  /// stays a create, if one is queued). What is there keeps the members that are not `known`; nil:
  /// all are. Gives what is stored, in the input's order.
  ///
  /// `condition`: of each entity; an error has its `index` if there are several. With one, the pending write is
  /// conditional, too: see `PendingWrite.isConditional`.
  func save(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], known: KnownMembers?,
    if condition: WriteCondition, in collection: String
  ) throws(StoreError) -> [SavedEntity]

  /// Changes the entities that match and were stored since a moment (nil: whenever), in one transaction, and queues a write of each
  /// that was changed. If the
  /// update does not fit one of them, or would make an entity that cannot be stored, it is `.invalid` with that
  /// one's id, and nothing is changed. With `isConditional` the queued writes are: see `PendingWrite.isConditional`.
  func update(
    _ query: Query, _ update: EntityUpdate, isConditional: Bool, in collection: String,
    writtenSince: Timestamp?
  ) throws(StoreError) -> UpdateResult

  /// Deletes one entity and queues its deletion. Gives 1, or 0 if it was not there (nothing queued).
  func remove(
    _ id: String, if condition: WriteCondition, in collection: String
  ) throws(StoreError) -> Int

  /// Deletes what matches and was stored since a moment (nil: whenever), and queues one deletion for each.
  func remove(
    _ query: Query, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> Int

  /// Begins a transaction over any of the collections. Nothing is locked by it.
  func beginTransaction() throws(StoreError) -> any LocalTransaction

  /// Deletes what matches (nil: everything), pending writes and request records included. Nothing is
  /// queued.
  func clear(_ query: Query?, in collection: String) throws(StoreError) -> Int

  /// Deletes everything of this tag.
  func wipe() throws(StoreError)
}

extension EntityStore {
  /// Saves entities whose members are all known, whatever is there.
  package func save(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in collection: String
  ) throws(StoreError) -> [SavedEntity] {
    try save(bytes, outlines, known: nil, if: .none, in: collection)
  }

  package func update(
    _ query: Query, _ update: EntityUpdate, in collection: String
  ) throws(StoreError) -> UpdateResult {
    try self.update(query, update, isConditional: false, in: collection, writtenSince: nil)
  }

  package func remove(_ query: Query, in collection: String) throws(StoreError) -> Int {
    try remove(query, in: collection, writtenSince: nil)
  }

  package func remove(_ id: String, in collection: String) throws(StoreError) -> Int {
    try remove(id, if: .none, in: collection)
  }
}
