internal import KVBase
internal import KVSync

/// What a query selects in a transaction, one entity after the other: memory holds a page of them, however many there are.
///
///     try await client.transaction { transaction in
///       var found = try transaction.find(Query(\.age > 30).sorted(by: \.age), in: people)
///       while let person = try found.next() { print(person.name) }
///     }
///
/// It shows what the transaction saw when the query was asked, and ends with the transaction.
public struct TransactionCursor<Entity: Codable & Sendable>: ~Copyable {
  private let entities: any EntityCursor

  init(_ entities: any EntityCursor) { self.entities = entities }

  deinit { entities.close() }

  /// The next entity; nil at the end. One that does not fit its type throws `.invalid`, and is passed.
  public mutating func next() throws(KVStoreError) -> Entity? {
    let entity = try KVStoreError.mapping { () throws(StoreError) in
      try entities.next { JSONDecoding.result(Entity.self, from: $0) }
    }
    return try entity?.get()
  }

  /// All that are left, as an array.
  public consuming func all() throws(KVStoreError) -> [Entity] {
    var all: [Entity] = []
    while let entity = try next() { all.append(entity) }
    return all
  }
}
