import KVBase
import KVJSON
import KVTestSupport
import Testing

@testable import KVSQLite
@testable import KVServer
@testable import KVServerCore
@testable import KVServerPostgres
@testable import KVServerSQLite

/// What users are told of their sessions, on both storages.
@Suite("Sessions that users look at") struct SessionDetailsTests {
  private static let pixel =
    #"{"hv":1,"md":"Pixel","os":"Android","ov":"9","sdk":"Android","pv":"4.4.0","id":"a1b2"}"#
  private static let ours =
    #"{"hv":1,"dn":"Ana\u2019s desk","md":"x86\u0000_\u007f64\u009b","os":"Linux","ov":"6.1","sdk":"libkvstore"}"#

  private static func sessions(_ server: TestServer, _ who: TestServer.Who) throws -> [JSONValue] {
    try server.send(as: who, "GET", "/user/kid/_sessions").expect(200).json.arrayValue ?? []
  }

  private static func logIn(
    _ server: TestServer, _ headers: [(String, String)]
  ) throws -> TestServer.Who {
    let body = #"{"username":"ana","password":"pass"}"#
    let answer = try server.send(
      as: .app, "POST", "/user/kid/login", body: body, headers: headers
    ).expect(200)
    return .user(
      id: answer.json["_id"]?.stringValue ?? "",
      token: answer.json["_kmd"]?["authtoken"]?.stringValue ?? "")
  }

  @Test("tell where they were begun: by what the client says of its device, and its address")
  func origin() throws {
    let server = try TestServer { $0.proxies = [IPAddress("127.0.0.1")].compactMap(\.self) }
    _ = try server.user("ana")
    for (headers, device) in [
      ([("User-Agent", "libkvstore/1")], "libkvstore/1"),
      (
        [("X-Kinvey-Device-Info", Self.pixel), ("User-Agent", "okhttp")],
        "Pixel, Android 9, Android"
      ),
      ([("X-Kinvey-Device-Info", Self.ours)], "Ana’s desk, x86_64, Linux 6.1, libkvstore"),
      ([("X-Kinvey-Device-Info", "Nokia"), ("User-Agent", "okhttp")], "Nokia"),
      ([("X-Kinvey-Device-Info", #"{"hv":1,"md":7}"#), ("User-Agent", "okhttp")], "okhttp"),
      ([("User-Agent", String(repeating: "é", count: 500))], String(repeating: "é", count: 100)),
      (
        [("User-Agent", "a" + String(repeating: "é", count: 500))],
        "a" + String(repeating: "é", count: 99)
      ),
    ] {
      let who = try Self.logIn(server, headers + [("X-Forwarded-For", "192.0.2.7")])
      let own = try Self.sessions(server, who).first { $0["isCurrent"] == true }
      #expect(own?["device"]?.stringValue == device)
      #expect(own?["address"]?.stringValue == "192.0.2.7")
      #expect(own?["began"]?.stringValue != nil && own?["used"] == own?["began"])
    }
    let silent = try Self.logIn(server, [])
    let own = try Self.sessions(server, silent).first { $0["isCurrent"] == true }
    #expect(own?["device"] == .null)
  }

  @Test("do not begin on a device whose name is too long, or no text that can be shown")
  func names() throws {
    let server = try TestServer()
    let login = #"{"username":"ana","password":"pass"}"#
    let long = String(repeating: "é", count: 50)
    func status(_ name: [UInt8], _ path: String, body: String) throws -> (Int, String) {
      let connection = try #require(RawConnection(port: server.port))
      connection.send(
        Array(
          """
          POST \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: \(TestServer.Who.app.authorization ?? "")\r\n\
          X-Kinvey-API-Version: 5\r\nContent-Length: \(body.utf8.count)\r\nX-Kinvey-Device-Info: {"dn":
          """.utf8) + name + Array("}\r\n\r\n\(body)".utf8))
      let answer = try #require(HTTPClient.receive(connection))
      return (answer.status, answer.json["debug"]?.stringValue ?? "")
    }
    _ = try server.user("ana")
    #expect(try status(Array("\"\(long)\"".utf8), "/user/kid/login", body: login).0 == 200)
    let bad: [[UInt8]] = [
      Array("\"\(long)x\"".utf8), Array(#""a\u0007b""#.utf8), Array(#""a\u007fb""#.utf8),
      Array(#""a\u009bb""#.utf8), Array(#""""#.utf8), Array("7".utf8), Array("null".utf8),
      [0x22, 0x41, 0xFF, 0x22],
    ]
    for (number, name) in bad.enumerated() {
      let refused = try status(name, "/user/kid/login", body: login)
      #expect(refused.0 == 400 && refused.1.contains("the name of a device"), "\(name) \(refused)")
      let body = "{\"username\":\"\(number)\",\"password\":\"pass\"}"
      #expect(try status(name, "/user/kid", body: body).0 == 400)
    }
    #expect(try server.send(as: .master, "GET", "/user/kid").ids.count == 1)
  }

  @Test("tell when they were used last, also when they cannot last any longer")
  func lastUse() throws {
    let server = try TestServer()
    let store = server.server.service.store
    let app = try store.app("kid")
    _ = try server.user("ana")
    let account = try #require(try store.accounts.find(name: "ana", of: app))
    let life = SessionLife(idleSeconds: 1000, longestSeconds: 1500)
    let start = Timestamp.now().milliseconds
    let session = NewSession(life, at: Timestamp(milliseconds: start))
    #expect(try store.accounts.begin(session, of: account, app: app) != nil)
    for seconds in [600, 1400] as [Int64] {
      let use = start + seconds * 1000
      try store.sessions.extend(session.token, life, at: Timestamp(milliseconds: use))
      let found = try store.sessions.list(app: app, user: nil, after: nil, limit: 10)
        .first { $0.name == SessionToken.hash(session.token) }
      #expect(found?.used == use && found?.began == start)
      #expect(found?.expires == start + 1_500_000)
    }
  }

  @Test("of a former version go on, and tell nothing of where they were begun")
  func upgrade() throws {
    let directory = TemporaryDirectory()
    var server = try TestServer(in: directory)
    let ana = try server.user("ana")
    server.stop()
    try Self.takeBack(directory)
    server = try TestServer(in: directory)
    let own = try Self.sessions(server, ana)
    #expect(own.count == 1 && own[0]["isCurrent"] == true)
    #expect(own[0]["device"] == .null && own[0]["address"] == .null)
    let login = try Self.logIn(server, [("User-Agent", "new")])
    #expect(try Self.sessions(server, login).contains { $0["device"]?.stringValue == "new" })
  }

  /// Makes the data one of the version before sessions had details.
  private static func takeBack(_ directory: TemporaryDirectory) throws {
    if let address = try TestStorage.address(for: directory.path) {
      for sql in [
        "ALTER TABLE session DROP COLUMN device, DROP COLUMN address, DROP COLUMN used",
        "ALTER TABLE kvstored DROP COLUMN restored",
        "UPDATE kvstored SET version = version - 3",
      ] as [KVServerPostgres.SQL] {
        _ = try PostgresConnection(to: address, setup: sql)
      }
      return
    }
    let data = try ServerDirectory(directory.path + "/data")
    let database = try Database(
      SQLiteSchema.configuration(SQLiteStore.file(in: data.path)),
      migrations: SQLiteSchema.migrations)
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      try connection.execute(
        """
        ALTER TABLE session DROP COLUMN device;
        ALTER TABLE session DROP COLUMN address;
        ALTER TABLE session DROP COLUMN used;
        ALTER TABLE clock DROP COLUMN restored;
        PRAGMA user_version = \(SQLiteSchema.migrations.count - 2);
        """)
    }
    database.close()
    data.unlock()
  }
}
