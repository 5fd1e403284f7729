internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Procedures of the administrator") struct ProcedureTests {
  private let server: TestServer
  private let path = "/rpc/kid/remove-collection"
  private let entire = ("X-Kinvey-Delete-Entire-Collection", "true")
  private let retain = ("X-Kinvey-Retain-collection-Metadata", "true")

  init() throws { server = try TestServer() }

  @Test("remove a collection whole, and its rules unless they are to stay")
  func removeCollection() throws {
    _ = try server.send(
      as: .master, "PUT", "/appdata/kid/notes/_permissions", body: #"{"read":"never"}"#)
    for (headers, rule) in [([entire, retain], "never"), ([entire], "shared")] {
      _ = try server.send(
        as: .master, "POST", "/appdata/kid/notes", body: #"[{"_id":"a"},{"_id":"b"}]"#)
      let answer = try remove("notes", headers: headers)
      #expect(answer.status == 200 && answer.text == #"{"count":2}"#)
      #expect(try server.send(as: .master, "GET", "/appdata/kid/notes").text == "[]")
      let rules = try server.send(as: .master, "GET", "/appdata/kid/notes/_permissions")
      #expect(rules.json["read"]?.stringValue == rule)
    }
  }

  @Test("remove the history of a collection with it, unless that is to stay")
  func removeHistory() throws {
    _ = try server.send(
      as: .master, "PUT", "/appdata/kid/notes/_history", body: #"{"enabled":true}"#)
    for (headers, enabled) in [([entire, retain], true), ([entire], false)] {
      _ = try remove("notes", headers: headers)
      let history = try server.send(as: .master, "GET", "/appdata/kid/notes/_history")
      #expect(history.json["enabled"] == .bool(enabled))
    }
  }

  @Test("remove all users, whose ids are not given again")
  func removeUsers() throws {
    let (ana, bob) = (try server.user("ana"), try server.user("bob"))
    #expect(try remove("user", headers: [entire, retain]).text == #"{"count":2}"#)
    for user in [ana, bob] {
      #expect(try server.send(as: user, "GET", "/user/kid/_me").status == 401)
      let again = #"{"_id":"\#(user.id)"}"#
      #expect(
        try server.send(as: .master, "POST", "/user/kid", body: again).error == "UserAlreadyExists")
    }
    #expect(try server.send(as: .master, "GET", "/user/kid").text == "[]")
  }

  @Test("are refused to others, and without saying that all is meant")
  func refusals() throws {
    let ana = try server.user("ana")
    _ = try server.send(as: ana, "POST", "/appdata/kid/notes", body: "{}")
    for who in [TestServer.Who.app, ana] {
      let answer = try remove("notes", who, headers: [entire])
      #expect(answer.status == 401 && answer.error == "InsufficientCredentials")
    }
    #expect(try remove("notes", headers: []).error == "MissingRequestHeader")
    #expect(
      try server.send(as: .master, "POST", path, body: "{}", headers: [entire]).error
        == "IncompleteRequestBody")
    for name in ["others", "_blob", "_users", ""] {
      let answer = try remove(name, headers: [entire])
      #expect(answer.status == 404 && answer.error == "CollectionNotFound", "\(name)")
    }
    #expect(try server.send(as: ana, "GET", "/appdata/kid/notes/_count").text == #"{"count":1}"#)
  }

  @Test("of business logic do not exist, in the words that clients expect")
  func customEndpoint() throws {
    let answer = try server.send(
      as: try server.user("ana"), "POST", "/rpc/kid/custom/mine", body: "{}")
    #expect(answer.status == 404 && answer.error == "EndpointDoesNotExist")
    #expect(
      answer.json["description"]
        == "The custom endpoint you tried to access does not exist. Please configure custom Business Logic endpoints through the Kinvey Console."
    )
    #expect(try server.send(as: .nobody, "POST", "/rpc/kid/custom/mine", body: "{}").status == 401)
  }

  private func remove(
    _ name: String, _ who: TestServer.Who = .master, headers: [(String, String)]
  ) throws -> HTTPAnswer {
    try server.send(
      as: who, "POST", path, body: "{\"collectionName\":\"\(name)\"}", headers: headers)
  }
}
