internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerSQLite

/// What another program has added to the server's database.
@Suite("A schema of the server's file that is not ours")
struct ServerForeignSchemaTests {
  private let directory = TemporaryDirectory()
  private var file: String { SQLiteStore.file(in: directory.file("data")) }

  private func makeFile() throws {
    let server = try TestServer(in: directory) { $0.storage = nil }
    let ana = try server.user("ana")
    try server.send(as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"a","n":1,"t":"x"}"#)
      .expect(201)
    for index in [#"{"keys":{"n":1,"t":-1}}"#, #"{"keys":{"n":-1}}"#] {
      try server.send(as: .master, "PUT", "/appdata/kid/notes/_indexes", body: index).expect(200)
    }
    server.stop()
  }

  @Test(
    "is refused, and nothing of it runs",
    arguments: [
      "CREATE TRIGGER evil AFTER INSERT ON session BEGIN UPDATE account SET disabled = 0; END",
      "DROP TRIGGER x1_insert; CREATE TRIGGER x1_insert AFTER INSERT ON e1 BEGIN DELETE FROM e1; END",
      "CREATE VIEW spy AS SELECT password FROM account",
    ])
  func refused(_ sql: String) throws {
    try makeFile()
    #expect(runForeignSQL(sql, on: file))
    let error = #expect(throws: Server.Failure.self) {
      try TestServer(in: directory) { $0.storage = nil }
    }
    #expect(error?.description.contains("has not made") == true, "\(error?.description ?? "")")
  }

  @Test("is ours, with indexes") func ours() throws {
    try makeFile()
    let server = try TestServer(in: directory) { $0.storage = nil }
    try server.send(as: .master, "GET", "/appdata/kid/notes/a").expect(200)
  }
}
