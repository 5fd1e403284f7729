internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVObjects
internal import KVQuery
internal import KVSync

extension KVStoreClient {
  /// Opens a working copy of objects.
  ///
  ///     let context = try await client.context()
  ///     let ann = try await context.insert(Person(name: "Ann", age: 30), into: "people")
  ///     try await ann.set(\.age, to: 31)
  ///     try await context.save()
  public func context(
    _ options: ContextOptions = ContextOptions()
  ) async throws(KVStoreError) -> Context {
    let json = options.json
    let objects = try await perform(isLocal: false) { [core] (_) throws(StoreError) in
      try core.objectContext(json)
    }
    return Context(objects, client: self)
  }
}

/// A working copy of objects of several collections. It collects what is inserted, changed and deleted, and saves that in one
/// step, if the objects are still what it has read.
///
///     let context = try await client.context()
///     for person in try await context.fetch(\.age > 30, in: "people", of: Person.self) {
///       try await person.set(\.name, to: try await person[\.name] + "!")
///     }
///     try await context.save()
///
/// It shows an object as it first read it, with its own changes, until it is refreshed. Any task may use it; calls wait for
/// each other. What was not saved is lost when the last reference to the context and its objects has gone.
public final class Context: Sendable {
  let core: ObjectContext
  let client: KVStoreClient

  init(_ core: ObjectContext, client: KVStoreClient) {
    self.core = core
    self.client = client
    client.remember(self)
  }

  deinit { core.close() }

  /// Runs a call on a thread of the library.
  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (ObjectContext) throws(StoreError) -> Value
  ) async throws(KVStoreError) -> Value {
    try await client.perform(isLocal: false) { [core] (_) throws(StoreError) in try body(core) }
  }

  // MARK: Objects

  /// Adds a new object. Its id is permanent, unless a custom store chooses ids itself at the save.
  public func insert<Entity: Codable & Sendable>(
    _ entity: Entity, into collection: String
  ) async throws(KVStoreError) -> ManagedObject<Entity> {
    let bytes = try DataStore.encoded(entity).bytes
    let id = try await perform { (core) throws(StoreError) in
      let id = try core.insert(bytes, into: collection)
      try core.hold([id])
      return id
    }
    return ManagedObject(held: id, in: self)
  }

  /// The object with an id, which need not exist. Nothing is read.
  public func object<Entity: Codable & Sendable>(
    _ id: String, in collection: String, of type: Entity.Type = Entity.self
  ) async throws(KVStoreError) -> ManagedObject<Entity> {
    let id = ObjectID(collection, id)
    try await perform { (core) throws(StoreError) in try core.hold([id]) }
    return ManagedObject(held: id, in: self)
  }

  /// Finds objects, with the unsaved changes of the context. They are read in batches when they are asked for.
  ///
  /// `prefetching`: relationships that are followed at once, each with one query: `pets`, `pets.vet`.
  public func fetch<Entity: Codable & Sendable>(
    _ query: Query<Entity> = Query(), in collection: String, of type: Entity.Type = Entity.self,
    prefetching paths: [String] = [], includesPendingChanges: Bool = true
  ) async throws(KVStoreError) -> [ManagedObject<Entity>] {
    let query = try query.built.get()
    let ids = try await perform { (core) throws(StoreError) in
      var request = ResultsRequest()
      request.content = .ids
      var options = FetchingOptions()
      options.prefetchedKeyPaths = paths
      options.includesPendingChanges = includesPendingChanges
      let ids = try core.fetch(request, query, in: collection, options: options)
        .ids(of: collection)
      try core.hold(ids)
      return ids
    }
    return ids.map { ManagedObject(held: $0, in: self) }
  }

  /// The same as a list that loads little by little, and that can be followed: its entities are read through the context, with
  /// its unsaved changes.
  ///
  ///     let everybody = try await context.results(Query().sorted(by: \Person.name), in: "people")
  ///     for try await update in try everybody.changes() { print(update.list.count) }
  ///
  /// `Results.changes` tells of the context's own changes with each edit, and of what others save. Objects that others have
  /// changed, and that are not changed here, are read anew. Lists of `.auto`, `.cache` and `.network` contexts cannot be followed.
  public func results<Entity: Codable & Sendable>(
    _ query: Query<Entity> = Query(), in collection: String, of type: Entity.Type = Entity.self,
    prefetching paths: [String] = [], includesPendingChanges: Bool = true
  ) async throws(KVStoreError) -> Results<Entity> {
    let query = try query.built.get()
    let found = try await perform { (core) throws(StoreError) in
      var options = FetchingOptions()
      options.prefetchedKeyPaths = paths
      options.includesPendingChanges = includesPendingChanges
      return try core.fetch(ResultsRequest(), query, in: collection, options: options)
    }
    return Results(found, of: self)
  }

  // MARK: Changes

  /// The number of objects with unsaved changes.
  public func changeCount() async throws(KVStoreError) -> Int {
    try await perform { (core) throws(StoreError) in try core.statistics().changes }
  }

  /// Writes all changes in one transaction, and queues them for the backend.
  ///
  /// Throws `.conflict` if an object was changed since the context read it and neither the merge policy nor `decide` decides:
  /// then nothing is written.
  public func save(
    deciding decide: (@Sendable (MergeConflict) -> MergeConflict.Decision?)? = nil
  ) async throws(KVStoreError) {
    try await perform { (core) throws(StoreError) in
      guard let decide else {
        _ = try core.save()
        return
      }
      _ = try core.save { (conflict) throws(StoreError) in
        guard let decision = decide(MergeConflict(conflict)) else { return }
        try core.resolve(conflict.id, try decision.json.get())
      }
    }
  }

  /// Drops all unsaved changes.
  public func rollback() async throws(KVStoreError) {
    try await perform { (core) throws(StoreError) in try core.rollback() }
  }

  /// Has each object read again when it is next asked for. Unsaved changes are laid over what is stored then, or dropped.
  public func refresh(keepingChanges: Bool = true) async throws(KVStoreError) {
    try await perform { (core) throws(StoreError) in
      try core.refresh(nil, keepingChanges: keepingChanges)
    }
  }

  /// Takes the last edit back; false: there is none.
  @discardableResult
  public func undo() async throws(KVStoreError) -> Bool {
    try await perform { (core) throws(StoreError) in try core.undo() }
  }

  /// Makes the edit again that was taken back last; false: there is none.
  @discardableResult
  public func redo() async throws(KVStoreError) -> Bool {
    try await perform { (core) throws(StoreError) in try core.redo() }
  }
}

extension Context: EndableStream {
  /// The client is being closed.
  func end() { core.interrupt() }
}

extension FetchedResults {
  /// The ids of a list of ids.
  func ids(of collection: String) throws(StoreError) -> [ObjectID] {
    let collection = RecordID(collection)
    var ids: [ObjectID] = []
    ids.reserveCapacity(count)
    for position in 0..<count {
      // A list of a context keeps no batch: the text lives as long as this one.
      let batch = try batch(at: position)
      defer { withExtendedLifetime(batch) {} }
      let text = try batch.text(at: position)
      do throws(JSONError) {
        if let id = try JSONValue(parsing: text).stringValue {
          ids.append(ObjectID(collection, id))
        }
      } catch {
        throw StoreError(error)
      }
    }
    return ids
  }
}
