import KVJSON
import KVSQLite
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

@Suite("A damaged entity") struct DamageTests {
  @Test(
    "is left out of pages, is an error by its id, and keeps nobody from reading the others",
    arguments: [#"replace(body, '"x"', '"x ')"#, #"replace(body, '"x"', '"y"')"#])
  func damage(change: String) throws {
    let directory = TemporaryDirectory()
    let path = "/appdata/kid/notes"
    let first = try TestServer(in: directory) { $0.storage = nil }
    for id in ["a", "b", "c"] {
      let body = #"{"_id":"\#(id)","n":1,"s":"x"}"#
      #expect(try first.send(as: .master, "POST", path, body: body).status == 201)
    }
    first.stop()
    try damage("b", change, in: directory)
    let server = try TestServer(in: directory) { $0.storage = nil }
    for target in [
      path, query(path, #"{"_id":{"$in":["a","b","c"]}}"#), query(path, #"{"_id":{"$gt":""}}"#),
      query(path, #"{"n":1}"#), target(path, [("sort", #"{"n":1}"#)]), path + "?fields=n",
    ] {
      let page = try server.send(as: .master, "GET", target)
      let ids = page.json.arrayValue?.compactMap { $0["_id"]?.stringValue }
      #expect(page.status == 200 && ids == ["a", "c"], "\(target): \(page.text)")
    }
    // Whoever asks for it is told which one is not there, also where nobody can tell whether it matches.
    for target in [
      path, query(path, #"{"_id":{"$in":["a","b","c"]}}"#), query(path, #"{"s":"x"}"#),
      target(path, [("sort", #"{"n":1}"#)]), path + "?fields=n",
    ] {
      let page = try server.send(
        as: .master, "GET", target, headers: [("X-Kvstored-Damaged", "named")])
      let ids = page.json.arrayValue?.compactMap { $0["_id"]?.stringValue ?? $0.stringValue }
      #expect(ids?.sorted() == ["a", "b", "c"], "\(target): \(page.text)")
      #expect(page.json.arrayValue?.contains("b") == true, "\(target): \(page.text)")
    }
    let one = try server.send(as: .master, "GET", path + "/b")
    #expect(one.status == 500 && one.error == "KinveyInternalErrorStop")
    #expect(one.json["debug"]?.stringValue?.contains("b") == true)
    #expect(try server.send(as: .master, "GET", path + "/a").status == 200)
    let grouped = #"{"key":{},"initial":{"count":0},"reduce":"function(doc,out){ out.count++; }"}"#
    #expect(
      try server.send(as: .master, "POST", path + "/_group", body: grouped).json == [["count": 2]])
    #expect(
      try server.send(as: .master, "DELETE", query(path, #"{"_id":"b","n":1}"#)).json["count"] == 0)
    #expect(try server.send(as: .master, "PUT", path + "/b", body: #"{"n":2}"#).status == 200)
    #expect(try server.send(as: .master, "GET", path + "/b").json["n"] == 2)
  }

  /// Changes a byte of an entity, as a bad sector would: a quotation mark goes, or a value is another one.
  private func damage(_ id: String, _ change: String, in directory: TemporaryDirectory) throws {
    let database = try Database(
      SQLiteSchema.configuration(directory.path + "/data/kvstored.db"),
      migrations: SQLiteSchema.migrations)
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      let table = try connection.integer("SELECT number FROM collection WHERE name = 'notes'") ?? 0
      try connection.execute(
        "UPDATE e\(table) SET body = \(change) WHERE id = '\(id)'")
    }
    database.close()
  }
}
