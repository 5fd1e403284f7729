internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// Reads and writes over several stores, of which either all or none take effect. `KVStoreClient.transaction` passes it
/// to its closure.
///
///     let moved = try await client.transaction { transaction in
///       let old = try transaction.find(\.age > 90, in: people).all()
///       for person in old { try transaction.save(person, in: archive) }
///       return try transaction.remove(\.age > 90, in: people)
///     }
///
/// Reads see the data as it was when the transaction began, plus its own writes. The stores belong to the client and
/// tag of the transaction and have local data, so they are not of the type `.network`; otherwise calls throw `.misuse`.
/// A transaction is for the thread of the closure. It cannot be copied, so it ends with the closure.
public struct Transaction: ~Copyable {
  private let core: KVClient.Transaction

  init(_ core: KVClient.Transaction) { self.core = core }

  // MARK: Reading

  /// Finds an entity by its id; nil if there is none.
  public func find<Entity>(
    id: String, in store: DataStore<Entity>
  ) throws(KVStoreError) -> Entity? {
    let bytes = try KVStoreError.mapping { () throws(StoreError) -> [UInt8]? in
      try StoreError.nilIf(.notFound) { () throws(StoreError) in
        try core.find(id: id, in: store.core)
      }
    }
    return try JSONDecoding.decode(Entity.self, ifAny: bytes)
  }

  /// Finds the entities that a query selects.
  ///
  ///     let names = try await client.transaction { transaction in
  ///       var names: [String] = []
  ///       var found = try transaction.find(\.age > 30, in: people)
  ///       while let person = try found.next() { names.append(person.name) }
  ///       return names
  ///     }
  public func find<Entity>(
    _ query: Query<Entity> = Query(), in store: DataStore<Entity>
  ) throws(KVStoreError) -> TransactionCursor<Entity> {
    let query = try query.built.get()
    return try TransactionCursor(
      KVStoreError.mapping { () throws(StoreError) in try core.find(query, in: store.core) })
  }

  /// Counts the entities that a query selects.
  public func count<Entity>(
    _ query: Query<Entity> = Query(), in store: DataStore<Entity>
  ) throws(KVStoreError) -> Int {
    let query = try query.built.get()
    return try KVStoreError.mapping { () throws(StoreError) in
      try core.count(query, in: store.core)
    }
  }

  // MARK: Writing

  /// Saves an entity and returns it as it will be stored, with an id if it had none. It replaces an entity with the
  /// same id.
  @discardableResult
  public func save<Entity>(
    _ entity: Entity, in store: DataStore<Entity>
  ) throws(KVStoreError) -> Entity {
    try save(entity, if: .none, in: store)
  }

  /// Saves an entity that must not exist yet. Throws `.conflict` if it does.
  @discardableResult
  public func insert<Entity>(
    _ entity: Entity, in store: DataStore<Entity>
  ) throws(KVStoreError) -> Entity {
    try save(entity, if: .isMissing, in: store)
  }

  /// Saves an entity if the stored one matches a condition. Throws `.conflict` otherwise.
  @discardableResult
  public func save<Entity>(
    _ entity: Entity, if condition: Query<Entity>, in store: DataStore<Entity>
  ) throws(KVStoreError) -> Entity {
    try save(entity, if: .matches(try condition.built.get()), in: store)
  }

  private func save<Entity>(
    _ entity: Entity, if condition: WriteCondition, in store: DataStore<Entity>
  ) throws(KVStoreError) -> Entity {
    let bytes = try DataStore.encoded(entity).bytes
    let saved = try KVStoreError.mapping { () throws(StoreError) in
      try bytes.withBorrowedBytes { (bytes) throws(StoreError) in
        try core.save(bytes, if: condition, in: store.core)
      }
    }
    return try JSONDecoding.decode(Entity.self, from: saved)
  }

  /// Removes the entity with an id and returns whether there was one.
  @discardableResult
  public func remove<Entity>(
    id: String, in store: DataStore<Entity>
  ) throws(KVStoreError) -> Bool {
    try KVStoreError.mapping { () throws(StoreError) in
      try core.remove(id: id, in: store.core) > 0
    }
  }

  /// Removes the entities that a query selects and returns their number.
  @discardableResult
  public func remove<Entity>(
    _ query: Query<Entity>, in store: DataStore<Entity>
  ) throws(KVStoreError) -> Int {
    let query = try query.built.get()
    return try KVStoreError.mapping { () throws(StoreError) in
      try core.remove(query, in: store.core)
    }
  }

  /// Changes all entities that a query selects.
  @discardableResult
  public func update<Entity>(
    _ query: Query<Entity>, _ update: Update<Entity>, in store: DataStore<Entity>
  ) throws(KVStoreError) -> UpdateResult {
    let query = try query.built.get()
    let text = try update.built.get().text
    return UpdateResult(
      try KVStoreError.mapping { () throws(StoreError) in
        try core.update(query, try store.core.parsedUpdate(text), in: store.core)
      })
  }
}
