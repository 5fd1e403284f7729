import KVBase
import KVQuery
import KVSQLite
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

@Suite("A collection's statements") struct EntityCollectionTests {
  private let directory = TemporaryDirectory()
  private let database: Database
  private let collection: EntityCollection

  init() throws {
    database = try Database(
      SQLiteSchema.configuration(directory.path + "/data.db"),
      migrations: SQLiteSchema.migrations)
    let collections = try CollectionRegistry(database, defaults: Permissions())
    collection = try collections.make(CollectionKey(app: collections.app("kid"), name: "things"))
  }

  @Test(
    "read entities by their ids, whatever else is asked for",
    arguments: [
      #"{"_id":"5"}"#, #"{"_id":"5","n":5}"#, #"{"n":5,"_id":{"$in":["5","6"]}}"#,
      #"{"$and":[{"_id":"5"},{"n":{"$gt":1}}]}"#,
    ])
  func byIDs(filter: String) throws {
    for operation in [Permissions.Action.read, .delete] {
      let viewer = Viewer(principal: .user(id: "u"), permissions: Permissions())
      let query = try Query(filter: filter)
      let rows = try RowSelection(query, for: viewer, operation: operation, within: .unlimited)
      var sorted = query
      try sorted.sort(parsing: #"{"n":1}"#)
      let sorter = try #require(sorted.sorter)
      for statement in [
        collection.page(rows), collection.page(rows, .id(after: "", last: "9"), limit: 1),
        collection.order(rows, by: sorter, limit: 1, offset: 0), collection.count(rows),
        collection.versions(rows),
      ] {
        let steps = try plan(of: statement)
        #expect(steps.contains { $0.utf8.starts(with: "SEARCH".utf8) }, "\(steps)")
        #expect(!steps.contains { $0.utf8.starts(with: "SCAN e".utf8) }, "\(steps)")
      }
    }
  }

  private func plan(of statement: SQLFragment) throws -> [String] {
    try database.read { (connection: borrowing Connection) throws(SQLiteError) in
      let explain = try connection.prepare("EXPLAIN QUERY PLAN \(statement)" as SQLFragment)
      var steps: [String] = []
      while try explain.step() { steps.append(explain.text(3) ?? "") }
      return steps
    }
  }
}
