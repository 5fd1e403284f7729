import KVJSON
import KVSQLite
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

@Suite("A damaged entity") struct DamageTests {
  @Test("is left out of pages, is an error by its id, and keeps nobody from reading the others")
  func damage() throws {
    let directory = TemporaryDirectory()
    let path = "/appdata/kid/notes"
    let first = try TestServer(in: directory)
    for id in ["a", "b", "c"] {
      let body = #"{"_id":"\#(id)","n":1,"s":"x"}"#
      #expect(try first.send(.master, "POST", path, body).status == 201)
    }
    first.stop()
    try damage("b", in: directory)
    let server = try TestServer(in: directory)
    for target in [
      path, query(path, #"{"_id":{"$in":["a","b","c"]}}"#), query(path, #"{"_id":{"$gt":""}}"#),
      query(path, #"{"n":1}"#), target(path, [("sort", #"{"n":1}"#)]), path + "?fields=n",
    ] {
      let page = try server.send(.master, "GET", target)
      let ids = page.json.arrayValue?.compactMap { $0["_id"]?.stringValue }
      #expect(page.status == 200 && ids == ["a", "c"], "\(target): \(page.text)")
    }
    let one = try server.send(.master, "GET", path + "/b")
    #expect(one.status == 500 && one.error == "KinveyInternalErrorStop")
    #expect(one.json["debug"]?.stringValue?.contains("b") == true)
    #expect(try server.send(.master, "GET", path + "/a").status == 200)
    #expect(try server.send(.master, "PUT", path + "/b", #"{"n":2}"#).status == 200)
    #expect(try server.send(.master, "GET", path + "/b").json["n"] == 2)
  }

  /// Changes a byte of an entity, as a bad sector would: a quotation mark goes.
  private func damage(_ id: String, in directory: TemporaryDirectory) throws {
    let database = try Database(
      .init(
        path: directory.path + "/data/kvstored.db", applicationId: ServerSchema.applicationId),
      migrations: ServerSchema.migrations)
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      let table = try connection.integer("SELECT number FROM collection WHERE name = 'notes'") ?? 0
      try connection.execute(
        "UPDATE e\(table) SET body = replace(body, '\"x\"', '\"x ') WHERE id = '\(id)'")
    }
    database.close()
  }
}
