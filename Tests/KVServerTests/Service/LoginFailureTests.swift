internal import KVBase
internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("Failed logins over HTTP") struct LoginFailureTests {
  /// The fake clock, in seconds.
  private let time = Monitor<Int64>(1_000_000)
  private let server: TestServer

  init() throws {
    let time = time
    server = try TestServer { $0.loginClock = { time.withLock { $0 } * 1_000_000_000 } }
  }

  @Test("are answered 429 with the time to wait, and the right password opens again after it")
  func retryAfter() throws {
    _ = try server.user("ana")
    for _ in 0..<5 { #expect(try logIn("ana", "wrong").status == 401) }
    let refused = try logIn("ana", "pass")
    #expect(refused.status == 429 && refused.error == "TooManyRequests")
    #expect(refused.headers["retry-after"] == "1")
    // A name that nobody has is treated alike.
    for _ in 0..<5 { #expect(try logIn("nobody", "wrong").status == 401) }
    #expect(try logIn("nobody", "wrong").status == 429)
    time.withLock { $0 += 1 }
    #expect(try logIn("ana", "pass").status == 200)
    #expect(try logIn("ana", "pass").status == 200)
  }

  @Test("of others do not end the session of the user, nor keep him from where he has logged in")
  func owner() throws {
    let ana = try server.user("ana")
    #expect(try logIn("ana", "pass").status == 200)
    for _ in 0..<20 { _ = try logIn("ana", "wrong", from: "127.0.0.2") }
    #expect(try logIn("ana", "pass", from: "127.0.0.2").status == 429)
    #expect(try logIn("ana", "pass", from: "127.0.0.3").status == 429)
    #expect(try logIn("ana", "pass").status == 200)
    #expect(try server.send(as: ana, "GET", "/user/kid/_me").status == 200)
  }

  @Test("behind a proxy belong to the client that it names, and to nobody whom the client names")
  func proxy() throws {
    let time = time
    let server = try TestServer {
      $0.loginClock = { time.withLock { $0 } * 1_000_000_000 }
      $0.proxies = [IPAddress("127.0.0.1")].compactMap { $0 }
    }
    for number in 0..<25 {
      _ = try logIn(
        "user-\(number)", "wrong", to: server, forwarded: ["198.51.100.\(number), 203.0.113.9"])
    }
    let attacker = ["192.0.2.1", "203.0.113.9"]
    #expect(try logIn("ana", "wrong", to: server, forwarded: attacker).status == 429)
    #expect(try logIn("ana", "wrong", to: server, forwarded: ["198.51.100.1"]).status == 401)
    // Who is no proxy is not believed.
    let liar = try logIn("ana", "wrong", from: "127.0.0.2", to: server, forwarded: ["203.0.113.9"])
    #expect(liar.status == 401)
  }

  private func logIn(
    _ name: String, _ password: String, from address: String = "127.0.0.1",
    to server: TestServer? = nil,
    forwarded: [String] = []
  ) throws -> HTTPAnswer {
    let body: JSONValue = ["username": .string(name), "password": .string(password)]
    let headers =
      [("Authorization", TestServer.Who.app.authorization ?? "")]
      + forwarded.map { ("X-Forwarded-For", $0) }
    guard let client = HTTPClient(port: (server ?? self.server).port, from: address),
      let answer = client.send("POST", "/user/kid/login", headers: headers, body: body.bytes)
    else { throw TestServer.Missing(what: "answer") }
    return answer
  }
}
