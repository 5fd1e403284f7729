internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Saves an entity, and gives it as it is stored: with its id, if it had none. Replaces one that is there.
  @discardableResult
  public func save(
    _ entity: Entity, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Entity {
    try await save(entity, if: .none, options: options)
  }

  /// Saves an entity that must not be there yet. Throws `.conflict` if it is.
  @discardableResult
  public func insert(
    _ entity: Entity, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Entity {
    try await save(entity, if: .isMissing, options: options)
  }

  /// Saves an entity if the one that is there matches. Throws `.conflict` if not.
  @discardableResult
  public func save(
    _ entity: Entity, if condition: Query<Entity>, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Entity {
    try await save(entity, if: .matches(try condition.built.get()), options: options)
  }

  private func save(
    _ entity: Entity, if condition: WriteCondition, options: CallOptions
  ) async throws(KVStoreError) -> Entity {
    let bytes = try Self.encoded(entity).bytes
    let saved = try await writing(options) { (core, run) throws(StoreError) in
      try bytes.withBorrowedBytes { (bytes) throws(StoreError) in
        try core.save(bytes, if: condition, run).value
      }
    }
    return try JSONDecoding.decode(Entity.self, from: saved)
  }

  /// Saves entities, all that can be saved.
  @discardableResult
  public func save(
    _ entities: [Entity], options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> SaveResult<Entity> {
    var array: [JSONValue] = []
    array.reserveCapacity(entities.count)
    for entity in entities { array.append(try Self.encoded(entity)) }
    let bytes = JSONValue.array(array).bytes
    let result = try await writing(options) { (core, run) throws(StoreError) in
      try bytes.withBorrowedBytes { (bytes) throws(StoreError) in
        try core.saveMany(bytes, run).value
      }
    }
    return try SaveResult(result)
  }

  /// Removes the entity with an id. Whether there was one.
  @discardableResult
  public func remove(
    id: String, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Bool {
    try await writing(options) { (core, run) throws(StoreError) in
      let count = try StoreError.nilIf(.notFound) { () throws(StoreError) in
        try core.remove(id: id, run).value
      }
      return count ?? 0 > 0
    }
  }

  /// Removes what a query selects. How many there were.
  @discardableResult
  public func remove(
    _ query: Query<Entity>, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Int {
    let query = try query.built.get()
    return try await writing(options) { (core, run) throws(StoreError) in
      try core.remove(query, run).value
    }
  }
}
