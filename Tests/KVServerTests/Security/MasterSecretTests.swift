import KVBase
import KVJSON
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Named master secrets") struct MasterSecretTests {
  private static func secret(of name: String) -> String { "the secret of \(name)" }

  private static func named(
    _ name: String, _ scopes: Set<MasterScope>, expires: Timestamp? = nil
  ) -> MasterSecret {
    MasterSecret(
      name: name, sha256: MasterSecret.hash(secret(of: name)), scopes: scopes, expires: expires)
  }

  private static let all = MasterScope.allCases.map { named($0.rawValue, [$0]) }

  private static func basic(_ secret: String) -> TestServer.Who {
    .header("Basic " + Base64.encode("kid:\(secret)"))
  }

  private static func who(_ name: String) -> TestServer.Who {
    basic(secret(of: name))
  }

  /// Each request that an administrator may make, and the scopes that are enough for it.
  private static func requests(
    user: String
  ) -> [(String, String, String?, [(String, String)], Set<MasterScope>)] {
    let sweep = [("X-Kinvey-Delete-Entire-Collection", "true")]
    let reading: [(String, String, String?, [(String, String)], Set<MasterScope>)] = [
      ("GET", "/appdata/kid/notes", nil, [], [.read, .data]),
      ("GET", "/appdata/kid/notes/a", nil, [], [.read, .data]),
      ("HEAD", "/appdata/kid/notes/a", nil, [], [.read, .data]),
      ("GET", "/appdata/kid/notes/_count", nil, [], [.read, .data]),
      (
        "POST", "/appdata/kid/notes/_group",
        #"{"key":{},"initial":{"count":0},"reduce":"function(doc,out){ out.count++; }"}"#, [],
        [.read, .data]
      ),
      ("GET", "/user/kid", nil, [], [.read, .users]),
      ("GET", "/user/kid/\(user)", nil, [], [.read, .users]),
      ("POST", "/user/kid/_lookup", #"{"username":"ana"}"#, [], [.read, .users]),
      ("POST", "/rpc/kid/check-username-exists", #"{"username":"ana"}"#, [], [.read, .users]),
      ("GET", "/user/kid/_sessions", nil, [], [.read, .users]),
      ("GET", "/group/kid", nil, [], [.read, .users]),
      ("GET", "/appdata/kid/notes/_permissions", nil, [], [.read, .admin]),
      ("GET", "/appdata/kid/notes/_history", nil, [], [.read, .admin]),
      ("GET", "/appdata/kid/notes/_indexes", nil, [], [.read, .admin]),
      ("GET", "/stream/kid/chat/\(user)", nil, [], [.read, .admin]),
      ("GET", "/stream/kid/chat/_substreams", nil, [], [.read, .admin]),
      ("GET", "/metrics", nil, [], [.read, .admin]),
    ]
    let writing: [(String, String, String?, [(String, String)], Set<MasterScope>)] = [
      ("POST", "/appdata/kid/notes", #"{"x":1}"#, [], [.data]),
      ("PUT", "/appdata/kid/notes/a", #"{"x":1}"#, [], [.data]),
      (
        "POST", "/appdata/kid/notes/_batch",
        #"[{"method":"PUT","id":"b","entity":{"x":1}}]"#, [], [.data]
      ),
      ("DELETE", "/appdata/kid/notes/b", nil, [], [.data]),
      ("DELETE", "/appdata/kid/notes?query=%7B%22x%22%3A7%7D", nil, [], [.data]),
      ("PUT", "/user/kid/\(user)", #"{"age":1}"#, [], [.users]),
      ("PUT", "/user/kid/\(user)/_password", #"{"password":"another"}"#, [], [.users]),
      ("PUT", "/user/kid/\(user)/_identity", #"{"issuer":"i","subject":"s"}"#, [], [.users]),
      ("POST", "/user/kid/_invitations", #"{"username":"new"}"#, [], [.users]),
      ("DELETE", "/user/kid/\(user)/tokens", nil, [], [.users]),
      ("DELETE", "/user/kid/_sessions/none", nil, [], [.users]),
      ("DELETE", "/user/kid/\(user)", nil, [], [.users]),
      ("POST", "/user/kid/\(user)/_restore", nil, [], [.users]),
      ("POST", "/group/kid", #"{"users":{"list":[]}}"#, [], [.users]),
      ("PUT", "/appdata/kid/notes/_permissions", #"{"read":"acl"}"#, [], [.admin]),
      ("PUT", "/appdata/kid/notes/_history", #"{"days":7}"#, [], [.admin]),
      ("PUT", "/appdata/kid/notes/_indexes", #"{"name":"i","keys":{"x":1}}"#, [], [.admin]),
      ("DELETE", "/appdata/kid/notes/_indexes?name=i", nil, [], [.admin]),
      ("PUT", "/stream/kid/chat/\(user)", #"{"subscribe":[],"publish":[]}"#, [], [.admin]),
      ("POST", "/appdata/kid/notes/_rename", #"{"name":"notes"}"#, [], [.admin]),
      ("POST", "/rpc/kid/custom/none", "{}", [], [.admin]),
      ("POST", "/rpc/kid/remove-collection", #"{"collectionName":"notes"}"#, sweep, [.admin]),
    ]
    return reading + writing
  }

  @Test("are refused what is not in their scopes, and that alone, whatever the request is")
  func matrix() throws {
    let server = try TestServer { $0.apps[0].masterSecrets = Self.all }
    let user = try server.user("ana").id
    for (method, target, body, headers, enough) in Self.requests(user: user) {
      for scope in MasterScope.allCases {
        // What is there at the start of each request.
        _ = try server.send(as: .master, "PUT", "/appdata/kid/notes/a", body: #"{"x":1}"#)
        _ = try server.send(as: .master, "POST", "/user/kid/\(user)/_restore")
        let answer = try server.send(
          as: Self.who(scope.rawValue), method, target, body: body, headers: headers)
        let isRefused = answer.status == 401
        #expect(isRefused == !enough.contains(scope), "\(scope) \(method) \(target) \(answer.text)")
        if !isRefused { #expect(answer.status != 404 || target.contains("none"), "\(target)") }
      }
    }
  }

  @Test("for rules of collections do not remove all users by the request that removes a collection")
  func removingUsers() throws {
    let server = try TestServer { $0.apps[0].masterSecrets = Self.all }
    let user = try server.user("ana").id
    let answer = try server.send(
      as: Self.who("admin"), "POST", "/rpc/kid/remove-collection",
      body: #"{"collectionName":"user"}"#,
      headers: [("X-Kinvey-Delete-Entire-Collection", "true")])
    #expect(answer.error == "InsufficientCredentials")
    #expect(try server.send(as: .master, "GET", "/user/kid/\(user)").status == 200)
  }

  @Test("are good until they end; the one beside the app's secret goes on")
  func ends() throws {
    let now = Monitor<Int64>(1000)
    let server = try TestServer {
      $0.apps[0].masterSecrets = [
        Self.named("old", [.read], expires: Timestamp(milliseconds: 2000)),
        Self.named("new", [.read]),
      ]
      $0.liveClock = { now.withLock { $0 } }
    }
    func status(_ who: TestServer.Who) throws -> Int {
      try server.send(as: who, "GET", "/user/kid").status
    }
    #expect(try status(Self.who("old")) == 200)
    #expect(try status(Self.who("new")) == 200)
    now.withLock { $0 = 2000 }
    #expect(try status(Self.who("old")) == 401)
    #expect(try status(Self.who("new")) == 200)
    #expect(try status(.master) == 200)
    #expect(try status(Self.basic(Self.all[0].sha256)) == 401)
  }

  @Test("come and go at a reload, with an overlap, and invitations go on")
  func rotation() throws {
    let server = try TestServer { $0.apps[0].masterSecrets = [Self.named("one", [.users])] }
    func reload(_ change: (inout AppCredentials) -> Void) throws {
      var app = AppCredentials(key: "kid", secret: "sec")
      app.seal = "sealed with this"
      change(&app)
      server.server.reload {
        var configuration = Server.Configuration(data: server.directory.path + "/data")
        configuration.apps = [app]
        configuration.allowsInsecureSecrets = true
        configuration.signUp = SignUpRules()
        return configuration
      }
    }
    func status(_ name: String) throws -> Int {
      try server.send(as: Self.who(name), "GET", "/user/kid").status
    }
    #expect(try status("one") == 200)
    #expect(try status("two") == 401)
    try reload { $0.masterSecrets = [Self.named("one", [.users]), Self.named("two", [.users])] }
    #expect(try status("one") == 200)
    #expect(try status("two") == 200)
    try reload { $0.masterSecrets = [Self.named("two", [.users])] }
    #expect(try status("one") == 401)
    #expect(try status("two") == 200)
    #expect(try server.send(as: .master, "GET", "/user/kid").status == 401)
  }

  @Test("are named in the audit log, also when they are refused")
  func audit() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("audit.log")
    let server = try TestServer(in: directory) {
      $0.apps[0].masterSecrets = Self.all
      $0.auditLog = path
    }
    _ = try server.send(as: Self.who("data"), "PUT", "/appdata/kid/notes/a", body: "{}")
    _ = try server.send(
      as: Self.who("data"), "PUT", "/appdata/kid/notes/_permissions", body: #"{"read":"acl"}"#)
    server.stop()
    let lines = try (contents(of: path) ?? []).split(separator: 0x0A).map {
      try JSONValue(parsing: Array($0))
    }
    let told = lines.map { line in
      ["action", "actor", "outcome"].map { line[$0]?.stringValue ?? "-" }.joined(separator: " ")
    }
    #expect(told.contains("data.write master:data success"))
    #expect(told.contains("permissions.change master:data refused"))
  }

  // MARK: In files

  @Test("stand in a file as objects, and are written back as they were read")
  func text() throws {
    let text =
      #"{"key":"kid","secret":"s","seal":"0123456789abcdef","masterSecrets":"#
      + #"[{"name":"ops","sha256":"\#(MasterSecret.hash("x"))","scopes":["read","users"],"#
      + #""expires":"2027-01-31T00:00:00.000Z"}]}"#
    let app = try AppCredentials.read(text)
    #expect(app.json.text == text)
    #expect(app.masterSecrets.first?.scopes == [.read, .users])
    #expect(try AppCredentials.read("kid:s:m") == .init(key: "kid", secret: "s", masterSecret: "m"))
  }

  @Test(
    "that cannot be meant are an error",
    arguments: [
      #""sha256":"abc","name":"ops","scopes":["read"]"#,
      #""sha256":"HASH","name":"o:s","scopes":["read"]"#,
      #""sha256":"HASH","name":"ops","scopes":[]"#,
      #""sha256":"HASH","name":"ops","scopes":["all"]"#,
      #""sha256":"HASH","name":"ops","scopes":["read"],"expires":"soon""#,
      #""sha256":"HASH","name":"ops","scopes":["read"],"other":1"#,
      #""sha256":"HASH","name":"plain","scopes":["read"]"#,
      #""sha256":"HASH","name":"ops","scopes":["read"]},{"sha256":"OTHER","name":"ops","scopes":["read"]"#,
      #""sha256":"HASH","name":"ops","scopes":["read"]},{"sha256":"HASH","name":"oth","scopes":["read"]"#,
    ])
  func faults(master: String) {
    let master =
      master.split(separator: "HASH", omittingEmptySubsequences: false)
      .joined(separator: MasterSecret.hash("x"))
      .split(separator: "OTHER", omittingEmptySubsequences: false)
      .joined(separator: MasterSecret.hash("y"))
    #expect(throws: Arguments.Misuse.self) {
      try AppCredentials.read(
        #"{"key":"kid","secret":"s","seal":"0123456789abcdef","masterSecrets":[{\#(master)}]}"#)
    }
  }
}
