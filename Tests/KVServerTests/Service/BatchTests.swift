internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("A batch of writes") struct BatchTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/places"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
  }

  private func send(_ body: String, as who: TestServer.Who? = nil) throws -> HTTPAnswer {
    try server.send(as: who ?? ana, "POST", path + "/_batch", body: body)
  }

  private func statuses(_ answer: HTTPAnswer) -> [Int64] {
    (answer.json.arrayValue ?? []).compactMap { $0["status"]?.intValue }
  }

  private func errors(_ answer: HTTPAnswer) -> [String] {
    (answer.json.arrayValue ?? []).map { $0["error"]?.stringValue ?? "" }
  }

  private func revision(_ id: String) throws -> String {
    let entity = try server.send(as: ana, "GET", "\(path)/\(id)").expect(200).json
    return try #require(entity["_kmd"]?["lmt"]?.stringValue)
  }

  @Test("creates, replaces and deletes, and gives each result at its index")
  func eachKind() throws {
    _ = try server.send(as: ana, "PUT", path + "/old", body: #"{"n":1,"_acl":{"gr":false}}"#)
    _ = try server.send(as: ana, "PUT", path + "/gone", body: "{}")
    let answer = try send(
      """
      [{"method":"POST","entity":{"_id":"a","n":1}}, {"method":"PUT","id":"old","entity":{"n":2}},
       {"method":"DELETE","id":"gone"}, {"method":"PUT","id":"b","entity":{"_id":"b"}},
       {"method":"POST","entity":{"n":3}}, {"method":"DELETE","id":"never"}]
      """
    ).expect(200)
    #expect(statuses(answer) == [201, 200, 200, 201, 201, 404])
    let results = try #require(answer.json.arrayValue)
    #expect(results[0]["entity"]?["n"] == 1 && results[0]["entity"]?["_id"] == "a")
    #expect(results[1]["entity"]?["n"] == 2)
    // As a PUT does it: the entity keeps its access list.
    #expect(results[1]["entity"]?["_acl"]?["gr"] == false)
    #expect(results[2] == ["status": 200, "count": 1])
    #expect(results[5]["error"] == "EntityNotFound")
    for index in [0, 1, 3, 4] {
      let stored = try #require(results[index]["entity"])
      let id = try #require(stored["_id"]?.stringValue)
      #expect(try server.send(as: ana, "GET", "\(path)/\(id)").json == stored)
    }
    #expect(try server.send(as: ana, "GET", path + "/gone").status == 404)
  }

  @Test("keeps the condition of each write")
  func conditions() throws {
    for id in ["a", "b", "c", "d"] {
      _ = try server.send(as: ana, "PUT", "\(path)/\(id)", body: #"{"n":1}"#)
    }
    let (a, b) = (try revision("a"), try revision("b"))
    _ = try server.send(as: ana, "PUT", path + "/b", body: #"{"n":2}"#)
    let answer = try send(
      """
      [{"method":"PUT","id":"a","ifMatch":"\\"\(a)\\"","entity":{"n":3}},
       {"method":"PUT","id":"b","ifMatch":"\(b)","entity":{"n":3}},
       {"method":"DELETE","id":"c","ifMatch":"\(a)x"},
       {"method":"DELETE","id":"d","ifMatch":"*"},
       {"method":"PUT","id":"e","ifMatch":"\(a)","entity":{}},
       {"method":"PUT","id":"f","ifNoneMatch":"*","entity":{}}]
      """)
    #expect(
      errors(answer) == [
        "", "StaleRequest", "ParameterValueOutOfRange", "", "EntityNotFound", "",
      ])
    #expect(try server.send(as: ana, "GET", path + "/b").json["n"] == 2)
    #expect(try server.send(as: ana, "GET", path).ids.sorted() == ["a", "b", "c", "f"])
  }

  @Test("that is sent again after its answer was lost does nothing twice")
  func again() throws {
    _ = try server.send(as: ana, "PUT", path + "/u", body: #"{"n":1}"#)
    _ = try server.send(as: ana, "PUT", path + "/d", body: #"{"n":1}"#)
    let body = """
      [{"method":"POST","entity":{"_id":"c","n":1}},
       {"method":"PUT","id":"u","ifMatch":"\(try revision("u"))","entity":{"n":2}},
       {"method":"DELETE","id":"d","ifMatch":"\(try revision("d"))"},
       {"method":"PUT","id":"p","ifNoneMatch":"*","entity":{"n":1}}]
      """
    #expect(statuses(try send(body)) == [201, 200, 200, 201])
    let (before, again) = (try server.send(as: ana, "GET", path).text, try send(body))
    #expect(statuses(again) == [500, 409, 404, 409])
    #expect(again.json.arrayValue?.first?["debug"]?.stringValue?.contains("exists") == true)
    #expect(try server.send(as: ana, "GET", path).text == before)
  }

  @Test("is not held up by a write that is refused")
  func refused() throws {
    let answer = try send(
      """
      [{"method":"PUT","id":"a","entity":{}}, 7, {"method":"PUT","id":"b","entity":{"_geoloc":[-300,0]}},
       {"method":"PATCH","id":"c","entity":{}}, {"method":"PUT","id":"d"}, {"method":"PUT","entity":{}},
       {"method":"DELETE","id":"e","entity":{}}, {"method":"POST","ifNoneMatch":"*","entity":{}},
       {"method":"PUT","id":"f","entity":{"_id":"g"}}, {"method":"PUT","id":"_count","entity":{}},
       {"method":"PUT","id":"h","entity":[]}, {"method":"PUT","id":1,"entity":{}},
       {"method":"PUT","id":"i","ifmatch":"*","entity":{}}, {"method":"PUT","id":"a","entity":{"n":2}},
       {"method":"PUT","id":"z","entity":{}}]
      """
    ).expect(200)
    #expect(
      errors(answer) == [
        "", "InputValidationFailed", "ParameterValueOutOfRange", "BadRequest", "BadRequest",
        "BadRequest", "BadRequest", "BadRequest", "InvalidIdentifier", "InvalidIdentifier",
        "InputValidationFailed", "InputValidationFailed", "InputValidationFailed", "BadRequest", "",
      ])
    #expect(try server.send(as: ana, "GET", path).ids == ["a", "z"])
  }

  @Test("may do what its user may, entity by entity")
  func rights() throws {
    let ben = try server.user("ben")
    _ = try server.send(as: ben, "PUT", path + "/bens", body: #"{"n":1}"#)
    _ = try server.send(as: ben, "PUT", path + "/open", body: #"{"n":1,"_acl":{"gw":true}}"#)
    let body = """
      [{"method":"PUT","id":"bens","entity":{"n":2}}, {"method":"DELETE","id":"bens"},
       {"method":"PUT","id":"open","entity":{"n":2}}, {"method":"POST","entity":{"_id":"anas"}}]
      """
    #expect(
      errors(try send(body)) == ["InsufficientCredentials", "BadRequest", "", ""])
    #expect(try server.send(as: ben, "GET", path + "/bens").json["n"] == 1)
    #expect(
      try server.send(as: ben, "GET", path + "/open").json["_acl"]?["creator"] == .string(ben.id))
    #expect(
      try server.send(as: ben, "GET", path + "/anas").json["_acl"]?["creator"] == .string(ana.id))
    _ = try server.send(
      as: .master, "PUT", path + "/_permissions", body: #"{"create":"never","delete":"never"}"#)
    let closed = try send(
      """
      [{"method":"POST","entity":{}}, {"method":"PUT","id":"new","entity":{}},
       {"method":"DELETE","id":"anas"}, {"method":"PUT","id":"anas","entity":{"n":1}}]
      """)
    #expect(
      errors(closed) == [
        "InsufficientCredentials", "InsufficientCredentials", "InsufficientCredentials", "",
      ])
    #expect(errors(try send(body, as: .app)).allSatisfy { $0 == "InsufficientCredentials" })
    #expect(try send(body, as: .nobody).status == 401)
  }

  @Test("takes 1 to 100 writes, of a body that is an array")
  func limits() throws {
    let many = { (count: Int) in
      "[" + repeatElement(#"{"method":"POST","entity":{}}"#, count: count).joined(separator: ",")
        + "]"
    }
    #expect(try send("[]").error == "BadRequest")
    #expect(try send(many(101)).error == "RequestEntityTooLarge")
    for broken in ["", "{}", "7", "[", #"[{"method":"POST","entity":{"a":}}]"#] {
      #expect(try send(broken).status == 400)
    }
    #expect(try server.send(as: ana, "GET", path + "/_batch").status == 405)
    #expect(try server.send(as: ana, "GET", path).text == "[]")
    #expect(try send(many(100)).status == 200)
    #expect(try server.send(as: ana, "GET", path + "/_count").text == #"{"count":100}"#)
  }

  @Test("may be as large as other bodies with entities")
  func large() throws {
    let text = String(repeating: "x", count: 2 << 20)
    let answer = try send(#"[{"method":"PUT","id":"a","entity":{"t":"\#(text)"}}]"#)
    #expect(statuses(answer) == [201])
    #expect(try server.send(as: ana, "GET", path + "/a").json["t"]?.stringValue == text)
  }

  @Test("that only deletes, or is refused, makes no collection")
  func noCollection() throws {
    #expect(errors(try send(#"[{"method":"DELETE","id":"a"}, 7]"#)).first == "EntityNotFound")
    let remove = try server.send(
      as: .master, "POST", "/rpc/kid/remove-collection", body: #"{"collectionName":"places"}"#,
      headers: [("X-Kinvey-Delete-Entire-Collection", "true")])
    #expect(remove.error == "CollectionNotFound")
    #expect(
      try server.send(as: ana, "POST", "/appdata/kid/-x/_batch", body: "[]").error
        == "InvalidIdentifier")
  }

  @Test("is told to those who ask what has changed")
  func delta() throws {
    _ = try server.send(as: .master, "PUT", path + "/_history", body: #"{"enabled":true}"#)
    _ = try server.send(as: ana, "PUT", path + "/gone", body: "{}")
    let read = try server.send(as: ana, "GET", path)
    let since = try #require(read.headers["x-kinvey-request-start"])
    _ = try send(
      #"[{"method":"DELETE","id":"gone"},{"method":"PUT","id":"a","entity":{}},{"method":"POST","entity":{"_id":"b"}}]"#
    )
    let changes = try server.send(as: ana, "GET", target(path + "/_deltaset", [("since", since)]))
    #expect(changes.json["deleted"]?.arrayValue?.compactMap { $0["_id"] } == ["gone"])
    let changed = changes.json["changed"]?.arrayValue?.compactMap { $0["_id"]?.stringValue } ?? []
    #expect(Set(changed).isSuperset(of: ["a", "b"]))
  }

  @Test("is announced in answers, refusals apart")
  func announced() throws {
    #expect(try server.send(as: ana, "GET", path).headers["x-kvstored-batch"] == "100")
    #expect(
      try server.send(as: ana, "PUT", path + "/a", body: "{}").headers["x-kvstored-batch"] == "100")
    #expect(try server.send(as: .nobody, "GET", path).headers["x-kvstored-batch"] == nil)
  }
}
