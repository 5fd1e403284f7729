internal import KVJSON
internal import KVSQLite
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

@Suite("The id of a user") struct UserIdentityTests {
  private let server: TestServer

  init() throws { server = try TestServer() }

  @Test("is chosen by nobody but the administrator")
  func chosen() throws {
    for who in [TestServer.Who.app, try server.user("ana")] {
      let answer = try signUp(who, id: "mine")
      #expect(answer.status == 401 && answer.error == "InsufficientCredentials")
    }
    #expect(try server.send(as: .master, "GET", "/user/kid/mine").status == 404)
    let made = try signUp(.master, id: "mine")
    #expect(made.status == 201 && made.json["_id"] == "mine")
    #expect(made.json["_acl"]?["creator"] == "mine")
  }

  @Test(
    "has no meaning of its own",
    arguments: [
      "master", "_me", "_lookup", "_logout", "login", "_anything", "_", ".", "..", "a\u{1}",
    ])
  func reserved(id: String) throws {
    let answer = try signUp(.master, id: id)
    #expect(answer.status == 400 && answer.error == "InvalidIdentifier", "\(id)")
  }

  @Test("that an _acl names in advance cannot be taken")
  func namedInAdvance() throws {
    let ana = try server.user("ana")
    let id = "0123456789abcdef01234567"
    let note = #"{"_id":"n","_acl":{"gr":false,"r":["\#(id)"],"w":["\#(id)"]}}"#
    _ = try server.send(as: ana, "POST", "/appdata/kid/notes", body: note)
    #expect(try signUp(.app, id: id).status == 401)
  }

  @Test("that somebody had is never given again, not after a restart and not by the administrator")
  func former() throws {
    let ana = try server.user("ana")
    _ = try server.send(
      as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"n","_acl":{"gr":false}}"#)
    #expect(try server.send(as: ana, "DELETE", "/user/kid/\(ana.id)?hard=true").status == 204)
    #expect(try signUp(.app, id: ana.id).status == 401)
    #expect(try signUp(.master, id: ana.id).error == "UserAlreadyExists")
    server.stop()
    let again = try TestServer(in: server.directory)
    let body = #"{"username":"x","_id":"\#(ana.id)"}"#
    #expect(
      try again.send(as: .master, "POST", "/user/kid", body: body).error == "UserAlreadyExists")
    // The name is free again.
    #expect(try again.user("ana").id != ana.id)
  }

  @Test("cannot make somebody the owner of what the administrator made")
  func administrator() throws {
    let note = try server.send(as: .master, "POST", "/appdata/kid/notes", body: #"{"_id":"n"}"#)
    let creator = try #require(note.json["_acl"]?["creator"]?.stringValue)
    #expect(try signUp(.app, id: creator).status == 401)
    #expect(try signUp(.master, id: creator).error == "InvalidIdentifier")
  }

  @Test("of the administrator, taken when that was possible, opens nothing any more")
  func takenBefore() throws {
    let server = try TestServer(in: try Self.oldData())
    let login = try server.send(
      as: .app, "POST", "/user/kid/login", body: #"{"username":"eve","password":"pass"}"#)
    #expect(login.status == 401)
    let session = TestServer.Who.user(id: "master", token: "00")
    #expect(try server.send(as: session, "GET", "/user/kid/_me").error == "InvalidCredentials")
  }

  /// The data of a server from before, where somebody has signed up as `master` and is logged in.
  private static func oldData() throws -> TemporaryDirectory {
    let directory = TemporaryDirectory()
    let data = try ServerDirectory(directory.path + "/data")
    let database = try Database(
      SQLiteSchema.configuration(SQLiteStore.file(in: data.path)),
      migrations: Array(SQLiteSchema.migrations.prefix(4)))
    let hash = PasswordHasher(cost: 1).hash("pass") ?? ""
    let token = hexText(SHA256.hash("00".utf8))
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      try connection.execute(
        """
        INSERT INTO app (number, key) VALUES (1, 'kid');
        INSERT INTO account (app, id, name, password) VALUES (1, 'master', 'eve', '\(hash)');
        INSERT INTO session (token, app, user) VALUES ('\(token)', 1, 'master');
        """)
    }
    database.close()
    data.unlock()
    return directory
  }

  private func signUp(_ who: TestServer.Who, id: String) throws -> HTTPAnswer {
    let user: JSONValue = ["username": "eve", "password": "p", "_id": .string(id)]
    return try server.send(as: who, "POST", "/user/kid", body: user.text)
  }
}

@Suite("The id of an entity") struct EntityIDTests {
  @Test(
    "is no operation and no part of a path",
    arguments: [
      "_count", "_group", "_batch", "_deltaset", "_history", "_permissions", "_subscribe",
      "_unsubscribe", ".", "..", "", "a\nb",
    ])
  func refused(id: String) {
    #expect(throws: ServerError.self) { try EntityID.check(id) }
  }

  @Test("may be any other text", arguments: ["_", "_mine", "login", "master", "...", "a/b", "%2e"])
  func allowed(id: String) throws { try EntityID.check(id) }
}
