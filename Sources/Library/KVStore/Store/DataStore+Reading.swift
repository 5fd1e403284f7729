internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Finds the entities that a query selects. They are read while the loop runs; the query starts with the first of
  /// them.
  ///
  ///     for try await person in people.find(\.age > 30) { print(person.name) }
  ///
  /// In a cache store these are the backend's entities. `observe` shows the local ones meanwhile.
  public func find(
    _ query: Query<Entity> = Query(), options: CallOptions = CallOptions()
  ) -> Entities<Entity> {
    Entities(store: self, query: query, options: options)
  }

  /// Finds an entity by its id; nil if there is none.
  public func find(
    id: String, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Entity? {
    let bytes = try await reading(options) { (core, run) throws(StoreError) -> [UInt8]? in
      try StoreError.nilIf(.notFound) { () throws(StoreError) in try core.find(id: id, run).value }
    }
    return try JSONDecoding.decode(Entity.self, ifAny: bytes)
  }

  /// Finds the entities of some ids, in the order of these; nil where there is none. A local store reads all of them in one
  /// snapshot.
  ///
  ///     let authors = try await people.find(ids: ["ann", "bob"])
  public func find(
    ids: [String], options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> [Entity?] {
    let bytes = try await reading(options) { (core, run) throws(StoreError) in
      try core.find(ids: ids, run).value
    }
    return try JSONDecoding.decode([Entity?].self, from: bytes)
  }

  /// Counts the entities that a query selects.
  public func count(
    _ query: Query<Entity> = Query(), options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Int {
    let query = try query.built.get()
    return try await reading(options) { (core, run) throws(StoreError) in
      try core.count(query, run).value
    }
  }
}
