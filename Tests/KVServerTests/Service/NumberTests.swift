internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Numbers over HTTP") struct NumberTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/notes"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
  }

  @Test(
    "beyond 64-bit floating point are refused, by name",
    arguments: ["1e400", "-1e400", String(repeating: "7", count: 400)])
  func refused(number: String) throws {
    let debug: JSONValue = "a.b[2]: the number is outside the range of 64-bit floating point"
    let entity = #"{"a":{"b":[1,2,\#(number)]}}"#
    for (method, target, body) in [
      ("POST", path, entity), ("PUT", path + "/x", entity),
      ("POST", "/user/kid", #"{"username":"eve","a":{"b":[1,2,\#(number)]}}"#),
    ] {
      let answer = try server.send(
        as: method == "POST" && target != path ? .app : ana, method, target, body: body)
      #expect(answer.status == 400 && answer.error == "ParameterValueOutOfRange")
      #expect(answer.json["debug"] == debug)
    }
    let some = try server.send(as: ana, "POST", path, body: #"[{"_id":"good"},\#(entity)]"#).expect(
      207)
    #expect(some.json["errors"]?.arrayValue?.first?["error"] == "ParameterValueOutOfRange")
    #expect(some.json["errors"]?.arrayValue?.first?["debug"] == debug)
    #expect(try server.send(as: ana, "GET", path).ids == ["good"])
  }

  @Test("beyond it are refused in a query, by name") func refusedInQuery() throws {
    let answer = try server.send(as: ana, "GET", query(path, #"{"n":{"$gt":1e400}}"#))
    #expect(answer.status == 400)
    #expect(
      answer.json["debug"]?.stringValue?
        .contains("n.$gt: the number is outside the range of 64-bit floating point") == true)
  }

  @Test("beyond 64 bits are stored as they were written, and can be asked for")
  func largeIntegers() throws {
    try server.send(as: ana, "POST", path, body: #"{"_id":"small","n":1}"#).expect(201)
    let stored = try server.send(
      as: ana, "POST", path, body: #"{"_id":"large","n":18446744073709551616}"#)
    #expect(stored.expect(201).text.contains(#""n":18446744073709551616,"#))
    for filter in [
      #"{"n":18446744073709551616}"#, #"{"n":{"$gte":18446744073709551616}}"#,
      #"{"n":{"$in":[18446744073709551616]}}"#, #"{"n":{"$gt":9223372036854775808}}"#,
    ] {
      let found = try server.send(as: ana, "GET", query(path, filter)).expect(200)
      #expect(found.ids == ["large"])
      #expect(found.text.contains(#""n":18446744073709551616,"#))
    }
    let sorted = try server.send(
      as: ana, "GET", target(path, [("query", "{}"), ("sort", #"{"n":-1}"#)]))
    #expect(sorted.ids == ["large", "small"])
  }
}
