internal import KVJSON
internal import KVServer
internal import KVServerCore
internal import KVTestSupport
import Testing

/// What administrators do besides reading and writing: each needs the master secret.
@Suite("Administrators")
struct AdministrationTests {
  let server: TestServer

  init() throws { server = try TestServer { $0.historyDays = 15 } }

  @Test("see what is in each collection, in the order of the names' bytes")
  func collections() throws {
    #expect(try server.send(as: .master, "GET", "/appdata/kid/_collections").json == [])
    _ = try server.user("ana")
    for name in ["books", "Zoo", "zoo"] {
      try server.send(as: .master, "POST", "/appdata/kid/\(name)", body: #"{"t":"ü"}"#).expect(201)
    }
    let body = try server.send(as: .master, "POST", "/appdata/kid/books", body: "{}").text
    let list = try server.send(as: .master, "GET", "/appdata/kid/_collections").expect(200).json
    #expect(list.arrayValue?.map { $0["name"] } == ["Zoo", "books", "zoo"])
    #expect(list.arrayValue?.map { $0["count"] } == [1, 2, 1])
    let bytes = list.arrayValue?.compactMap { $0["bytes"]?.intValue } ?? []
    #expect(bytes.count == 3 && bytes[1] == bytes[2] + Int64(body.utf8.count))
  }

  @Test("see who is logged in, page by page, and nothing that opens a session")
  func sessions() throws {
    let users = try ["ana", "bob", "eve"].map { try server.user($0) }
    let path = "/user/kid/_sessions"
    let all = try server.send(as: .master, "GET", path).expect(200).json.arrayValue ?? []
    #expect(Set(all.compactMap { $0["user"]?.stringValue }) == Set(users.map(\.id)))
    for session in all {
      let name = session["_id"]?.stringValue ?? ""
      #expect(try server.send(as: .header("Kinvey \(name)"), "GET", "/user/kid/_me").status == 401)
    }
    let first = try server.send(as: .master, "GET", path + "?limit=2").json.arrayValue ?? []
    let last = first.last?["_id"]?.stringValue ?? ""
    let rest = try server.send(as: .master, "GET", path + "?limit=2&after=\(last)").json
    #expect(first + (rest.arrayValue ?? []) == all)
    let ofAna = try server.send(as: .master, "GET", path + "?user=\(users[0].id)").json
    #expect(ofAna.arrayValue?.compactMap { $0["user"]?.stringValue } == [users[0].id])
    try server.send(as: .master, "DELETE", "/user/kid/\(users[0].id)/tokens").expect(204)
    #expect(try server.send(as: .master, "GET", path + "?user=\(users[0].id)").json == [])
    #expect(try server.send(as: .master, "GET", path + "?limit=0").status == 400)
  }

  @Test("set passwords, which ends the sessions")
  func password() throws {
    let ana = try server.user("ana")
    let path = "/user/kid/\(ana.id)/_password"
    try server.send(as: .master, "PUT", path, body: #"{"password":"new"}"#).expect(204)
    #expect(try server.send(as: ana, "GET", "/user/kid/_me").status == 401)
    #expect(try login("ana", "pass") == 401)
    #expect(try login("ana", "new") == 200)
    for body in ["{}", #"{"password":""}"#, #"{"password":7}"#, "[]"] {
      #expect(try server.send(as: .master, "PUT", path, body: body).status == 400, "\(body)")
    }
    let unknown = try server.send(
      as: .master, "PUT", "/user/kid/nobody/_password", body: #"{"password":"x"}"#)
    #expect(unknown.error == "UserNotFound")
  }

  @Test("let a disabled user in again, whose entity says nothing of it any more")
  func restore() throws {
    let ana = try server.user("ana")
    try server.send(as: .master, "DELETE", "/user/kid/\(ana.id)").expect(204)
    #expect(try login("ana", "pass") == 401)
    try server.send(as: .master, "POST", "/user/kid/\(ana.id)/_restore").expect(204)
    #expect(try login("ana", "pass") == 200)
    // The sessions of before do not come back.
    #expect(try server.send(as: ana, "GET", "/user/kid/_me").status == 401)
    let user = try server.send(as: .master, "GET", "/user/kid/\(ana.id)").json
    #expect(user["_kmd"]?["status"] == nil)
    let unknown = try server.send(as: .master, "POST", "/user/kid/nobody/_restore")
    #expect(unknown.error == "UserNotFound")
  }

  @Test("alone do these things")
  func needsTheMasterSecret() throws {
    let ana = try server.user("ana")
    let requests = [
      ("GET", "/appdata/kid/_collections"), ("GET", "/user/kid/_sessions?user=another"),
      ("PUT", "/user/kid/\(ana.id)/_password"), ("POST", "/user/kid/\(ana.id)/_restore"),
    ]
    for (method, path) in requests {
      for who in [ana, TestServer.Who.app] {
        let answer = try server.send(as: who, method, path, body: #"{"password":"x"}"#)
        #expect(answer.error == "InsufficientCredentials", "\(method) \(path)")
      }
      #expect(try server.send(as: .nobody, method, path).status == 401)
    }
  }

  private func login(_ name: String, _ password: String) throws -> Int {
    try server.send(
      as: .app, "POST", "/user/kid/login",
      body: "{\"username\":\"\(name)\",\"password\":\"\(password)\"}"
    ).status
  }
}
