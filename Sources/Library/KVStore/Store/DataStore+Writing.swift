internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Saves an entity and returns it as stored, with an id if it had none. It replaces an entity with the same id.
  @discardableResult
  public func save(
    _ entity: Entity, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Entity {
    try await save(entity, if: .none, options: options)
  }

  /// Saves an entity that must not exist yet. Throws `.conflict` if it does.
  @discardableResult
  public func insert(
    _ entity: Entity, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Entity {
    try await save(entity, if: .isMissing, options: options)
  }

  /// Saves an entity if the stored one matches a condition. Throws `.conflict` otherwise.
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

  /// Saves several entities. Those that fail do not affect the others.
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

  /// Removes the entity with an id and returns whether there was one.
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

  /// Removes the entities that a query selects and returns their number.
  @discardableResult
  public func remove(
    _ query: Query<Entity>, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Int {
    let query = try query.built.get()
    return try await writing(options) { (core, run) throws(StoreError) in
      try core.remove(query, run).value
    }
  }

  // MARK: Updates

  /// Changes all entities that a query selects, without reading them into the program. Locally the update is atomic.
  @discardableResult
  public func update(
    _ query: Query<Entity>, _ update: Update<Entity>, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> UpdateResult {
    let query = try query.built.get()
    let text = try update.built.get().text
    let result = try await writing(options) { (core, run) throws(StoreError) in
      try core.update(query, try core.parsedUpdate(text), run: run).value
    }
    return UpdateResult(result)
  }
}
