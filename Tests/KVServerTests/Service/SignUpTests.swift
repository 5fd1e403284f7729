internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

/// `--signup`.
@Suite("Signing up") struct SignUpTests {
  private func signUp(_ name: String, invitation: String? = nil, on server: TestServer) throws
    -> HTTPAnswer
  {
    var user: JSONObject = ["username": .string(name), "password": "a password"]
    user["_invitation"] = invitation.map { .string($0) }
    return try server.send(as: .app, "POST", "/user/kid", body: JSONValue.object(user).text)
  }

  @Test("is the administrator's alone where it is closed, for one app or for all")
  func closed() throws {
    for app in [nil, "kid"] {
      let server = try TestServer { $0.signUp.set(.closed, for: app) }
      #expect(try signUp("ana", on: server).expect(401).error == "InsufficientCredentials")
      try server.send(as: .app, "POST", "/user/kid").expect(401)
      let body = #"{"username":"ana","password":"a password"}"#
      try server.send(as: .master, "POST", "/user/kid", body: body).expect(201)
      try server.send(as: .app, "POST", "/user/kid/login", body: body).expect(200)
    }
    let other = try TestServer { $0.signUp.set(.closed, for: "other") }
    try signUp("ana", on: other).expect(201)
  }

  @Test("takes an invitation for the very name, which only the administrator makes")
  func invited() throws {
    let server = try TestServer { $0.signUp.set(.invite, for: "kid") }
    try signUp("ana", on: server).expect(401)
    try server.send(as: .app, "POST", "/user/kid").expect(401)
    let wish = #"{"username":"ana","days":1}"#
    try server.send(as: .app, "POST", "/user/kid/_invitations", body: wish).expect(401)
    let made = try server.send(as: .master, "POST", "/user/kid/_invitations", body: wish).expect(
      201)
    let invitation = try #require(made.json["_invitation"]?.stringValue)
    try signUp("eve", invitation: invitation, on: server).expect(401)
    try signUp("ana", invitation: String(invitation.dropLast()), on: server).expect(401)
    let ana = try signUp("ana", invitation: invitation, on: server).expect(201)
    #expect(ana.json["_invitation"] == nil)
    #expect(try signUp("ana", invitation: invitation, on: server).error == "UserAlreadyExists")
    for wrong in ["{}", #"{"username":"a","days":0}"#, #"{"username":"a","days":"x"}"#] {
      try server.send(as: .master, "POST", "/user/kid/_invitations", body: wrong).expect(400)
    }
  }
}
