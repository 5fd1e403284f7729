internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("The audit log of a server") struct AuditTests {
  private let directory = TemporaryDirectory()
  private let server: TestServer
  private var path: String { directory.file("audit.log") }

  init() throws {
    let path = directory.file("audit.log")
    server = try TestServer(in: directory) { $0.auditLog = path }
  }

  private var lines: [JSONValue] {
    get throws {
      try (contents(of: path) ?? []).split(separator: 0x0A).map {
        try JSONValue(parsing: Array($0))
      }
    }
  }

  /// The last lines as `action actor subject outcome`.
  private func last(_ count: Int) throws -> [String] {
    try lines.suffix(count).map { line in
      ["action", "actor", "subject", "outcome"].map { line[$0]?.stringValue ?? "-" }
        .joined(separator: " ")
    }
  }

  /// Sends a request, and gives what it has added.
  private func added(
    as who: TestServer.Who, _ method: String, _ target: String, body: String? = nil,
    headers: [(String, String)] = []
  ) throws -> [String] {
    let before = try lines.count
    _ = try server.send(as: who, method, target, body: body, headers: headers)
    return try last(lines.count - before)
  }

  @Test("has what is done to accounts and sessions, and by whom")
  func accounts() throws {
    let ana = try server.user("ana")
    let id = ana.id
    #expect(try last(1) == ["user.create app \(id) success"])
    let login = #"{"username":"ana","password":"pass"}"#
    #expect(
      try added(as: .app, "POST", "/user/kid/login", body: login)
        == ["session.begin app \(id) success"])
    for (who, method, path, body, expected) in [
      (ana, "PUT", "/user/kid/\(id)", #"{"age":1}"#, "user.change user:\(id) \(id) success"),
      (
        ana, "PUT", "/user/kid/\(id)", #"{"password":"x"}"#,
        "user.password user:\(id) \(id) success"
      ),
      (
        .master, "PUT", "/user/kid/\(id)/_password", #"{"password":"pass"}"#,
        "user.password master \(id) success"
      ),
      (.master, "DELETE", "/user/kid/\(id)", nil, "user.disable master \(id) success"),
      (.master, "POST", "/user/kid/\(id)/_restore", nil, "user.restore master \(id) success"),
      (
        .master, "PUT", "/user/kid/\(id)/_identity",
        #"{"issuer":"https://i.example","subject":"1"}"#, "user.link master \(id) success"
      ),
      (.master, "DELETE", "/user/kid/\(id)/_identity", nil, "user.unlink master \(id) success"),
      (
        .master, "POST", "/user/kid/_invitations", #"{"username":"bob"}"#,
        "user.invite master bob success"
      ),
      (.master, "DELETE", "/user/kid/\(id)/tokens", nil, "session.end-all master \(id) success"),
      (.master, "DELETE", "/user/kid/\(id)?hard=true", nil, "user.delete master \(id) success"),
    ] as [(TestServer.Who, String, String, String?, String)] {
      #expect(try added(as: who, method, path, body: body) == [expected])
    }
    let bob = try server.user("bob")
    #expect(
      try added(as: bob, "POST", "/user/kid/_logout")
        == ["session.end user:\(bob.id) \(bob.id) success"])
  }

  @Test("has failed logins, wrong secrets, and what users must not do")
  func refusals() throws {
    let ana = try server.user("ana")
    func login(_ name: String) -> String { "{\"username\":\"\(name)\",\"password\":\"wrong\"}" }
    #expect(
      try added(as: .app, "POST", "/user/kid/login", body: login("ana"))
        == ["session.begin app \(ana.id) refused"])
    // A name that no user has may be a password.
    #expect(
      try added(as: .app, "POST", "/user/kid/login", body: login("Tr0ub4dor"))
        == ["session.begin app - refused"])
    #expect(
      try added(
        as: ana, "PUT", "/appdata/kid/books/_permissions", body: #"{"read":"always"}"#)
        == ["permissions.change user:\(ana.id) books refused"])
    #expect(
      try added(as: ana, "DELETE", "/user/kid/somebody")
        == ["user.disable user:\(ana.id) somebody refused"])
    let text = String(decoding: contents(of: path) ?? [], as: UTF8.self)
    for secret in ["Tr0ub4dor", "wrong", "pass\"", "mas\""] { #expect(!text.contains(secret)) }
  }

  @Test("has a wrong secret, with the address it came from")
  func wrongSecret() throws {
    _ = try server.send(as: .header("Basic a2lkOndyb25n"), "GET", "/appdata/kid/books")
    // The event thread has another one write the line.
    server.stop()
    let line = try #require(try lines.first { $0["action"] == "secret.check" })
    #expect(line["outcome"] == "refused" && line["actor"] == .null)
    #expect(line["address"] == "127.0.0.1" && line["app"] == "kid")
  }

  @Test("has changes of rights, groups, indexes and collections")
  func settings() throws {
    let books = "/appdata/kid/books"
    for (method, path, body, expected) in [
      (
        "PUT", "\(books)/_permissions", #"{"read":"always"}"#,
        "permissions.change master books success"
      ),
      (
        "PUT", "\(books)/_history", #"{"enabled":true,"days":3}"#,
        "history.change master books success"
      ),
      (
        "PUT", "\(books)/_indexes", #"{"name":"t","keys":{"t":1}}"#,
        "index.add master books/t success"
      ),
      ("DELETE", "\(books)/_indexes?name=t", nil, "index.remove master books/t success"),
      ("POST", "\(books)/_rename", #"{"name":"tomes"}"#, "collection.rename master books success"),
      ("PUT", "/group/kid/g1", #"{"users":{"list":[]}}"#, "group.change master g1 success"),
      ("DELETE", "/group/kid/g1", nil, "group.delete master g1 success"),
    ] as [(String, String, String?, String)] {
      #expect(try added(as: .master, method, path, body: body) == [expected])
    }
    #expect(
      try added(
        as: .master, "POST", "/rpc/kid/remove-collection", body: #"{"collectionName":"tomes"}"#,
        headers: [("X-Kinvey-Delete-Entire-Collection", "true")])
        == ["collection.remove master tomes success"])
  }

  @Test("has the administrator's reads and writes of data once a minute, and none of users'")
  func data() throws {
    let ana = try server.user("ana")
    #expect(try added(as: ana, "PUT", "/appdata/kid/books/1", body: #"{"a":1}"#).isEmpty)
    #expect(try added(as: ana, "GET", "/appdata/kid/books").isEmpty)
    let read = ["data.read master books success"]
    #expect(try added(as: .master, "GET", "/appdata/kid/books") == read)
    #expect(try added(as: .master, "GET", "/appdata/kid/books/1").isEmpty)
    #expect(
      try added(as: .master, "PUT", "/appdata/kid/books/1", body: #"{"a":2}"#)
        == ["data.write master books success"])
    #expect(try added(as: .master, "GET", "/user/kid") == ["data.read master user success"])
  }

  @Test("has the start and the end of the server, and the id of each request")
  func frame() throws {
    _ = try server.send(
      as: .app, "POST", "/user/kid", body: "{}", headers: [("X-Request-Id", "request-1")])
    server.stop()
    let lines = try lines
    #expect(
      lines.compactMap { $0["action"]?.stringValue } == [
        "server.start", "user.create", "server.stop",
      ])
    #expect(lines[1]["requestId"] == "request-1" && lines[1]["address"] == "127.0.0.1")
  }

  @Test("has the apps that a reload adds, changes and removes")
  func apps() throws {
    var configuration = Server.Configuration(data: directory.path + "/data")
    configuration.allowsInsecureSecrets = true
    for keys in [["kid", "new"], ["new"]] {
      configuration.apps = keys.map { .init(key: $0, secret: "sec", masterSecret: "other") }
      server.server.reload { configuration }
    }
    #expect(
      try last(3).sorted() == [
        "app.add server new success", "app.change server kid success",
        "app.remove server kid success",
      ])
  }
}
