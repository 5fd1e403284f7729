internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

/// Long answers whose credentials end while they are sent, on both storages.
@Suite("Long answers end with what they were asked with:") struct WatchedStreamTests {
  /// Takes the answer to a request as a connection does, a piece at a time.
  private final class Download: Reply {
    private let response = Monitor<Response?>(nil)
    var isAbandoned: Bool { false }

    func send(_ response: Response) { self.response.withLockNotifyingAll { $0 = $0 ?? response } }

    init(_ server: TestServer, _ who: TestServer.Who, path: String) throws {
      var headers = Headers()
      headers[.authorization] = who.authorization
      headers[.apiVersion] = "5"
      let target = try #require(Target(path))
      server.server.service.handle(
        Request(method: .get, target: target, headers: headers, client: "127.0.0.1"), self)
    }

    /// The next piece; nil at the end.
    func next() throws -> Payload? {
      let response = try #require(response.wait(for: { $0 }))
      guard case .stream(let source, for: _) = response.body else {
        throw TestServer.Missing(what: "stream in an answer \(response.status)")
      }
      return try source.nextPiece()
    }
  }

  private static func reload(_ server: TestServer, _ app: AppCredentials?) {
    server.server.reload {
      var configuration = Server.Configuration(data: server.directory.path + "/data")
      configuration.apps = [app ?? AppCredentials(key: "other", secret: "sec")]
      configuration.allowsInsecureSecrets = true
      return configuration
    }
  }

  private static func app(_ scopes: Set<MasterScope>?) -> AppCredentials {
    var app = AppCredentials(key: "kid", secret: "sec", masterSecret: "mas")
    if let scopes { app.masterSecrets = [named(scopes)] }
    return app
  }

  private static func named(_ scopes: Set<MasterScope>) -> MasterSecret {
    MasterSecret(
      name: "job", sha256: MasterSecret.hash("job"), scopes: scopes,
      expires: Timestamp(milliseconds: 2000))
  }

  enum End: String, CaseIterable {
    case nothing, removed, scope, expired, app, logout, disabled, rule

    var isOfSecret: Bool {
      switch self {
      case .nothing, .removed, .scope, .expired, .app: true
      case .logout, .disabled, .rule: false
      }
    }
  }

  @Test("nothing more is made of them", arguments: End.allCases)
  func pieces(end: End) throws {
    let now = Monitor<Int64>(1000)
    let server = try TestServer {
      $0.apps[0].masterSecrets = [Self.named([.read])]
      $0.liveClock = { now.withLock { $0 } }
    }
    let ana = try server.user("ana")
    let filler = String(repeating: "x", count: 100_000)
    for number in 0..<8 {
      try server.send(
        as: ana, "PUT", "/appdata/kid/long/\(number)", body: "{\"x\":\"\(filler)\"}"
      ).expect(201)
    }
    let job = TestServer.Who.header("Basic " + Base64.encode("kid:job"))
    let download = try Download(server, end.isOfSecret ? job : ana, path: "/appdata/kid/long")
    #expect(try download.next() != nil)
    switch end {
    case .nothing: Self.reload(server, Self.app([.read, .users]))
    case .removed: Self.reload(server, Self.app(nil))
    case .scope: Self.reload(server, Self.app([.users]))
    case .expired: now.withLock { $0 = 2000 }
    case .app: Self.reload(server, nil)
    case .logout: try server.send(as: ana, "POST", "/user/kid/_logout").expect(204)
    case .disabled: try server.send(as: .master, "DELETE", "/user/kid/\(ana.id)").expect(204)
    case .rule:
      try server.send(
        as: .master, "PUT", "/appdata/kid/long/_permissions", body: #"{"read":"never"}"#
      ).expect(200)
    }
    if end == .nothing {
      var count = 1
      while try download.next() != nil { count += 1 }
      #expect(count > 2)
    } else {
      #expect(throws: ServerError.self) { try download.next() }
    }
  }

  @Test("the connection is cut off, so that a part is not taken for the whole")
  func connection() throws {
    let server = try TestServer { $0.apps[0].masterSecrets = [Self.named([.read])] }
    // More than the buffers of a connection take.
    let filler = String(repeating: "x", count: 1_000_000)
    for number in 0..<8 {
      try server.send(
        as: .master, "PUT", "/appdata/kid/long/\(number)", body: "{\"x\":\"\(filler)\"}"
      ).expect(201)
    }
    let connection = try #require(RawConnection(port: server.port))
    connection.send(
      """
      GET /appdata/kid/long HTTP/1.1\r\nHost: x\r\n\
      Authorization: Basic \(Base64.encode("kid:mas"))\r\n\r\n
      """)
    #expect(connection.line() == "HTTP/1.1 200 OK")
    Self.reload(server, AppCredentials(key: "kid", secret: "sec"))
    let rest = connection.drain()
    #expect(rest.count < 8_000_000)
    #expect(!rest.suffix(5).elementsEqual("0\r\n\r\n".utf8))
  }
}
