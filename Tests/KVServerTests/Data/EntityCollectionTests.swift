import KVBase
import KVQuery
import KVSQLite
import KVTestSupport
import Testing

@testable import KVServer

@Suite("A collection's statements") struct EntityCollectionTests {
  private let directory = TemporaryDirectory()
  private let database: Database
  private let collection: EntityCollection

  init() throws {
    database = try Database(
      .init(path: directory.path + "/data.db", applicationId: ServerSchema.applicationId),
      migrations: ServerSchema.migrations)
    let collections = try CollectionRegistry(database, defaults: Permissions())
    collection = try collections.make("things", of: collections.app("kid"))
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
      let shape = try RowSelection(
        Query(filter: filter), for: viewer, operation: operation, within: .unlimited
      ).shape
      for statement in [
        EntityCollection.Shape.scan(shape), .walk(shape, isBounded: true), .order(shape),
        .count(shape),
        .versions(shape),
      ] {
        let steps = try plan(of: statement)
        #expect(steps.contains { $0.utf8.starts(with: "SEARCH".utf8) }, "\(steps)")
        #expect(!steps.contains { $0.utf8.starts(with: "SCAN e".utf8) }, "\(steps)")
      }
    }
  }

  private func plan(of shape: EntityCollection.Shape) throws -> [String] {
    try database.read { (connection: borrowing Connection) throws(SQLiteError) in
      let explain = try connection.prepare("EXPLAIN QUERY PLAN " + collection.sql(shape).text)
      var steps: [String] = []
      while try explain.step() { steps.append(explain.text(3) ?? "") }
      return steps
    }
  }
}
