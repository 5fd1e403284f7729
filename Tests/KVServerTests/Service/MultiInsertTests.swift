internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Inserting several entities") struct MultiInsertTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/places"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
  }

  @Test("gives them back in their order")
  func all() throws {
    let answer = try server.send(
      as: ana, "POST", path, body: #" [{"n":"a"},{"_id":"mine","n":"b"}]"#)
    #expect(answer.status == 207)
    let entities = try #require(answer.json["entities"]?.arrayValue)
    #expect(entities.map { $0["n"] } == ["a", "b"] && entities[1]["_id"] == "mine")
    #expect(answer.json["errors"] == [])
  }

  @Test("reports each that failed, with null at its index, and keeps the others")
  func partial() throws {
    let answer = try server.send(
      as: ana, "POST", path,
      body: #"[{"_id":"x"},{"_id":"x"},{"_geoloc":[-300,-300]},7,{"_id":1},{"_id":"y"}]"#)
    #expect(answer.status == 207)
    let entities = try #require(answer.json["entities"]?.arrayValue)
    #expect(entities.map(\.isNull) == [false, true, true, true, true, false])
    let errors = try #require(answer.json["errors"]?.arrayValue)
    #expect(errors.map { $0["index"]?.intValue } == [1, 2, 3, 4])
    #expect(
      errors.map { $0["error"]?.stringValue } == [
        "KinveyInternalErrorRetry", "ParameterValueOutOfRange", "InputValidationFailed",
        "InputValidationFailed",
      ])
    for error in errors {
      #expect(error["description"]?.stringValue?.isEmpty == false)
      #expect(error["debug"]?.stringValue?.isEmpty == false)
    }
    #expect(try server.send(as: ana, "GET", path).ids == ["x", "y"])
  }

  @Test("takes 1 to 100 entities")
  func limits() throws {
    let many = { (count: Int) in
      "[" + repeatElement("{}", count: count).joined(separator: ",") + "]"
    }
    #expect(try server.send(as: ana, "POST", path, body: "[]").error == "BadRequest")
    #expect(try server.send(as: ana, "POST", path, body: many(100)).status == 207)
    let tooMany = try server.send(as: ana, "POST", path, body: many(101))
    #expect(tooMany.status == 413 && tooMany.error == "RequestEntityTooLarge")
    #expect(try server.send(as: ana, "GET", path + "/_count").text == #"{"count":100}"#)
  }

  @Test("needs API version 5", arguments: [nil, 1, 4])
  func versions(version: Int?) throws {
    let answer = try server.send(as: ana, "POST", path, body: "[{}]", version: version)
    #expect(answer.status == 400 && answer.error == "FeatureUnavailable")
  }

  @Test("of what is not JSON inserts nothing")
  func broken() throws {
    let answer = try server.send(as: ana, "POST", path, body: #"[{"a":1},{"a":]"#)
    #expect(answer.status == 400 && answer.error == "JSONParseError")
    #expect(try server.send(as: ana, "GET", path).text == "[]")
  }
}
