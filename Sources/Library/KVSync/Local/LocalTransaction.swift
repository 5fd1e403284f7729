package import KVJSON
package import KVQuery

/// Reads and writes over several collections of a local store that happen all at once, or not at all.
///
/// Reads see the data as it was when the transaction began, with the transaction's own writes on top. Nothing is
/// locked meanwhile: if what was read is not the same any more when it commits, it fails with `.conflict` and has
/// changed nothing. What a query did not find then is looked at too: a record that would have been found is a
/// conflict. Safe from any thread, one call at a time; the log of the file grows while a transaction is open.
package protocol LocalTransaction: AnyObject, Sendable {
  func entity(_ id: String, in collection: String) throws(StoreError) -> [UInt8]?

  /// The entities that match, in the query's order. Valid until the transaction ends.
  func find(_ query: Query, in collection: String) throws(StoreError) -> any EntityCursor

  func count(_ query: Query, in collection: String) throws(StoreError) -> Int

  /// Saves like `EntityStore.save`: gives what will be stored. What a condition, here and below, has looked at counts as
  /// read. An entity that this transaction has written has no version yet.
  func save(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], known: KnownMembers?,
    if condition: WriteCondition, in collection: String
  ) throws(StoreError) -> [SavedEntity]

  func remove(
    _ id: String, if condition: WriteCondition, in collection: String
  ) throws(StoreError) -> Int

  func remove(_ query: Query, in collection: String) throws(StoreError) -> Int

  /// Changes what matches, as `EntityStore.update` does.
  func update(
    _ query: Query, _ update: EntityUpdate, in collection: String
  ) throws(StoreError) -> UpdateResult

  /// Writes everything in one transaction that is durable when this returns, and ends. `.conflict` if something
  /// that was read has changed; the transaction has ended then, too.
  func commit() throws(StoreError)

  /// Ends without writing anything, unless it has ended.
  func close()
}
