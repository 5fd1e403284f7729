internal import KVBase
internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Credentials and headers") struct CredentialTests {
  private let server: TestServer

  init() throws { server = try TestServer() }

  @Test("that are missing, malformed or wrong are refused, whatever is asked for")
  func invalid() throws {
    let values: [TestServer.Who] = [
      .nobody, .header("Basic"), .header("Basic !!!"), .header("Basic a2lk"),
      .header("Basic a2lkOndyb25n"), .header("Basic b3RoZXI6c2Vj"), .header("Kinvey"),
      .header("Kinvey 0123"), .header("Bearer x"), .header("x"),
    ]
    for who in values {
      for path in ["/appdata/kid", "/appdata/kid/notes", "/appdata/kid/notes/1", "/user/kid/_me"] {
        let answer = try server.send(as: who, "GET", path)
        #expect(answer.status == 401 && answer.error == "InvalidCredentials", "\(who) \(path)")
        #expect(answer.headers["www-authenticate"] != nil)
      }
    }
  }

  @Test("of the app serve to ping and to log in, not to read data")
  func app() throws {
    let ping = try server.send(as: .app, "GET", "/appdata/kid")
    #expect(ping.status == 200 && ping.json["version"]?.stringValue == Version.text)
    for (method, path, body) in [
      ("GET", "/appdata/kid/notes", nil), ("GET", "/appdata/kid/notes/1", nil),
      ("POST", "/appdata/kid/notes", "{}"), ("PUT", "/appdata/kid/notes/1", "{}"),
      ("DELETE", "/appdata/kid/notes/1", nil), ("DELETE", "/appdata/kid/notes?query={}", nil),
      ("GET", "/appdata/kid/notes/_count", nil), ("GET", "/user/kid/_me", nil),
      ("POST", "/user/kid/_logout", nil), ("GET", "/appdata/kid/notes/_permissions", nil),
    ] as [(String, String, String?)] {
      let answer = try server.send(as: .app, method, path, body: body)
      #expect(
        answer.status == 401 && answer.error == "InsufficientCredentials", "\(method) \(path)")
    }
  }

  @Test("are of no use in an app that there is not")
  func unknownApp() throws {
    let answer = try server.send(as: .app, "GET", "/appdata/other")
    #expect(answer.status == 404 && answer.error == "AppNotFound")
  }

  @Test("end when the session is too old")
  func expiry() throws {
    let server = try TestServer { $0.sessionDays = 0 }
    let ana = try server.user("ana")
    #expect(try server.send(as: ana, "GET", "/user/kid/_me").error == "InvalidCredentials")
  }

  @Test("end after a time without use, which each use puts off, and in the end in any case")
  func idle() throws {
    let server = try TestServer {
      $0.sessionIdleDays = 30
      $0.sessionDays = 180
    }
    let ana = try server.user("ana")
    func end() throws -> String {
      let list = try server.send(as: .master, "GET", "/user/kid/_sessions").expect(200)
      return list.json.arrayValue?.first?["expires"]?.stringValue ?? "never"
    }
    #expect(try end().prefix(10) == Self.day(after: 30))
    try server.send(as: ana, "GET", "/user/kid/_me").expect(200)
    #expect(try end().prefix(10) == Self.day(after: 30))
  }

  private static func day(after days: Int64) -> Substring {
    let now = Timestamp.now().milliseconds
    return Timestamp(milliseconds: now + days * 86_400_000).description.prefix(10)
  }

  @Test("are followed by the request's id and API version in every answer")
  func marks() throws {
    let id = ("X-Kinvey-Request-Id", "my-request-7")
    for (path, version) in [("/appdata/kid", 3), ("/nowhere", 5), ("/appdata/kid/x/y/z", 6)] {
      let answer = try server.send(as: .app, "GET", path, version: version, headers: [id])
      #expect(answer.headers["x-kinvey-request-id"] == "my-request-7")
      #expect(answer.headers["x-kinvey-api-version"] == String(version))
    }
    let own = try server.send(as: .app, "GET", "/appdata/kid")
    #expect(own.headers["x-kinvey-request-id"]?.utf8.count == 36)
    let long = ("X-Kinvey-Request-Id", String(repeating: "x", count: 500))
    let replaced = try server.send(as: .app, "GET", "/appdata/kid", headers: [long])
    #expect(replaced.headers["x-kinvey-request-id"]?.utf8.count == 36)
  }

  @Test("come with an API version that the server knows")
  func versions() throws {
    let newer = try server.send(as: .app, "GET", "/appdata/kid", version: 7)
    #expect(newer.status == 501 && newer.error == "APIVersionNotImplemented")
    let older = try server.send(as: .app, "GET", "/appdata/kid", version: 0)
    #expect(older.status == 400 && older.error == "APIVersionNotAvailable")
    let none = try server.send(
      as: .app, "GET", "/appdata/kid", version: nil, headers: [("X-Kinvey-API-Version", "new")])
    #expect(none.status == 400 && none.error == "APIVersionNotAvailable")
  }
}

@Suite("Routing over HTTP") struct RoutingTests {
  private let server: TestServer

  init() throws { server = try TestServer() }

  @Test("answers the health check without credentials")
  func health() throws {
    let answer = try server.send(as: .nobody, "GET", "/healthz")
    #expect(answer.status == 200 && answer.text == #"{"status":"ok"}"#)
  }

  @Test("answers paths that lead nowhere with 404")
  func unknown() throws {
    for path in ["/", "/x", "/appdata", "/user", "/rpc/kid/x", "/appdata/kid/a/b/c"] {
      let answer = try server.send(as: .app, "GET", path)
      #expect(answer.status == 404 && answer.error == "NotFound", "\(path)")
    }
  }

  @Test("answers wrong methods with 405 and those that are allowed")
  func methods() throws {
    let cases: [(String, String, String)] = [
      ("PATCH", "/appdata/kid/notes", "GET, HEAD, POST, DELETE"),
      ("POST", "/appdata/kid/notes/1", "GET, HEAD, PUT, PATCH, DELETE"),
      ("PUT", "/appdata/kid/notes", "GET, HEAD, POST, DELETE"),
      ("POST", "/appdata/kid", "GET, HEAD"), ("GET", "/user/kid/login", "POST"),
      ("OPTIONS", "/healthz", "GET, HEAD"), ("GET", "/user/kid/u/tokens", "DELETE"),
    ]
    for (method, path, allowed) in cases {
      let answer = try server.send(as: .nobody, method, path)
      #expect(answer.status == 405 && answer.error == "MethodNotAllowed", "\(method) \(path)")
      #expect(answer.headers["allow"] == allowed, "\(method) \(path)")
    }
  }
}
