import KVJSON
import KVKinvey
import KVSync
import KVTestSupport
import Testing

@Suite("User operations on the wire") struct KinveyUsersTests {
  private static let user = #"{"_id":"u1","username":"ana","_kmd":{"lmt":"x","authtoken":"t0k"}}"#
  private static let shown = #"{"_id":"u1","username":"ana","_kmd":{"lmt":"x"}}"#
  private static let application = "Basic a2lkX3gxOnNlYw=="

  @Test("Ping proves the application")
  func ping() throws {
    let body = #"{"version":"1","kinvey":"hello"}"#
    try withBackend { _ in
      ScriptedReply(200, body)
    } run: { backend throws in
      #expect(try backend.users.ping(Call()) == bytes(body))
      let request = try backend.request
      #expect(request.method == "GET")
      #expect(request.target == "/appdata/kid_x1")
      #expect(request["Authorization"] == Self.application)
    }
  }

  @Test("Signup gives the user, and its token apart", arguments: ["{}", #"{"username":"ana"}"#])
  func signup(body: String) throws {
    try withBackend { _ in
      ScriptedReply(201, Self.user)
    } run: { backend in
      let user = try backend.users.signup(bytes(body), Call())
      #expect(user == Account(id: "u1", token: "t0k", json: bytes(Self.shown)))
      let request = try backend.request
      #expect(request.method == "POST")
      #expect(request.target == "/user/kid_x1")
      #expect(request.text == body)
      #expect(request["Authorization"] == Self.application)
    }
  }

  @Test("The password that was given does not come back with the user; one that was made up does")
  func passwords() throws {
    let answer = #"{"_id":"u1","username":"ana","password":"pw","_kmd":{"authtoken":"t0k"}}"#
    for (body, keeps) in [(#"{"username":"ana","password":"pw"}"#, false), ("{}", true)] {
      try withBackend { _ in
        ScriptedReply(201, answer)
      } run: { backend throws in
        let user = try backend.users.signup(bytes(body), Call())
        #expect(String(decoding: user.json, as: UTF8.self).contains("pw") == keeps)
      }
    }
  }

  @Test("An implicit user who has no session yet is logged in with what the backend made up")
  func implicitThenLogin() throws {
    let created = #"{"_id":"u1","username":"made","password":"up","_kmd":{}}"#
    try withBackend { request in
      request.target.hasSuffix("login")
        ? ScriptedReply(200, Self.user) : ScriptedReply(201, created)
    } run: { backend throws in
      let user = try backend.users.signup(bytes("{}"), Call())
      #expect(user == Account(id: "u1", token: "t0k", json: bytes(created)))
      #expect(
        backend.server.requests.last?.text == #"{"username":"made","password":"up"}"#)
    }
  }

  @Test("A taken name is a conflict")
  func taken() throws {
    try withBackend { _ in
      ScriptedReply(409, #"{"error":"UserAlreadyExists","description":"","debug":""}"#)
    } run: { backend in
      let error = failure { () throws(StoreError) in
        try backend.users.signup(bytes(#"{"username":"ana"}"#), Call())
      }
      #expect(error?.kind == .conflict)
    }
  }

  @Test("A signup that brings no token is followed by a login")
  func signupThenLogin() throws {
    try withBackend { request in
      request.target.hasSuffix("login")
        ? ScriptedReply(200, Self.user) : ScriptedReply(201, Self.shown)
    } run: { backend throws in
      let user = try backend.users.signup(
        bytes(#"{"username":"ana","password":"pw","age":3}"#), Call())
      #expect(user.token == "t0k")
      #expect(
        backend.server.requests.last?.text == #"{"username":"ana","password":"pw"}"#)
    }
  }

  @Test("Login, in both forms of the answer")
  func login() throws {
    for answer in [
      Self.user, #"{"mfaRequired":false,"user":\#(Self.shown),"authToken":"t0k"}"#,
    ] {
      try withBackend { _ in
        ScriptedReply(200, answer)
      } run: { backend in
        let body = #"{"username":"ana","password":"pw"}"#
        let user = try backend.users.login(bytes(body), Call())
        #expect(user == Account(id: "u1", token: "t0k", json: bytes(Self.shown)))
        let request = try backend.request
        #expect(request.target == "/user/kid_x1/login")
        #expect(request.text == body)
        #expect(request["Authorization"] == Self.application)
      }
    }
  }

  @Test(
    "What is no login",
    arguments: [
      (200, shown, .proto), (200, "{}", .proto), (200, "[]", .proto), (200, "<html>", .proto),
      (200, #"{"_id":"","_kmd":{"authtoken":"t"}}"#, .proto),
      (200, #"{"_id":"u","_kmd":{"authtoken":""}}"#, .proto),
      (200, #"{"_id":"u","_kmd":{"authtoken":5}}"#, .proto),
      (200, #"{"mfaRequired":true,"user":{"_id":"u"}}"#, .unsupported),
      (401, #"{"error":"InvalidCredentials","description":"","debug":""}"#, .unauthorized),
    ] as [(Int, String, StoreError.Kind)])
  func noLogin(status: Int, body: String, kind: StoreError.Kind) throws {
    try withBackend { _ in
      ScriptedReply(status, body)
    } run: { backend in
      let error = failure { () throws(StoreError) in try backend.users.login(bytes("{}"), Call()) }
      #expect(error?.kind == kind)
    }
  }

  @Test("Logout ends the session it is told, whoever is active")
  func logout() throws {
    try withBackend(token: nil) { _ in
      ScriptedReply(204)
    } run: { backend in
      try backend.users.logout(token: "old", Call())
      let request = try backend.request
      #expect(request.method == "POST")
      #expect(request.target == "/user/kid_x1/_logout")
      #expect(request["Authorization"] == "Kinvey old")
      #expect(request.body.isEmpty)
    }
  }

  @Test("Me never brings a token")
  func me() throws {
    try withBackend { _ in
      ScriptedReply(200, Self.user)
    } run: { backend throws in
      let user = try backend.users.me(Call())
      #expect(user == Account(id: "u1", token: nil, json: bytes(Self.shown)))
      #expect(try backend.request.target == "/user/kid_x1/_me")
      #expect(try backend.request["Authorization"] == "Kinvey tok")
    }
  }

  @Test("Update and delete name the user", arguments: [true, false])
  func updateDelete(isHard: Bool) throws {
    try withBackend { request in
      request.method == "PUT" ? ScriptedReply(200, Self.shown) : ScriptedReply(204)
    } run: { backend in
      let before = Account(id: "u1", token: nil, json: bytes(#"{"_id":"u1","_kmd":{},"age":3}"#))
      let user = try backend.users.update(before, ["age": 4], call: Call())
      #expect(user == Account(id: "u1", token: nil, json: bytes(Self.shown)))
      try backend.users.delete(id: "u1", isHard: isHard, call: Call())
      let requests = backend.server.requests
      #expect(requests.map(\.method) == ["PUT", "DELETE"])
      #expect(requests[0].text == #"{"_id":"u1","age":4}"#)
      #expect(requests[0].target == "/user/kid_x1/u1")
      #expect(requests[1].target == (isHard ? "/user/kid_x1/u1?hard=true" : "/user/kid_x1/u1"))
    }
  }

  @Test("Without a user there is nothing to read, change or delete")
  func nobody() throws {
    try withBackend(token: nil) { _ in
      ScriptedReply(200, Self.user)
    } run: { backend in
      let users = backend.users
      #expect(failure { () throws(StoreError) in try users.me(Call()) }?.kind == .noUser)
      let update = failure { () throws(StoreError) in
        try users.update(Account(id: "u", token: nil, json: []), [:], call: Call())
      }
      #expect(update?.kind == .noUser)
      let delete = failure { () throws(StoreError) in
        try users.delete(id: "u", isHard: true, call: Call())
      }
      #expect(delete?.kind == .noUser)
      #expect(backend.server.requests.isEmpty)
    }
  }

  @Test("Whether a name is taken", arguments: [true, false])
  func exists(isTaken: Bool) throws {
    try withBackend { _ in
      ScriptedReply(200, #"{"usernameExists":\#(isTaken)}"#)
    } run: { backend throws in
      #expect(try backend.users.exists("a\"b", Call()) == isTaken)
      let request = try backend.request
      #expect(request.target == "/rpc/kid_x1/check-username-exists")
      #expect(request.text == #"{"username":"a\"b"}"#)
      #expect(request["Authorization"] == Self.application)
    }
  }
}
