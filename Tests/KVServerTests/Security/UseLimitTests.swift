import KVBase
import KVJSON
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("Limits of what clients add") struct UseLimitTests {
  private let time = Monitor<Int64>(1_000_000)

  private func server(_ configure: (inout Server.Configuration) -> Void) throws -> TestServer {
    let time = time
    return try TestServer {
      $0.loginClock = { time.withLock { $0 } * 1_000_000_000 }
      configure(&$0)
    }
  }

  @Test("let something be done so many times within an hour, by each key")
  func rate() {
    let time = time
    let limit = RateLimit(perHour: 3) { time.withLock { $0 } * 1_000_000_000 }
    for _ in 0..<3 { #expect(limit.take("a") == nil) }
    #expect(limit.take("a") == 1200 && limit.take("a") == 1200 && limit.take("b") == nil)
    time.withLock { $0 += 1200 }
    #expect(limit.take("a") == nil && limit.take("a") != nil)
    time.withLock { $0 += 7200 }
    for _ in 0..<3 { #expect(limit.take("a") == nil) }
    #expect(limit.take("a") != nil)
    let none = RateLimit(perHour: 0) { 0 }
    for _ in 0..<100 { #expect(none.take("a") == nil) }
  }

  @Test("bound sign-ups from one address, but not those of the administrator")
  func signUps() throws {
    let server = try server { $0.useLimits.signUpsPerHour = 3 }
    func signUp(_ who: TestServer.Who) throws -> HTTPAnswer {
      try server.send(as: who, "POST", "/user/kid", body: "{}")
    }
    for _ in 0..<3 { try signUp(.app).expect(201) }
    let refused = try signUp(.app)
    #expect(refused.status == 429 && refused.headers["retry-after"] == "1200")
    try signUp(.master).expect(201)
    time.withLock { $0 += 1200 }
    try signUp(.app).expect(201)
  }

  @Test("bound the collections of a user and of an app")
  func collections() throws {
    let server = try server {
      $0.useLimits.collectionsPerHour = 2
      $0.useLimits.collections = 3
    }
    let (ana, bob) = (try server.user("ana"), try server.user("bob"))
    func write(_ who: TestServer.Who, _ name: String) throws -> HTTPAnswer {
      try server.send(as: who, "POST", "/appdata/kid/\(name)", body: "{}")
    }
    for name in ["a", "b", "a", "b"] { try write(ana, name).expect(201) }
    let refused = try write(ana, "c")
    #expect(refused.status == 429 && refused.headers["retry-after"] == "1800")
    let batch = #"[{"method":"PUT","id":"x","entity":{}}]"#
    try server.send(as: ana, "POST", "/appdata/kid/d/_batch", body: batch).expect(429)
    try server.send(as: ana, "PUT", "/appdata/kid/e/1", body: "{}").expect(429)
    try write(ana, "a").expect(201)
    try write(bob, "c").expect(201)
    #expect(try write(bob, "d").error == "WritesToCollectionDisallowed")
    try write(.master, "d").expect(201)
    try write(bob, "d").expect(201)
  }

  @Test("bound the sessions of a user")
  func sessions() throws {
    let server = try server { $0.useLimits.sessionsPerUser = 3 }
    let ana = try server.user("ana")
    let login = #"{"username":"ana","password":"pass"}"#
    for _ in 0..<2 { try server.send(as: .app, "POST", "/user/kid/login", body: login).expect(200) }
    let refused = try server.send(as: .app, "POST", "/user/kid/login", body: login)
    #expect(refused.status == 429 && refused.headers["retry-after"] != nil)
    try server.send(as: ana, "POST", "/user/kid/_logout").expect(204)
    try server.send(as: .app, "POST", "/user/kid/login", body: login).expect(200)
  }

  @Test("of connections keep some for the health check and the administrator")
  func connections() throws {
    let server = try server {
      $0.limits.connections = 4
      $0.limits.connectionsPerAddress = 0
    }
    let clients = try (0..<4).map { _ in try server.client() }
    for client in clients { #expect(client.send("GET", "/healthz")?.status == 200) }
    try server.send(as: .nobody, "GET", "/healthz").expect(200)
    try server.send(as: .master, "GET", "/appdata/kid").expect(200)
    try server.send(as: .master, "GET", "/metrics").expect(200)
    let refused = try server.send(as: .app, "GET", "/appdata/kid")
    #expect(refused.status == 503 && refused.headers["retry-after"] != nil)
    _ = clients
  }
}
