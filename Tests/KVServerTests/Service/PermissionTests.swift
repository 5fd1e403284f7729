internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Access over HTTP") struct AccessTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let bob: TestServer.Who
  private let path = "/appdata/kid/notes"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
    bob = try server.user("bob")
  }

  @Test("is by default: everybody reads, the creator changes and deletes")
  func defaults() throws {
    try create("x")
    #expect(try server.send(as: bob, "GET", path + "/x").status == 200)
    #expect(try server.send(as: bob, "GET", path).ids == ["x"])
    for (method, target, body) in [("PUT", path + "/x", "{}"), ("DELETE", path + "/x", nil)]
      as [(String, String, String?)]
    {
      let answer = try server.send(as: bob, method, target, body: body)
      #expect(answer.status == 401 && answer.error == "InsufficientCredentials")
    }
    #expect(try server.send(as: bob, "DELETE", query(path, "{}")).text == #"{"count":0}"#)
    #expect(try server.send(as: ana, "PUT", path + "/x", body: "{}").status == 200)
    #expect(try server.send(as: ana, "DELETE", path + "/x").status == 200)
  }

  @Test("to delete is none to read: a deletion by a filter tells nothing of what may not be read")
  func deletionsByQuery() throws {
    func set(_ rules: String) throws {
      try server.send(as: .master, "PUT", path + "/_permissions", body: rules).expect(200)
    }
    func count(_ filter: String) throws -> String {
      try server.send(as: bob, "DELETE", query(path, filter)).text
    }
    try server.send(as: ana, "PUT", path + "/x", body: #"{"pin":4711}"#).expect(201)
    try server.send(as: bob, "PUT", path + "/y", body: #"{"pin":4711}"#).expect(201)
    try server.send(as: ana, "PUT", path + "/z", body: #"{"pin":1,"_acl":{"gr":false}}"#).expect(
      201)
    try set(#"{"read":"creator","delete":"always"}"#)
    #expect(try count(#"{"pin":{"$gt":4000}}"#) == #"{"count":1}"#)
    #expect(try count(#"{"$or":[{"pin":4711},{"_id":"x"}]}"#) == #"{"count":0}"#)
    try set(#"{"read":"never"}"#)
    #expect(try server.send(as: bob, "DELETE", query(path, #"{"pin":4711}"#)).status == 401)
    // An index finds no more than that.
    try set(#"{"read":"acl"}"#)
    try server.send(as: .master, "PUT", path + "/_indexes", body: #"{"keys":{"pin":1}}"#).expect(
      200)
    #expect(try count(#"{"pin":1}"#) == #"{"count":0}"#)
    // What is selected by nothing but its id may be deleted by its id alone, too.
    #expect(try count(#"{"_id":"x"}"#) == #"{"count":1}"#)
    #expect(
      try server.send(as: .master, "DELETE", query(path, #"{"pin":1}"#)).text == #"{"count":1}"#)
    try server.send(as: ana, "PUT", path + "/w", body: "{}").expect(201)
    try set(#"{"read":"never"}"#)
    #expect(try count("{}") == #"{"count":1}"#)
  }

  @Test("is not by long lists, on whatever route they come")
  func longLists() throws {
    let list = (0...ACL.maxNames).map { "\"\($0)\"" }.joined(separator: ",")
    let entity = "{\"_acl\":{\"r\":[\(list)]}}"
    for (method, target, body) in [
      ("POST", path, entity), ("PUT", path + "/x", entity), ("POST", path, "[\(entity)]"),
      ("POST", path + "/_batch", "[{\"method\":\"PUT\",\"id\":\"x\",\"entity\":\(entity)}]"),
      ("POST", "/group/kid", entity), ("PUT", "/user/kid/\(ana.id)", entity),
    ] {
      let answer = try server.send(as: ana, method, target, body: body)
      #expect(answer.text.contains("at most 1000 users and groups"), "\(method) \(target)")
    }
    #expect(try server.send(as: ana, "GET", path).ids == [])
  }

  @Test("to an entity can be kept from others, or given to some")
  func readers() throws {
    try create("hidden", acl: #"{"gr":false}"#)
    try create("shared", acl: "{\"gr\":false,\"r\":[\"\(bob.id)\"]}")
    try create("writable", acl: "{\"gr\":false,\"w\":[\"\(bob.id)\"]}")
    try create("open", acl: #"{"gr":false,"gw":true}"#)
    #expect(try server.send(as: bob, "GET", path + "/hidden").error == "InsufficientCredentials")
    #expect(try server.send(as: bob, "GET", path).ids == ["shared", "writable", "open"])
    #expect(try server.send(as: ana, "GET", path).ids.count == 4)
    #expect(try server.send(as: bob, "PUT", path + "/shared", body: "{}").status == 401)
    #expect(try server.send(as: bob, "PUT", path + "/writable", body: "{}").status == 200)
    #expect(try server.send(as: bob, "DELETE", query(path, "{}")).text == #"{"count":2}"#)
    #expect(try server.send(as: .master, "GET", path).ids == ["hidden", "shared"])
  }

  @Test("is looked at before a page is cut and before anything is counted")
  func pages() throws {
    for number in 0..<10 {
      try create("n\(number)", acl: number % 2 == 0 ? #"{"gr":false}"# : nil)
    }
    #expect(try server.send(as: bob, "GET", path + "?skip=1&limit=3").ids == ["n3", "n5", "n7"])
    #expect(
      try server.send(as: bob, "GET", path + "?limit=0").ids
        == server.send(as: bob, "GET", path).ids)
    let sorted = target(path, [("sort", #"{"_id":-1}"#), ("limit", "2")])
    #expect(try server.send(as: bob, "GET", sorted).ids == ["n9", "n7"])
    #expect(try server.send(as: bob, "GET", path + "/_count").text == #"{"count":5}"#)
    #expect(
      try server.send(as: bob, "GET", query(path, #"{"_id":{"$in":["n2","n3"]}}"#)).ids == ["n3"])
  }

  @Test("a filter is not held against what a user may not read, even if that is an error")
  func unreadable() throws {
    let long = String(repeating: "a", count: 3000)
    _ = try server.send(
      as: ana, "POST", path, body: "{\"_id\":\"x\",\"secret\":\"\(long)\",\"_acl\":{\"gr\":false}}")
    let slow = query(path, #"{"secret":{"$regex":"[a-z]*[a-z]*[a-z]*[0-9]"}}"#)
    #expect(try server.send(as: ana, "GET", slow).status == 400)
    #expect(try server.send(as: bob, "GET", slow).text == "[]")
    #expect(try server.send(as: bob, "DELETE", slow).text == #"{"count":0}"#)
  }

  @Test("lets writers change readers and writers, never the creator")
  func writers() throws {
    try create("x", acl: "{\"w\":[\"\(bob.id)\"]}")
    let answer = try server.send(
      as: bob, "PUT", path + "/x",
      body: "{\"_acl\":{\"creator\":\"\(bob.id)\",\"gr\":false,\"gw\":true}}")
    #expect(answer.status == 200)
    #expect(answer.json["_acl"]?["creator"]?.stringValue == ana.id)
    #expect(answer.json["_acl"]?["gw"] == true && answer.json["_acl"]?["w"] == nil)
  }

  @Test("stays as it was when a PUT does not mention it")
  func kept() throws {
    try create("x", acl: #"{"gr":false,"groups":{"r":["g"]}}"#)
    let answer = try server.send(as: ana, "PUT", path + "/x", body: #"{"v":2}"#)
    #expect(answer.json["_acl"]?["gr"] == false)
    #expect(answer.json["_acl"]?["groups"]?["r"] == ["g"])
    #expect(try server.send(as: bob, "GET", path + "/x").status == 401)
  }

  @Test("belongs to whom the administrator names, and nobody else can name a creator")
  func creators() throws {
    let own = try server.send(as: ana, "POST", path, body: "{\"_acl\":{\"creator\":\"\(bob.id)\"}}")
    #expect(own.json["_acl"]?["creator"]?.stringValue == ana.id)
    let given = try server.send(
      as: .master, "POST", path, body: "{\"_id\":\"g\",\"_acl\":{\"creator\":\"\(bob.id)\"}}")
    #expect(given.json["_acl"]?["creator"]?.stringValue == bob.id)
    #expect(try server.send(as: bob, "PUT", path + "/g", body: "{}").status == 200)
    let moved = try server.send(
      as: .master, "PUT", path + "/g", body: "{\"_acl\":{\"creator\":\"\(ana.id)\"}}")
    #expect(moved.json["_acl"]?["creator"]?.stringValue == ana.id)
    #expect(try server.send(as: bob, "PUT", path + "/g", body: "{}").status == 401)
  }

  // MARK: Per collection

  @Test("to a collection is set by the administrator alone, and lasts")
  func administration() throws {
    let target = path + "/_permissions"
    let read = try server.send(as: .master, "GET", target)
    #expect(read.json == ["create": "always", "read": "shared", "update": "acl", "delete": "acl"])
    #expect(try server.send(as: ana, "PUT", target, body: "{}").error == "InsufficientCredentials")
    let set = try server.send(as: .master, "PUT", target, body: #"{"read":"creator"}"#)
    #expect(set.json["read"] == "creator" && set.json["update"] == "acl")
    let wrong = try server.send(as: .master, "PUT", target, body: #"{"read":"maybe"}"#)
    #expect(wrong.status == 400 && wrong.error == "InputValidationFailed")
    let directory = server.directory
    server.stop()
    let again = try TestServer(in: directory)
    #expect(try again.send(as: .master, "GET", target).json["read"] == "creator")
  }

  @Test("follows the rule of its operation")
  func rules() throws {
    try create("x", acl: #"{"gr":false}"#)
    try set(#"{"read":"always","update":"always","delete":"always"}"#)
    #expect(try server.send(as: bob, "GET", path + "/x").status == 200)
    #expect(
      try server.send(as: bob, "PUT", path + "/x", body: #"{"_acl":{"gr":true,"gw":true}}"#).status
        == 200)
    try set(#"{"read":"creator","update":"creator","delete":"creator"}"#)
    #expect(try server.send(as: bob, "GET", path + "/x").status == 401)
    #expect(try server.send(as: bob, "GET", path).text == "[]")
    #expect(try server.send(as: bob, "PUT", path + "/x", body: "{}").status == 401)
    #expect(try server.send(as: bob, "DELETE", query(path, "{}")).text == #"{"count":0}"#)
    try set(#"{"read":"acl"}"#)
    #expect(try server.send(as: bob, "GET", path).ids == ["x"])
    try set(#"{"create":"never","read":"never","update":"never","delete":"never"}"#)
    for (method, target, body) in [
      ("GET", path, nil), ("GET", path + "/x", nil), ("GET", path + "/_count", nil),
      ("POST", path, "{}"), ("POST", path, "[{}]"), ("PUT", path + "/x", "{}"),
      ("DELETE", path + "/x", nil), ("DELETE", query(path, "{}"), nil),
    ] as [(String, String, String?)] {
      let answer = try server.send(as: ana, method, target, body: body)
      #expect(answer.status == 401 && answer.error == "InsufficientCredentials", "\(method)")
      #expect(try server.send(as: .master, method, target, body: body).status < 300, "\(method)")
    }
  }

  @Test("to create is needed for a PUT that creates")
  func createByPut() throws {
    try create("x")
    try set(#"{"create":"never"}"#)
    #expect(try server.send(as: ana, "PUT", path + "/x", body: "{}").status == 200)
    #expect(
      try server.send(as: ana, "PUT", path + "/y", body: "{}").error == "InsufficientCredentials")
  }

  @Test("can be another by default for all collections")
  func startOption() throws {
    let server = try TestServer { $0.permissions.read = .never }
    let ana = try server.user("ana")
    #expect(try server.send(as: ana, "POST", path, body: "{}").status == 201)
    #expect(try server.send(as: ana, "GET", path).error == "InsufficientCredentials")
    #expect(try server.send(as: ana, "GET", "/appdata/kid/void").error == "InsufficientCredentials")
    #expect(try server.send(as: ana, "GET", "/user/kid/_me").status == 200)
  }

  private func create(_ id: String, acl: String? = nil) throws {
    let access = acl.map { ",\"_acl\":\($0)" } ?? ""
    let answer = try server.send(as: ana, "POST", path, body: "{\"_id\":\"\(id)\"\(access)}")
    #expect(answer.status == 201)
  }

  private func set(_ permissions: String) throws {
    #expect(
      try server.send(as: .master, "PUT", path + "/_permissions", body: permissions).status == 200)
  }
}
