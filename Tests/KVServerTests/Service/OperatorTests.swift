import KVBase
import KVJSON
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("A PATCH with operators") struct OperatorTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let ben: TestServer.Who
  private let path = "/appdata/kid/notes"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
    ben = try server.user("ben")
    try server.send(as: ana, "PUT", path + "/x", body: #"{"n":1,"l":[1],"t":"a"}"#).expect(201)
  }

  private func patch(
    _ body: String, of id: String = "x", token: String? = nil, ifMatch: String? = nil,
    as who: TestServer.Who? = nil
  ) throws -> HTTPAnswer {
    var headers: [(String, String)] = []
    if let token { headers.append(("X-Kvstored-Write-Token", token)) }
    if let ifMatch { headers.append(("If-Match", ifMatch)) }
    return try server.send(
      as: who ?? ana, "PATCH", path + "/" + id, body: body, headers: headers)
  }

  private func entity(_ id: String = "x") throws -> JSONValue {
    try server.send(as: ana, "GET", path + "/" + id).expect(200).json
  }

  @Test("changes what is there, and is announced")
  func changing() throws {
    let before = try entity()
    let answer = try patch(#"{"$inc":{"n":2},"$push":{"l":2}}"#).expect(200)
    #expect(answer.json["n"] == 3)
    #expect(answer.json["l"] == [1, 2])
    #expect(answer.json["_acl"] == before["_acl"])
    #expect(answer.json["_kmd"]?["ect"] == before["_kmd"]?["ect"])
    #expect(answer.json["_kmd"]?["lmt"] != before["_kmd"]?["lmt"])
    #expect(try entity() == answer.json)
    #expect(answer.headers["etag"] == answer.json["_kmd"]?["lmt"]?.stringValue.map { "\"\($0)\"" })
    #expect(answer.headers["x-kvstored-operators"] == "100")
  }

  @Test("has several updates, which follow each other")
  func several() throws {
    let answer = try patch(#"[{"$inc":{"n":2}},{"$mul":{"n":5}},{"$set":{"u":1}}]"#).expect(200)
    #expect(answer.json["n"] == 15)
    #expect(answer.json["u"] == 1)
  }

  @Test("is carried out once, however often it arrives")
  func once() throws {
    let first = try patch(#"{"$inc":{"n":1}}"#, token: "t").expect(200)
    #expect(try patch(#"{"$inc":{"n":1}}"#, token: "t").expect(200).json == first.json)
    try patch(#"{"$inc":{"n":1}}"#, token: "u").expect(200)
    #expect(try patch(#"{"$inc":{"n":1}}"#, token: "t").expect(200).json["n"] == 3)
    try server.send(as: ana, "DELETE", path + "/x").expect(200)
    try patch(#"{"$inc":{"n":1}}"#, token: "t").expect(410)
  }

  @Test("is all or nothing")
  func refused() throws {
    let before = try entity()
    for body in [
      #"{"$inc":{"n":1,"t":1}}"#, #"[{"$inc":{"n":1}},{"$push":{"t":1}}]"#, #"{"n":1}"#, "[]", "7",
      #"{"$set":{"_id":"y"}}"#, #"{"$set":{"_geoloc":7}}"#, #"{"$pull":{"l":{"$regex":"a"}}}"#,
      #"{"$inc":{"l.100001":1}}"#, #"{"$inc":{"#,
    ] {
      let answer = try patch(body, token: "t")
      #expect(answer.status == 400, "\(body)")
    }
    #expect(try entity() == before)
    // The token is still free.
    try patch(#"{"$inc":{"n":1}}"#, token: "t").expect(200)
    #expect(try entity()["n"] == 2)
  }

  @Test("changes what exists only")
  func missing() throws {
    try patch(#"{"$inc":{"n":1}}"#, of: "y").expect(404)
    try server.send(as: ana, "PATCH", "/appdata/kid/other/x", body: #"{"$inc":{"n":1}}"#).expect(
      404)
    let names = try server.send(as: .master, "GET", "/appdata/kid/_collections").expect(200)
    #expect(!names.text.contains("other"))
  }

  @Test("may have a condition")
  func condition() throws {
    let revision = try #require(try server.send(as: ana, "GET", path + "/x").headers["etag"])
    try patch(#"{"$inc":{"n":1}}"#, ifMatch: revision).expect(200)
    try patch(#"{"$inc":{"n":1}}"#, ifMatch: revision).expect(409)
  }

  @Test("needs the permission to write and to read")
  func permissions() throws {
    try patch(#"{"$inc":{"n":1}}"#, as: ben).expect(401)
    try server.send(
      as: .master, "PUT", path + "/_permissions", body: #"{"update":"always","read":"creator"}"#
    ).expect(200)
    try patch(#"{"$inc":{"n":1}}"#, as: ben).expect(401)
    try patch(#"{"$inc":{"n":1}}"#).expect(200)
    try server.send(
      as: .master, "PUT", path + "/_permissions", body: #"{"update":"always","read":"never"}"#
    ).expect(200)
    try patch(#"{"$inc":{"n":1}}"#).expect(401)
    try server.send(
      as: .master, "PUT", path + "/_permissions", body: #"{"update":"always","read":"always"}"#
    ).expect(200)
    try patch(#"{"$inc":{"n":1}}"#, as: ben).expect(200)
  }

  @Test("cannot give an entity to somebody else")
  func creator() throws {
    let answer = try patch(#"{"$set":{"_acl.creator":"ben","_acl.gr":true,"_kmd.lmt":"x"}}"#)
      .expect(200)
    #expect(answer.json["_acl"]?["creator"] == .string(ana.id))
    #expect(answer.json["_acl"]?["gr"] == true)
    #expect(answer.json["_kmd"]?["lmt"] != "x")
    try server.send(as: ben, "GET", path + "/x").expect(200)
  }

  @Test("may stand in a batch")
  func batch() throws {
    let answer = try server.send(
      as: ana, "POST", path + "/_batch",
      body: """
        [{"method":"PATCH","id":"x","operators":[{"$inc":{"n":4}}]},
         {"method":"PATCH","id":"y","operators":{"$inc":{"n":4}}},
         {"method":"PATCH","id":"x"}]
        """, headers: [("X-Kvstored-Write-Token", "a,b,c")]
    ).expect(200)
    #expect(answer.json.arrayValue?.map { $0["status"] } == [200, 404, 400])
    #expect(answer.json.arrayValue?.first?["entity"]?["n"] == 5)
  }
}
