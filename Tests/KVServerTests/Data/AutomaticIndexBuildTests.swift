internal import KVBase
internal import KVTestSupport
import Testing

@testable import KVQuery
@testable import KVServerCore
@testable import KVServerPostgres
@testable import KVServerSQLite

/// Step by step, as `IndexBuilder` does it.
@Suite("The building of an automatic index") struct AutomaticIndexBuildTests {
  private static let rows = 1_200

  private let directory = TemporaryDirectory()
  private let name = "automatic: n"
  private let query: Query

  init() throws { query = try Query(filter: #"{"n":7}"#) }

  /// Opens the data; `rules`: how much of it automatic indexes may take.
  private func open(_ rules: IndexLedger.Rules = .init()) throws -> any ServerStore {
    if let address = try TestStorage.address(for: directory.path) {
      var settings = PostgresStore.Settings()
      settings.automaticIndexes = AutomaticIndexes(rules)
      return try PostgresStore(address, settings, log: Log(.error))
    }
    var settings = SQLiteStore.Settings()
    settings.automaticIndexes = AutomaticIndexes(rules)
    return try SQLiteStore(in: directory.path, settings, log: Log(.error))
  }

  /// Fills a collection.
  private func fill(_ store: any ServerStore) throws -> CollectionKey {
    let key = CollectionKey(app: try store.app("kid"), name: "cities")
    let writes = try (0..<Self.rows).map { number -> Result<EntityWrite, ServerError> in
      let body = Payload(Array("{\"n\":\(number)}".utf8))
      return .success(.put(try Service.draft(body, id: "c\(number)"), if: .none))
    }
    _ = try store.entities.perform(writes, in: key, for: .principal(.master))
    return key
  }

  /// Has a store see that an index is wanted.
  private func want(_ store: any ServerStore, _ key: CollectionKey) throws {
    let automatic = try #require(store.automaticIndexes)
    for _ in 0..<20 { automatic.note(of: query, in: key).scanned(found: 1, by: nil) }
    try automatic.work(on: store.indexes)
  }

  private func states(_ store: any ServerStore, _ key: CollectionKey) throws -> [CollectionIndex
    .State]
  {
    try store.indexes.indexes(of: key).map(\.state)
  }

  @Test("goes on after a restart where it was")
  func restart() throws {
    var store = try open()
    let key = try fill(store)
    try want(store, key)
    #expect(try store.indexes.buildNext())
    #expect(try states(store, key) == [.building])
    #expect(try store.indexes.use(for: query, in: key) == nil)
    store.close()
    store = try open()
    defer { store.close() }
    #expect(try states(store, key) == [.building])
    var steps = 0
    while try store.indexes.buildNext() { steps += 1 }
    #expect(steps == 3, "500 were in it already; 500 and 200 came, and then there were none")
    #expect(try states(store, key) == [.ready])
    #expect(try store.indexes.use(for: query, in: key) != nil)
    let found = try store.entities.count(
      query, in: key, for: .principal(.master), within: .unlimited)
    #expect(found.count == 1)
  }

  @Test("ends, and leaves nothing, when it takes more bytes than it may; it is not tried again")
  func bytes() throws {
    var rules = IndexLedger.Rules()
    (rules.maxBytes, rules.maxShare) = (1, 1_000_000)
    let store = try open(rules)
    defer { store.close() }
    let key = try fill(store)
    try want(store, key)
    #expect(try states(store, key) == [.building])
    while try store.indexes.buildNext() {}
    #expect(try states(store, key).isEmpty)
    try want(store, key)
    #expect(try states(store, key).isEmpty)
    let found = try store.entities.count(
      query, in: key, for: .principal(.master), within: .unlimited)
    #expect(found.count == 1)
  }

  @Test("goes on as the administrator's when he asks for the same keys meanwhile")
  func takenOver() throws {
    let store = try open()
    defer { store.close() }
    let key = try fill(store)
    try want(store, key)
    #expect(try store.indexes.buildNext())
    try store.indexes.add(try IndexSpec(parsing: #"{"keys":{"n":1}}"#), to: key)
    var steps = 0
    while try store.indexes.buildNext() { steps += 1 }
    #expect(steps == 3)
    let indexes = try store.indexes.indexes(of: key)
    #expect(indexes.map(\.spec.name) == ["n_1"] && indexes.first?.state == .ready)
    #expect(try store.indexes.removeAutomatic(name, from: key))
    #expect(try states(store, key) == [.ready])
  }
}
