internal import KVBase
internal import KVClient
internal import KVQuery
internal import KVSync

/// The entities that a query selects. They are read in pages while the loop runs, so memory holds one page of them.
///
///     for try await person in people.find(\.age > 30) { print(person.name) }
///     let names = try await people.find(\.age > 30).all().map(\.name)
///
/// The query runs when the first entity is requested, and again for each iteration. An iteration shows one snapshot of
/// the local data, and later writes do not change it. An entity that does not fit its type throws an error when it is
/// reached.
public struct Entities<Entity: Codable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = Entity
  public typealias Failure = KVStoreError

  let store: DataStore<Entity>
  let query: Query<Entity>
  let options: CallOptions

  public func makeAsyncIterator() -> Iterator {
    Iterator(reader: EntityReader(store, query, options: options))
  }

  /// Returns all entities as an array.
  public func all() async throws(KVStoreError) -> [Entity] {
    var entities: [Entity] = []
    var iterator = makeAsyncIterator()
    while let entity = try await iterator.next() { entities.append(entity) }
    return entities
  }

  /// Returns the first entity; nil if there is none.
  public func first() async throws(KVStoreError) -> Entity? {
    var iterator = Entities(store: store, query: query.limit(1), options: options)
      .makeAsyncIterator()
    return try await iterator.next()
  }

  public struct Iterator: AsyncIteratorProtocol {
    let reader: EntityReader<Entity>
    private var page: [Result<Entity, KVStoreError>] = []
    private var index = 0

    init(reader: EntityReader<Entity>) { self.reader = reader }

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(KVStoreError) -> Entity? {
      if index == page.count {
        page = try await reader.page()
        index = 0
      }
      guard index < page.count else { return nil }
      defer { index += 1 }
      return try page[index].get()
    }

    public mutating func next() async throws(KVStoreError) -> Entity? {
      try await next(isolation: nil)
    }
  }
}

/// Iterates over the result of a find, page by page.
final class EntityReader<Entity: Codable & Sendable>: Sendable {
  private enum State {
    case new
    case reading(any EntityCursor)
    case over
  }

  private let store: DataStore<Entity>
  private let query: Query<Entity>
  private let options: CallOptions
  private let state = Monitor(State.new)

  init(_ store: DataStore<Entity>, _ query: Query<Entity>, options: CallOptions) {
    self.store = store
    self.query = query
    self.options = options
  }

  deinit { if case .reading(let cursor) = state.withLock({ $0 }) { cursor.close() } }

  /// Returns the next entities; none at the end.
  func page() async throws(KVStoreError) -> [Result<Entity, KVStoreError>] {
    let query = try query.built.get()
    return try await store.reading(options) { [self] (core, run) throws(StoreError) in
      guard let cursor = try cursor(query, in: core, run: run) else { return [] }
      guard let block = try cursor.block() else {
        state.withLock { $0 = .over }
        cursor.close()
        return []
      }
      var page: [Result<Entity, KVStoreError>] = []
      while let text = block.next() {
        page.append(JSONDecoding.result(Entity.self, from: UnsafeRawBufferPointer(text)))
      }
      return page
    }
  }

  private func cursor(
    _ query: KVQuery.Query, in core: KVClient.DataStore, run: KVClient.DataStore.Run
  ) throws(StoreError) -> (any EntityCursor)? {
    switch state.withLock({ $0 }) {
    case .over: return nil
    case .reading(let cursor): return cursor
    case .new:
      let cursor = try core.find(query, run).value
      state.withLock { $0 = .reading(cursor) }
      return cursor
    }
  }
}
