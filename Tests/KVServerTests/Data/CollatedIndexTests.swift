internal import KVBase
internal import KVSQLite
internal import KVTestSupport
import Testing

@testable import KVQuery
@testable import KVServerCore
@testable import KVServerPostgres
@testable import KVServerSQLite

/// Step by step, as `IndexBuilder` does it.
@Suite("An index with a collation") struct CollatedIndexTests {
  private let directory = TemporaryDirectory()
  private let query: Query

  init() throws {
    query = try Query(filter: #"{"a":{"$gte":"ärger","$lt":"b","$collation":"de"}}"#)
  }

  private func open() throws -> any ServerStore {
    if let address = try TestStorage.address(for: directory.path) {
      return try PostgresStore(address, .init(), log: Log(.error))
    }
    return try SQLiteStore(in: directory.path, .init(), log: Log(.error))
  }

  private func put(_ texts: [String], _ store: any ServerStore) throws -> CollectionKey {
    let key = CollectionKey(app: try store.app("kid"), name: "words")
    let writes = try texts.map { text -> Result<EntityWrite, ServerError> in
      let body = Payload(Array("{\"a\":\"\(text)\"}".utf8))
      return .success(.put(try Service.draft(body, id: text), if: .none))
    }
    _ = try store.entities.perform(writes, in: key, for: .principal(.master))
    return key
  }

  /// Changes the data as another version of the server would.
  private func change(sqlite: String, postgres: String) throws {
    if let address = try TestStorage.address(for: directory.path) {
      _ = try PostgresConnection(to: address, setup: "\(sql: postgres)")
      return
    }
    let database = try Database(
      SQLiteSchema.configuration(directory.path + "/kvstored.db"),
      migrations: SQLiteSchema.migrations)
    defer { database.close() }
    try database.write { (db: borrowing Connection) throws(SQLiteError) in try db.execute(sqlite) }
  }

  private func expectRenewal(_ store: any ServerStore, _ key: CollectionKey) throws {
    #expect(try store.indexes.indexes(of: key).map(\.state) == [.building])
    #expect(try store.indexes.use(for: query, in: key) == nil)
    let count = try store.entities.count(
      query, in: key, for: .principal(.master), within: .unlimited)
    while try store.indexes.buildNext() {}
    let indexes = try store.indexes.indexes(of: key)
    #expect(indexes.map(\.state) == [.ready])
    #expect(indexes.map(\.spec.isOutdated) == [false])
    #expect(try store.indexes.use(for: query, in: key)?.names == ["a_1_de"])
    let again = try store.entities.count(
      query, in: key, for: .principal(.master), within: .unlimited)
    #expect(again.count == count.count)
  }

  @Test("is made anew when the weights are of another version, and not used until then")
  func outdated() throws {
    var store = try open()
    let key = try put(["Ärger", "arg", "azur", "b", "zon"], store)
    let spec = try IndexSpec(parsing: #"{"keys":{"a":1},"collation":"de"}"#)
    try store.indexes.add(spec, to: key)
    while try store.indexes.buildNext() {}
    #expect(try store.indexes.use(for: query, in: key)?.names == ["a_1_de"])
    store.close()
    let version = spec.collationVersion
    try change(
      sqlite: "UPDATE indexes SET spec = replace(spec, '\(version)', '7')",
      postgres: """
        UPDATE entity_index
        SET spec = convert_to(replace(convert_from(spec, 'UTF8'), '\(version)', '7'), 'UTF8')
        """)
    store = try open()
    _ = try put(["Azteke"], store)
    try expectRenewal(store, key)
    store.close()
    try change(
      sqlite: "UPDATE indexes SET shape = 3", postgres: "UPDATE entity_index SET shape = 3")
    store = try open()
    defer { store.close() }
    try expectRenewal(store, key)
    let found = try store.entities.count(
      query, in: key, for: .principal(.master), within: .unlimited)
    #expect(found.count == 3)
  }
}
