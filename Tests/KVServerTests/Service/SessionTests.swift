internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Sessions over HTTP") struct SessionTests {
  private let server: TestServer

  init() throws { server = try TestServer() }

  @Test("that start while the password changes are ended by it")
  func passwordRace() throws {
    for round in 0..<10 {
      let ana = try server.user("ana\(round)", password: "old")
      let server = self.server
      let answers = concurrently(5) { thread -> HTTPAnswer? in
        if thread == 2 {
          return try? server.send(
            as: ana, "PUT", "/user/kid/\(ana.id)", body: #"{"password":"new"}"#)
        }
        return try? Self.logIn(server, as: "ana\(round)", password: "old")
      }
      for answer in answers where answer.json["_kmd"]?["authtoken"] != nil {
        try expectEnded(answer, but: ana)
      }
      #expect(try server.send(as: ana, "GET", "/user/kid/_me").status == 200)
    }
  }

  @Test(
    "that start while the user is disabled or deleted are ended by it",
    arguments: ["", "?hard=true"])
  func deletionRace(how: String) throws {
    for round in 0..<10 {
      let ana = try server.user("ana\(round)", password: "old")
      let server = self.server
      let answers = concurrently(5) { thread -> HTTPAnswer? in
        if thread == 2 {
          return try? server.send(as: .master, "DELETE", "/user/kid/\(ana.id)\(how)")
        }
        return try? Self.logIn(server, as: "ana\(round)", password: "old")
      }
      for answer in answers where answer.status == 200 { try expectEnded(answer) }
      #expect(try server.send(as: ana, "GET", "/user/kid/_me").status == 401)
    }
  }

  @Test("of a user whose id differs only in its spelling go on when all of the other's are ended")
  func spelling() throws {
    let composed = try user(id: "caf\u{E9}")
    let decomposed = try user(id: "cafe\u{301}")
    #expect(try server.send(as: .master, "DELETE", "/user/kid/caf%C3%A9/tokens").status == 204)
    #expect(try server.send(as: composed, "GET", "/user/kid/_me").status == 401)
    #expect(try server.send(as: decomposed, "GET", "/user/kid/_me").status == 200)
    let others = try server.send(as: decomposed, "DELETE", "/user/kid/caf%C3%A9/tokens")
    #expect(others.error == "InsufficientCredentials")
  }

  @Test("of a user who may write to another do not let him set name or password, nor delete")
  func writers() throws {
    let (ana, bob) = (try server.user("ana"), try server.user("bob"))
    let path = "/user/kid/\(ana.id)"
    let shared = try server.send(as: ana, "PUT", path, body: #"{"_acl":{"w":["\#(bob.id)"]}}"#)
    #expect(shared.json["_acl"]?["w"] == [.string(bob.id)])
    #expect(
      try server.send(as: bob, "PUT", path, body: #"{"age":8,"username":"ana"}"#).json["age"] == 8)
    for change in [#"{"password":"stolen"}"#, #"{"username":"other"}"#, #"{"password":""}"#] {
      let answer = try server.send(as: bob, "PUT", path, body: change)
      #expect(answer.status == 401 || answer.error == "InputValidationFailed", "\(change)")
    }
    for how in ["", "?hard=true"] {
      #expect(try server.send(as: bob, "DELETE", path + how).error == "InsufficientCredentials")
    }
    #expect(try Self.logIn(server, as: "ana", password: "pass").status == 200)
    #expect(try server.send(as: .master, "PUT", path, body: #"{"password":"reset"}"#).status == 200)
    #expect(try Self.logIn(server, as: "ana", password: "reset").status == 200)
  }

  @Test("tell when the user logged in last, without changing when he was changed")
  func lastLogin() throws {
    let ana = try server.user("ana")
    let before = try server.send(as: ana, "GET", "/user/kid/_me").json["_kmd"]
    #expect(before?["llt"] == nil)
    let login = try Self.logIn(server, as: "ana", password: "pass")
    let last = try #require(login.json["_kmd"]?["llt"]?.stringValue)
    let after = try server.send(as: ana, "PUT", "/user/kid/\(ana.id)", body: #"{"age":1}"#).json[
      "_kmd"]
    #expect(after?["llt"]?.stringValue == last)
    #expect(login.json["_kmd"]?["lmt"] == before?["lmt"])
    #expect(after?["lmt"] != before?["lmt"])
  }

  @Test("are shown to their user, who ends one of them and none of another user's")
  func ownSessions() throws {
    let (ana, eve) = (try server.user("ana"), try server.user("eve"))
    let login = try Self.logIn(server, as: "ana", password: "pass").expect(200)
    let token = try #require(login.json["_kmd"]?["authtoken"]?.stringValue)
    let device = TestServer.Who.user(id: ana.id, token: token)
    let path = "/user/kid/_sessions"
    let answer = try server.send(as: ana, "GET", path).expect(200)
    let list = answer.json.arrayValue ?? []
    #expect(list.count == 2 && list.allSatisfy { $0["user"]?.stringValue == ana.id })
    #expect(!answer.text.contains(token))
    let other = list.first { $0["isCurrent"] == nil }?["_id"]?.stringValue
    let name = try #require(other)
    #expect(list.filter { $0["isCurrent"] == true }.count == 1)
    // What is known of the session in memory ends, too.
    try server.send(as: device, "GET", "/user/kid/_me").expect(200)
    try server.send(as: eve, "DELETE", "\(path)/\(name)").expect(404)
    #expect(try server.send(as: eve, "GET", "\(path)?user=\(ana.id)").status == 401)
    #expect(try server.send(as: .app, "GET", path).status == 401)
    try server.send(as: ana, "DELETE", "\(path)/\(name)").expect(204)
    try server.send(as: device, "GET", "/user/kid/_me").expect(401)
    try server.send(as: ana, "GET", "/user/kid/_me").expect(200)
    try server.send(as: ana, "DELETE", "\(path)/\(name)").expect(404)
    let last = try server.send(as: .master, "GET", "\(path)?user=\(ana.id)").json
    let id = try #require(last.arrayValue?.first?["_id"]?.stringValue)
    try server.send(as: .master, "DELETE", "\(path)/\(id)?user=\(eve.id)").expect(404)
    try server.send(as: .master, "DELETE", "\(path)/\(id)").expect(204)
    try server.send(as: ana, "GET", "/user/kid/_me").expect(401)
  }

  private static func logIn(_ server: TestServer, as name: String, password: String) throws
    -> HTTPAnswer
  {
    try server.send(
      as: .app, "POST", "/user/kid/login",
      body: "{\"username\":\"\(name)\",\"password\":\"\(password)\"}")
  }

  private func user(id: String) throws -> TestServer.Who {
    let user: JSONValue = ["username": .string("u-\(id)"), "password": "p", "_id": .string(id)]
    let answer = try server.send(as: .master, "POST", "/user/kid", body: user.text)
    let token = try #require(answer.json["_kmd"]?["authtoken"]?.stringValue)
    return .user(id: id, token: token)
  }

  private func expectEnded(_ login: HTTPAnswer, but who: TestServer.Who = .nobody) throws {
    let token = try #require(login.json["_kmd"]?["authtoken"]?.stringValue)
    if case .user(_, token) = who { return }
    let answer = try server.send(as: .user(id: "", token: token), "GET", "/user/kid/_me")
    #expect(answer.status == 401 && answer.error == "InvalidCredentials")
  }
}
