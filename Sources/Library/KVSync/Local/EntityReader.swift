package import KVBase
package import KVJSON
package import KVQuery

/// Reads of the entities of one tag. Entities are bytes: the JSON object as it came in. Safe from any thread; what a
/// call gives is one moment of the data.
package protocol EntityReader: AnyObject, Sendable {
  /// One entity; nil if there is none. `writtenSince`: rows written locally before it are ignored.
  func entity(
    _ id: String, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> [UInt8]?

  /// Lends one entity's bytes to `body` until it returns, without a copy; false if there is none.
  func lend(
    _ id: String, in collection: String, writtenSince: Timestamp?,
    to body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) -> Bool

  /// Lends the entities of some ids to `body`, one after the other in their order, in one snapshot; nil where there is none.
  /// What `body` throws ends it. Nothing that was lent may be used if this throws.
  func lend(
    _ ids: [String], in collection: String, writtenSince: Timestamp?, within budget: WorkBudget,
    to body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
  ) throws(StoreError)

  /// The local version of one entity; nil if there is none. It goes up by one with each change of the entity
  /// here, be it by a save, a pull, live data or another process. An entity that is made anew under an old id
  /// has a higher one than any that the old one had. It fits into 53 bits.
  func version(of id: String, in collection: String) throws(StoreError) -> Int64?

  /// The entities that match, in the query's order, as a snapshot that lives as long as the cursor.
  ///
  /// `budget`, here and below: the caller's. Once it is exhausted, the search ends with `.timeout`
  /// or `.cancelled`. A cursor that was given is not affected.
  func find(
    _ query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> any EntityCursor

  /// How many match. Skip and limit count too.
  func count(
    _ query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> Int

  /// Lends each entity that matches to `body`, one after the other, in one snapshot; order and page do not count.
  func each(
    of query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError)

  /// What a grouping asks about the entities that match, ordered by the keys.
  func group(
    _ grouping: Grouping, of query: Query, in collection: String, writtenSince: Timestamp?,
    within budget: WorkBudget
  ) throws(StoreError) -> [JSONObject]
}

extension EntityReader {
  /// The same for as long as it takes.
  package func find(
    _ query: Query, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> any EntityCursor {
    try find(query, in: collection, writtenSince: writtenSince, within: .unlimited)
  }

  package func count(
    _ query: Query, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> Int {
    try count(query, in: collection, writtenSince: writtenSince, within: .unlimited)
  }

  package func group(
    _ grouping: Grouping, of query: Query, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> [JSONObject] {
    try group(grouping, of: query, in: collection, writtenSince: writtenSince, within: .unlimited)
  }

  /// For stores that have no shorter way than looking at each entity.
  package func group(
    _ grouping: Grouping, of query: Query, in collection: String, writtenSince: Timestamp?,
    within budget: WorkBudget
  ) throws(StoreError) -> [JSONObject] {
    var groups = Groups(grouping)
    try each(of: query, in: collection, writtenSince: writtenSince, within: budget) {
      groups.add($0)
    }
    return groups.results
  }

  /// For stores that have no shorter way than a cursor.
  package func each(
    of query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    let cursor = try find(
      query.selection, in: collection, writtenSince: writtenSince, within: budget)
    defer { cursor.close() }
    while try cursor.next(body) != nil {}
  }

  /// For stores that have no bytes to lend.
  package func lend(
    _ id: String, in collection: String, writtenSince: Timestamp?,
    to body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) -> Bool {
    let entity = try entity(id, in: collection, writtenSince: writtenSince)
    entity?.withUnsafeBytes(body)
    return entity != nil
  }
}
