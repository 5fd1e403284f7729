internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Users over HTTP") struct UserTests {
  private let server: TestServer

  init() throws { server = try TestServer() }

  private let ana = #"{"username":"ana","password":"pass"}"#

  @Test("sign up, and are logged in with it up to API version 5 only")
  func signUp() throws {
    let five = try server.send(
      as: .app, "POST", "/user/kid", body: #"{"username":"ana","password":"p","age":7}"#)
    #expect(five.status == 201 && five.json["age"] == 7 && five.json["username"] == "ana")
    #expect(five.json["_kmd"]?["authtoken"]?.stringValue?.utf8.count == 64)
    #expect(five.json["_acl"]?["creator"] == five.json["_id"])
    #expect(five.json["password"] == "p")
    let id = try #require(five.json["_id"]?.stringValue)
    #expect(five.headers["location"] == "/user/kid/\(id)")
    for path in ["/user/kid/\(id)", query("/user/kid", #"{"username":"ana"}"#)] {
      #expect(!(try server.send(as: .master, "GET", path).text.contains("password")))
    }
    let six = try server.send(
      as: .app, "POST", "/user/kid", body: #"{"username":"bob","password":"p"}"#, version: 6)
    #expect(six.status == 201 && six.json["_kmd"]?["authtoken"] == nil)
  }

  @Test("sign up without saying who they are", arguments: ["{}", "", " \n", nil])
  func implicit(body: String?) throws {
    let answer = try server.send(as: .app, "POST", "/user/kid", body: body)
    #expect(answer.status == 201)
    let name = try #require(answer.json["username"]?.stringValue)
    let password = try #require(answer.json["password"]?.stringValue)
    let login = "{\"username\":\"\(name)\",\"password\":\"\(password)\"}"
    #expect(try server.send(as: .app, "POST", "/user/kid/login", body: login).status == 200)
  }

  @Test("have names that nobody else has, case and all")
  func names() throws {
    _ = try server.user("ana")
    let again = try server.send(as: .app, "POST", "/user/kid", body: ana)
    #expect(again.status == 409 && again.error == "UserAlreadyExists")
    #expect(
      try server.send(as: .app, "POST", "/user/kid", body: #"{"username":"Ana"}"#).status == 201)
    let exists = { (name: String) in
      try server.send(
        as: .app, "POST", "/rpc/kid/check-username-exists", body: "{\"username\":\"\(name)\"}"
      ).json["usernameExists"]
    }
    #expect(try exists("ana") == true)
    #expect(try exists("bob") == false)
  }

  @Test("are refused with names and passwords that are none")
  func misuse() throws {
    for body in [
      #"{"username":7}"#, #"{"username":""}"#, #"{"password":[]}"#, #"{"password":""}"#,
      #"{"username":"x","password":"a\u0000b"}"#,
    ] {
      let answer = try server.send(as: .app, "POST", "/user/kid", body: body)
      #expect(answer.status == 400 && answer.error == "InputValidationFailed", "\(body)")
    }
    let social = try server.send(as: .app, "POST", "/user/kid", body: #"{"_socialIdentity":{}}"#)
    #expect(social.error == "FeatureUnavailable")
  }

  @Test("log in with name and password, and out again")
  func login() throws {
    _ = try server.user("ana")
    let answer = try server.send(as: .app, "POST", "/user/kid/login", body: ana)
    #expect(answer.status == 200 && answer.json["username"] == "ana")
    let token = try #require(answer.json["_kmd"]?["authtoken"]?.stringValue)
    let session = TestServer.Who.user(id: "", token: token)
    #expect(try server.send(as: session, "GET", "/user/kid/_me").status == 200)
    #expect(try server.send(as: session, "POST", "/user/kid/_logout").status == 204)
    let after = try server.send(as: session, "GET", "/user/kid/_me")
    #expect(after.status == 401 && after.error == "InvalidCredentials")
  }

  @Test("are told nothing about what was wrong with a login")
  func wrongLogin() throws {
    _ = try server.user("ana")
    let password = try server.send(
      as: .app, "POST", "/user/kid/login", body: #"{"username":"ana","password":"wrong"}"#)
    let name = try server.send(
      as: .app, "POST", "/user/kid/login", body: #"{"username":"nobody","password":"pass"}"#)
    #expect(password.status == 401 && password.error == "InvalidCredentials")
    #expect(name.body == password.body && name.status == password.status)
    #expect(
      try server.send(as: .app, "POST", "/user/kid/login", body: #"{"username":"ana"}"#).error
        == "IncompleteRequestBody")
    #expect(
      try server.send(as: .app, "POST", "/user/kid/login", body: #"{"_socialIdentity":{}}"#).error
        == "FeatureUnavailable")
  }

  @Test("see themselves, without a token, and not each other")
  func reading() throws {
    let (ana, bob) = (try server.user("ana"), try server.user("bob"))
    let me = try server.send(as: ana, "GET", "/user/kid/_me")
    #expect(me.status == 200 && me.json["_id"]?.stringValue == ana.id)
    #expect(me.json["_kmd"]?["authtoken"] == nil)
    #expect(try server.send(as: ana, "GET", "/user/kid/\(ana.id)").body == me.body)
    let other = try server.send(as: ana, "GET", "/user/kid/\(bob.id)")
    #expect(other.status == 401 && other.error == "InsufficientCredentials")
    #expect(try server.send(as: ana, "GET", "/user/kid").ids == [ana.id])
    #expect(
      try server.send(as: .master, "GET", query("/user/kid", #"{"username":"bob"}"#)).ids == [
        bob.id
      ])
    #expect(try server.send(as: .app, "GET", "/user/kid").error == "InsufficientCredentials")
  }

  @Test("find each other by name, and learn little")
  func lookup() throws {
    let ana = try server.user("ana")
    _ = try server.send(
      as: .app, "POST", "/user/kid",
      body: #"{"username":"bob","password":"p","first_name":"Bob","email":"b@x.org","secret":1}"#)
    let found = try server.send(as: ana, "POST", "/user/kid/_lookup", body: #"{"email":"b@x.org"}"#)
    let user = try #require(found.json.arrayValue?.first?.objectValue)
    #expect(user.members.map(\.name) == ["_id", "username", "first_name", "email"])
    #expect(
      try server.send(as: ana, "POST", "/user/kid/_lookup", body: "{}").error == "MissingQuery")
    #expect(
      try server.send(as: ana, "POST", "/user/kid/_lookup", body: #"{"secret":"1"}"#).error
        == "InvalidQuerySyntax")
    #expect(
      try server.send(as: ana, "POST", "/user/kid/_lookup", body: #"{"email":{"$ne":"x"}}"#).error
        == "InvalidQuerySyntax")
  }

  @Test("are not shown to others with names as long as a body may be")
  func longNames() throws {
    let ana = try server.user("ana")
    let long = String(repeating: "x", count: 100_000)
    for (name, last) in [("bob", "b"), ("eve", long), ("eva", long)] {
      try server.send(
        as: .app, "POST", "/user/kid",
        body:
          #"{"username":"\#(name)","password":"password","first_name":"B","last_name":"\#(last)"}"#
      ).expect(201)
    }
    let found = try server.send(as: ana, "POST", "/user/kid/_lookup", body: #"{"first_name":"B"}"#)
    #expect(found.status == 200 && found.ids.count == 1 && found.body.count < 1000)
  }

  @Test("find each other by what the server allows, and see that of each other")
  func lookupOption() throws {
    let bob = #"{"username":"bob","password":"p","first_name":"Bob","email":"b@x.org"}"#
    for (option, isFound, shown) in [
      ("email", true, ["_id", "username", "email"]), ("first_name", false, []), ("off", false, []),
    ] {
      let server = try TestServer { $0.discovery = Discovery(option) ?? Discovery() }
      let ana = try server.user("ana")
      _ = try server.send(as: .app, "POST", "/user/kid", body: bob)
      let found = try server.send(
        as: ana, "POST", "/user/kid/_lookup", body: #"{"email":"b@x.org"}"#)
      let members = found.json.arrayValue?.first?.objectValue?.members.map(\.name)
      #expect((found.status == 200) == isFound && (members ?? []) == shown, "\(option)")
      if !isFound {
        let error = option == "off" ? "FeatureUnavailable" : "InvalidQuerySyntax"
        #expect(found.error == error)
      }
    }
  }

  @Test("change themselves, keeping their name if they do not say one")
  func update() throws {
    let (ana, bob) = (try server.user("ana"), try server.user("bob"))
    let answer = try server.send(as: ana, "PUT", "/user/kid/\(ana.id)", body: #"{"age":8}"#)
    #expect(answer.status == 200 && answer.json["age"] == 8 && answer.json["username"] == "ana")
    let renamed = try server.send(
      as: ana, "PUT", "/user/kid/\(ana.id)", body: #"{"username":"anna"}"#)
    #expect(renamed.json["username"] == "anna")
    let taken = try server.send(as: ana, "PUT", "/user/kid/\(ana.id)", body: #"{"username":"bob"}"#)
    #expect(taken.status == 409 && taken.error == "UserAlreadyExists")
    #expect(
      try server.send(as: bob, "PUT", "/user/kid/\(ana.id)", body: "{}").error
        == "InsufficientCredentials")
    #expect(try server.send(as: ana, "GET", "/user/kid/nobody").error == "UserNotFound")
    #expect(
      try server.send(as: .master, "PUT", "/user/kid/nobody", body: "{}").error == "UserNotFound")
  }

  @Test("who change themselves get the token of the session back in which they do it")
  func updateKeepsSession() throws {
    let ana = try server.user("ana")
    for change in [#"{"age":8}"#, #"{"age":9,"password":"new"}"#] {
      let answer = try server.send(as: ana, "PUT", "/user/kid/\(ana.id)", body: change)
      #expect(
        "Kinvey " + (answer.json["_kmd"]?["authtoken"]?.stringValue ?? "") == ana.authorization)
    }
    let byMaster = try server.send(as: .master, "PUT", "/user/kid/\(ana.id)", body: #"{"age":8}"#)
    #expect(byMaster.status == 200 && byMaster.json["_kmd"]?["authtoken"] == nil)
    let shared = #"{"_acl":{"gw":true}}"#
    _ = try server.send(as: ana, "PUT", "/user/kid/\(ana.id)", body: shared)
    let byBob = try server.send(
      as: try server.user("bob"), "PUT", "/user/kid/\(ana.id)", body: "{}")
    #expect(byBob.status == 200 && byBob.json["_kmd"]?["authtoken"] == nil)
    #expect(
      try server.send(as: ana, "GET", "/user/kid/\(ana.id)").json["_kmd"]?["authtoken"] == nil)
  }

  @Test("change their password, which ends their other sessions")
  func password() throws {
    let (ana, other) = (try server.user("ana"), try login("pass"))
    let answer = try server.send(
      as: ana, "PUT", "/user/kid/\(ana.id)", body: #"{"password":"new"}"#)
    #expect(answer.status == 200 && !answer.text.contains("new"))
    #expect(try server.send(as: ana, "GET", "/user/kid/_me").status == 200)
    #expect(try server.send(as: other, "GET", "/user/kid/_me").error == "InvalidCredentials")
    #expect(try server.send(as: .app, "POST", "/user/kid/login", body: self.ana).status == 401)
    _ = try login("new")
  }

  @Test("are disabled by a deletion that is not for good")
  func softDelete() throws {
    let ana = try server.user("ana")
    #expect(try server.send(as: ana, "DELETE", "/user/kid/\(ana.id)").status == 204)
    #expect(try server.send(as: ana, "GET", "/user/kid/_me").error == "InvalidCredentials")
    #expect(
      try server.send(as: .app, "POST", "/user/kid/login", body: self.ana).error
        == "InvalidCredentials")
    let left = try server.send(as: .master, "GET", "/user/kid/\(ana.id)")
    #expect(left.json["_kmd"]?["status"]?["val"] == "disabled")
    #expect(
      try server.send(as: .app, "POST", "/user/kid", body: self.ana).error == "UserAlreadyExists")
    let bob = try server.user("bob")
    #expect(
      try server.send(as: bob, "POST", "/user/kid/_lookup", body: #"{"username":"ana"}"#).text
        == "[]")
  }

  @Test("are gone after a deletion for good")
  func hardDelete() throws {
    let (ana, bob) = (try server.user("ana"), try server.user("bob"))
    #expect(
      try server.send(as: bob, "DELETE", "/user/kid/\(ana.id)?hard=true").error
        == "InsufficientCredentials")
    #expect(try server.send(as: ana, "DELETE", "/user/kid/\(ana.id)?hard=true").status == 204)
    #expect(try server.send(as: .master, "GET", "/user/kid/\(ana.id)").status == 404)
    #expect(try server.send(as: .master, "DELETE", "/user/kid/\(ana.id)").error == "UserNotFound")
    #expect(try server.send(as: .app, "POST", "/user/kid", body: self.ana).status == 201)
  }

  @Test("have all their sessions ended by themselves or the administrator")
  func tokens() throws {
    let (ana, bob) = (try server.user("ana"), try server.user("bob"))
    let path = "/user/kid/\(ana.id)/tokens"
    #expect(try server.send(as: bob, "DELETE", path).error == "InsufficientCredentials")
    #expect(try server.send(as: ana, "DELETE", path).status == 204)
    #expect(try server.send(as: ana, "GET", "/user/kid/_me").error == "InvalidCredentials")
    let session = try login("pass")
    #expect(try server.send(as: .master, "DELETE", path).status == 204)
    #expect(try server.send(as: session, "GET", "/user/kid/_me").error == "InvalidCredentials")
  }

  @Test("are promised mail that nobody sends")
  func mail() throws {
    for path in [
      "/rpc/kid/user-forgot-username", "/rpc/kid/ana/user-password-reset-initiate",
      "/rpc/kid/nobody/user-email-verification-initiate",
    ] {
      #expect(try server.send(as: .app, "POST", path, body: #"{"email":"x@y.z"}"#).status == 204)
    }
  }

  @Test("see that the verification of their address is under way")
  func verification() throws {
    let ana = try server.user("ana")
    let path = "/rpc/kid/ana/user-email-verification-initiate"
    #expect(try server.send(as: .app, "POST", path).status == 204)
    #expect(
      try server.send(as: ana, "GET", "/user/kid/_me").json["_kmd"]?["emailVerification"] == nil)
    let before = try server.send(
      as: ana, "PUT", "/user/kid/\(ana.id)", body: #"{"email":"a@x.org"}"#)
    #expect(try server.send(as: .app, "POST", path).status == 204)
    let metadata = try server.send(as: ana, "GET", "/user/kid/_me").json["_kmd"]
    #expect(metadata?["emailVerification"]?["status"] == "sent")
    #expect(metadata?["emailVerification"]?["emailAddress"] == "a@x.org")
    #expect(metadata?["emailVerification"]?["lastStateChangeAt"]?.stringValue?.utf8.count == 24)
    #expect(metadata?["lmt"] == before.json["_kmd"]?["lmt"])
  }

  private func login(_ password: String) throws -> TestServer.Who {
    let answer = try server.send(
      as: .app, "POST", "/user/kid/login",
      body: "{\"username\":\"ana\",\"password\":\"\(password)\"}")
    let token = try #require(answer.json["_kmd"]?["authtoken"]?.stringValue)
    return .user(id: answer.json["_id"]?.stringValue ?? "", token: token)
  }
}
