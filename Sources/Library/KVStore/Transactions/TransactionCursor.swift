internal import KVBase
internal import KVSync

/// A cursor over the entities that a query selects in a transaction. Memory holds one page of them.
///
///     try await client.transaction { transaction in
///       var found = try transaction.find(Query(\.age > 30).sorted(by: \.age), in: people)
///       while let person = try found.next() { print(person.name) }
///     }
///
/// The cursor shows the data that the transaction saw when the query ran. It ends with the transaction.
public struct TransactionCursor<Entity: Codable & Sendable>: ~Copyable {
  private let entities: any EntityCursor

  init(_ entities: any EntityCursor) { self.entities = entities }

  deinit { entities.close() }

  /// Returns the next entity; nil at the end. An entity that does not fit its type throws `.invalid` and is skipped.
  public mutating func next() throws(KVStoreError) -> Entity? {
    let entity = try KVStoreError.mapping { () throws(StoreError) in
      try entities.next { JSONDecoding.result(Entity.self, from: $0) }
    }
    return try entity?.get()
  }

  /// Returns all remaining entities as an array.
  public consuming func all() throws(KVStoreError) -> [Entity] {
    var all: [Entity] = []
    while let entity = try next() { all.append(entity) }
    return all
  }
}
