internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("A write with a token") struct WriteTokenTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/notes"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
  }

  private func send(
    _ method: String, _ id: String? = "x", token: String, ifMatch: String? = nil,
    body: String? = nil, as who: TestServer.Who? = nil
  ) throws -> HTTPAnswer {
    var headers = [("X-Kvstored-Write-Token", token)]
    if let ifMatch { headers.append(("If-Match", ifMatch)) }
    return try server.send(
      as: who ?? ana, method, path + (id.map { "/" + $0 } ?? ""), body: body, headers: headers)
  }

  private func revision(_ answer: HTTPAnswer) throws -> String {
    try #require(answer.headers["etag"])
  }

  @Test("is carried out once, however often it arrives")
  func replacing() throws {
    let first = try send("PUT", token: "t1", body: #"{"n":1}"#).expect(201)
    let base = try revision(first)
    let second = try send("PUT", token: "t2", ifMatch: base, body: #"{"n":2}"#).expect(200)
    let again = try send("PUT", token: "t2", ifMatch: base, body: #"{"n":2}"#).expect(200)
    #expect(again.json == second.json)
    #expect(try revision(again) == revision(second))
    // The first one too, with what has become of the entity since.
    let late = try send("PUT", token: "t1", body: #"{"n":1}"#).expect(201)
    #expect(late.json == second.json)
    #expect(try server.send(as: ana, "GET", path + "/x").json == second.json)
  }

  @Test("creates one entity")
  func creating() throws {
    let first = try send("POST", nil, token: "t", body: #"{"_id":"c","n":1}"#).expect(201)
    let again = try send("POST", nil, token: "t", body: #"{"_id":"c","n":1}"#).expect(201)
    #expect(again.json == first.json)
    #expect(try send("POST", nil, token: "u", body: #"{"_id":"c","n":1}"#).status == 500)
    let many = #"[{"_id":"d"},{"_id":"e"}]"#
    let both = try send("POST", nil, token: "v,w", body: many).expect(207)
    #expect(try send("POST", nil, token: "v,w", body: many).expect(207).json == both.json)
    #expect(try send("POST", nil, token: "v", body: many).error == "BadRequest")
  }

  @Test("deletes, and says so again")
  func deleting() throws {
    let first = try send("PUT", token: "t1", body: "{}").expect(201)
    let base = try revision(first)
    #expect(try send("DELETE", token: "t2", ifMatch: base).expect(200).json == ["count": 1])
    #expect(try send("DELETE", token: "t2", ifMatch: base).expect(200).json == ["count": 1])
    #expect(try send("DELETE", token: "t3", ifMatch: base).error == "EntityNotFound")
  }

  @Test("does not bring back what has been deleted since")
  func gone() throws {
    _ = try send("PUT", token: "t1", body: "{}").expect(201)
    _ = try send("DELETE", token: "t2").expect(200)
    let late = try send("PUT", token: "t1", body: "{}")
    #expect(late.status == 410 && late.error == "EntityGone")
    let created = try send("POST", nil, token: "t4", body: #"{"_id":"c"}"#).expect(201)
    _ = try send("DELETE", created.json["_id"]?.stringValue, token: "t5").expect(200)
    #expect(try send("POST", nil, token: "t4", body: #"{"_id":"c"}"#).error == "EntityGone")
    #expect(try server.send(as: ana, "GET", path).json == [])
  }

  @Test("is not one of another user, entity or collection, nor one that was refused")
  func scope() throws {
    let bob = try server.user("bob")
    let open = #"{"n":1,"_acl":{"gr":true,"gw":true}}"#
    let base = try revision(send("PUT", token: "t", body: open).expect(201))
    #expect(try send("PUT", token: "t", body: #"{"n":2}"#, as: bob).expect(200).json["n"] == 2)
    #expect(try send("PUT", "y", token: "t", body: #"{"n":3}"#).expect(201).json["n"] == 3)
    let other = try server.send(
      as: ana, "PUT", "/appdata/kid/others/x", body: #"{"n":4}"#,
      headers: [("X-Kvstored-Write-Token", "t")])
    #expect(other.json["n"] == 4)
    #expect(try send("PUT", token: "s", ifMatch: base, body: #"{"n":5}"#).error == "StaleRequest")
    let now = try revision(server.send(as: ana, "GET", path + "/x"))
    #expect(try send("PUT", token: "s", ifMatch: now, body: #"{"n":5}"#).json["n"] == 5)
  }

  @Test("shows no more of the entity than its sender may read now")
  func rights() throws {
    let bob = try server.user("bob")
    _ = try send("PUT", token: "a", body: #"{"_acl":{"gr":true,"gw":true}}"#).expect(201)
    _ = try send("PUT", token: "b", body: #"{"n":1}"#, as: bob).expect(200)
    _ = try send("PUT", token: "c", body: #"{"secret":1,"_acl":{"gr":false}}"#).expect(200)
    #expect(try send("PUT", token: "b", body: #"{"n":1}"#, as: bob).error == "EntityGone")
  }

  @Test("may be one of a batch")
  func batch() throws {
    let base = try revision(send("PUT", token: "a", body: "{}").expect(201))
    let match = base.replacing("\"", with: "")
    let body = """
      [{"method":"PUT","id":"x","entity":{"n":1},"ifMatch":"\(match)"},
       {"method":"POST","entity":{"_id":"c"}},
       {"method":"DELETE","id":"never"}]
      """
    let first = try send("POST", "_batch", token: "t1,t2,t3", body: body).expect(200)
    let again = try send("POST", "_batch", token: "t1, t2,", body: body).expect(200)
    #expect(again.json == first.json)
    #expect(try send("POST", "_batch", token: "t1", body: body).error == "BadRequest")
    #expect(again.json.arrayValue?.compactMap { $0["status"]?.intValue } == [200, 201, 404])
  }

  @Test("that does not look like one is refused, and all answers announce them")
  func form() throws {
    for token in ["", "a b", "é", String(repeating: "x", count: 65)] {
      #expect(try send("PUT", token: token, body: "{}").status == 400)
    }
    let answer = try server.send(as: ana, "GET", path)
    #expect(answer.headers["x-kvstored-write-tokens"] == "30")
  }

  @Test("that arrives several times at once is carried out once")
  func together() throws {
    let base = try revision(send("PUT", token: "a", body: #"{"n":0}"#).expect(201))
    let headers = [
      ("Authorization", ana.authorization ?? ""), ("If-Match", base),
      ("X-Kvstored-Write-Token", "same"),
    ]
    let (port, path) = (server.port, path)
    let answers = concurrently(8) { _ -> JSONValue? in
      HTTPClient(port: port)?.send("PUT", path + "/x", headers: headers, body: Array("{}".utf8))?
        .json
    }
    #expect(answers.count == 8)
    #expect(answers.allSatisfy { $0 == answers[0] && $0["_id"] == "x" })
  }
}

extension String {
  fileprivate func replacing(_ old: Character, with new: String) -> String {
    reduce(into: "") { $0 += $1 == old ? new : String($1) }
  }
}
