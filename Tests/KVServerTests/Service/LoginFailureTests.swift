internal import KVBase
internal import KVJSON
import Testing

@testable import KVServer

@Suite("Failed logins over HTTP") struct LoginFailureTests {
  /// In seconds.
  private let time = Monitor<Int64>(1_000_000)
  private let rig: Rig

  init() throws {
    let time = time
    rig = try Rig { $0.loginClock = { time.peek { $0 } * 1_000_000_000 } }
  }

  @Test("are answered 429 with the time to wait, and the right password opens again after it")
  func retryAfter() throws {
    _ = try rig.user("ana")
    for _ in 0..<5 { #expect(try logIn("ana", "wrong").status == 401) }
    let refused = try logIn("ana", "pass")
    #expect(refused.status == 429 && refused.error == "TooManyRequests")
    #expect(refused.headers["retry-after"] == "1")
    // A name that nobody has is treated alike.
    for _ in 0..<5 { #expect(try logIn("nobody", "wrong").status == 401) }
    #expect(try logIn("nobody", "wrong").status == 429)
    time.peek { $0 += 1 }
    #expect(try logIn("ana", "pass").status == 200)
    #expect(try logIn("ana", "pass").status == 200)
  }

  @Test("of others do not end the session of the user, nor keep him from where he has logged in")
  func owner() throws {
    let ana = try rig.user("ana")
    #expect(try logIn("ana", "pass").status == 200)
    for _ in 0..<20 { _ = try logIn("ana", "wrong", from: "127.0.0.2") }
    #expect(try logIn("ana", "pass", from: "127.0.0.2").status == 429)
    #expect(try logIn("ana", "pass", from: "127.0.0.3").status == 429)
    #expect(try logIn("ana", "pass").status == 200)
    #expect(try rig.send(ana, "GET", "/user/kid/_me").status == 200)
  }

  private func logIn(
    _ name: String, _ password: String, from address: String = "127.0.0.1"
  ) throws -> HTTPAnswer {
    let body: JSONValue = ["username": .string(name), "password": .string(password)]
    guard let client = HTTPClient(port: rig.port, from: address),
      let answer = client.send(
        "POST", "/user/kid/login", headers: [("Authorization", Rig.Who.app.authorization ?? "")],
        body: body.bytes)
    else { throw Rig.Missing(what: "answer") }
    return answer
  }
}
