internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Changes since a moment") struct DeltaTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/notes"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
  }

  @Test("are the changed entities that match and the ids of the deleted ones that did")
  func changes() throws {
    try switchOn()
    for id in ["kept", "changed", "deleted", "other"] { try put(id, #"{"done":false}"#) }
    let start = try now()
    try put("changed", #"{"done":false,"v":2}"#)
    try put("new", #"{"done":false}"#)
    try put("other", #"{"done":true}"#)
    _ = try server.send(as: ana, "DELETE", path + "/deleted")
    let answer = try delta(start, #"{"done":false}"#)
    #expect(answer.status == 200)
    #expect(answer.headers["x-kinvey-request-start"] != nil)
    #expect(ids(answer, "changed") == ["changed", "new"])
    #expect(ids(answer, "deleted") == ["deleted"])
    #expect(answer.json["left"] == nil)
    #expect(ids(try delta(start, nil), "changed").sorted() == ["changed", "new", "other"])
  }

  @Test("are none where nothing has changed")
  func nothing() throws {
    try put("old", "{}")
    try switchOn()
    let answer = try delta(try now(after: "old"), nil)
    #expect(answer.json["deleted"] == [])
    #expect(ids(answer, "changed").isEmpty)
  }

  @Test("include what a query deleted, and both when an id comes again")
  func deletions() throws {
    try switchOn()
    for id in ["a", "b", "c"] { try put(id, "{\"n\":\"\(id)\"}") }
    let start = try now()
    #expect(
      try server.send(as: ana, "DELETE", query(path, #"{"n":{"$ne":"c"}}"#)).text == #"{"count":2}"#
    )
    try put("a", #"{"n":"a"}"#)
    let answer = try delta(start, nil)
    #expect(ids(answer, "changed") == ["a"])
    #expect(ids(answer, "deleted").sorted() == ["a", "b"])
    #expect(ids(try delta(start, #"{"n":"b"}"#), "deleted") == ["b"])
  }

  @Test("go by versions that rise through deletions, however fast they come")
  func versions() throws {
    try switchOn()
    var last = ""
    for round in 0..<20 {
      for _ in 0..<4 {
        try put("a", "{}")
        let body = try server.send(as: ana, "GET", path + "/a").json
        let version = body["_kmd"]?["lmt"]?.stringValue ?? ""
        #expect(version > last, "\(round)")
        last = version
      }
      let target = round % 2 == 0 ? path + "/a" : query(path, #"{"_id":"a"}"#)
      _ = try server.send(as: ana, "DELETE", target)
    }
  }

  @Test("tell which entities have left the query, to those who ask")
  func leaving() throws {
    try switchOn()
    try put("stays", #"{"done":false}"#)
    try put("leaves", #"{"done":false}"#)
    let start = try now()
    try put("leaves", #"{"done":true}"#)
    let parameters = [("since", start), ("query", #"{"done":false}"#), ("left", "true")]
    let answer = try server.send(as: ana, "GET", target(path + "/_deltaset", parameters))
    #expect(ids(answer, "left") == ["leaves"])
    #expect(!ids(answer, "changed").contains("leaves"))
    let all = try server.send(
      as: ana, "GET", target(path + "/_deltaset", [("since", start), ("left", "true")]))
    #expect(ids(all, "left") == [] && ids(all, "changed").contains("leaves"))
  }

  @Test("hide what a user may not read, deleted or not")
  func access() throws {
    try switchOn()
    let bob = try server.user("bob")
    let start = try now()
    try put("secret", #"{"_acl":{"gr":false}}"#)
    try put("gone", #"{"_acl":{"gr":false}}"#)
    try put("public", "{}")
    _ = try server.send(as: ana, "DELETE", path + "/gone")
    let answer = try server.send(as: bob, "GET", target(path + "/_deltaset", [("since", start)]))
    #expect(ids(answer, "changed") == ["public"] && ids(answer, "deleted") == [])
    let own = try delta(start, nil)
    #expect(
      ids(own, "changed").sorted() == ["public", "secret"] && ids(own, "deleted") == ["gone"])
  }

  @Test(
    "tell who may not read an entity any more that it has left, deleted or not, and no stranger")
  func closing() throws {
    try switchOn()
    let (bob, eve) = (try server.user("bob"), try server.user("eve"))
    let (letIn, closed) = (#"{"_acl":{"gr":false,"r":["\#(bob.id)"]}}"#, #"{"_acl":{"gr":false}}"#)
    for id in ["closed", "gone", "open", "untouched"] { try put(id, letIn) }
    let start = try now()
    for id in ["closed", "gone", "open"] { try put(id, closed) }
    try put("open", letIn)
    try put("untouched", #"{"n":1}"#)
    try put("secret", closed)
    for id in ["gone", "secret"] { _ = try server.send(as: ana, "DELETE", path + "/" + id) }
    let answer = try changes(start, as: bob, left: true)
    #expect(ids(answer, "left").sorted() == ["closed", "gone"])
    #expect(ids(answer, "changed").sorted() == ["open", "untouched"])
    #expect(ids(answer, "deleted") == [])
    // The protocol's own clients know no such list: for them it is gone.
    #expect(ids(try changes(start, as: bob), "deleted").sorted() == ["closed", "gone"])
    for list in ["left", "deleted", "changed"] {
      #expect(ids(try changes(start, as: eve, left: true), list) == [])
      #expect(ids(try changes(start, as: eve), list) == [])
    }
    #expect(ids(try changes(start, as: ana, left: true), "left") == [])
  }

  @Test("tell that an entity has left which left the query before it was deleted")
  func leavingAndDeletion() throws {
    try switchOn()
    for id in ["a", "b"] { try put(id, #"{"done":false}"#) }
    let start = try now()
    try put("a", #"{"done":true}"#)
    for id in ["a", "b"] { _ = try server.send(as: ana, "DELETE", path + "/" + id) }
    let answer = try changes(start, as: ana, filter: #"{"done":false}"#, left: true)
    #expect(ids(answer, "left") == ["a"] && ids(answer, "deleted") == ["b"])
    #expect(ids(try changes(start, as: ana, filter: #"{"done":false}"#), "deleted") == ["b"])
  }

  @Test("are not known from before the collection's read rule was changed, also by a restart")
  func rules() throws {
    try switchOn()
    try put("x", "{}")
    let start = try now()
    func set(_ rule: String) throws {
      let answer = try server.send(
        as: .master, "PUT", path + "/_permissions", body: #"{"read":"\#(rule)"}"#)
      #expect(answer.status == 200)
    }
    try set("creator")
    #expect(try delta(start, nil).error == "ParameterValueOutOfRange")
    let closed = try later()
    #expect(try delta(closed, nil).status == 200)
    try set("creator")
    #expect(try delta(closed, nil).status == 200)
    try set("shared")
    #expect(try delta(closed, nil).error == "ParameterValueOutOfRange")

    try server.send(as: .master, "PUT", "/appdata/kid/plain/_history", body: #"{"enabled":true}"#)
      .expect(200)
    let plain = try later()
    server.stop()
    let again = try TestServer(in: server.directory) { $0.permissions.read = .acl }
    let since = [("since", plain)]
    for (name, status) in [("notes", 200), ("plain", 400)] {
      let target = target("/appdata/kid/\(name)/_deltaset", since)
      try again.send(as: ana, "GET", target).expect(status)
    }
  }

  @Test("of a collection that does not exist yet are none, and its history knows everything")
  func beginning() throws {
    let server = try TestServer { $0.historyDays = 5 }
    let ana = try server.user("ana")
    let start = try server.send(as: ana, "GET", path).headers["x-kinvey-request-start"] ?? ""
    let target = target(path + "/_deltaset", [("since", start), ("left", "true")])
    let before = try server.send(as: ana, "GET", target).expect(200)
    #expect(before.json == ["changed": [], "deleted": [], "left": []])
    try server.send(as: ana, "POST", path, body: #"{"_id":"x"}"#).expect(201)
    #expect(ids(try server.send(as: ana, "GET", target).expect(200), "changed") == ["x"])
  }

  @Test("come with the wanted fields only")
  func fields() throws {
    try switchOn()
    let start = try now()
    try put("x", #"{"a":1,"b":2}"#)
    let answer = try server.send(
      as: ana, "GET", target(path + "/_deltaset", [("since", start), ("fields", "a")]))
    let entity = try #require(answer.json["changed"]?.arrayValue?.first?.objectValue)
    #expect(entity.members.map(\.name) == ["_id", "a", "_acl", "_kmd"])
  }

  @Test("are refused with the protocol's errors")
  func errors() throws {
    try put("x", "{}")
    let start = try now()
    let off = try delta(start, nil)
    #expect(off.status == 403 && off.error == "MissingConfiguration")
    try switchOn()
    let missing = try server.send(as: ana, "GET", path + "/_deltaset")
    #expect(missing.status == 400 && missing.error == "MissingRequestParameter")
    for since in ["yesterday", "", "2024-13-01T00:00:00.000Z", "2000-01-01T00:00:00.000Z"] {
      let answer = try delta(since, nil)
      #expect(answer.status == 400 && answer.error == "ParameterValueOutOfRange", "\(since)")
    }
    #expect(try delta(try now(), #"{"a":{"$frob":1}}"#).error == "InvalidQuerySyntax")
    #expect(try delta(try now(), "{").error == "JSONParseError")
    #expect(
      try server.send(as: .app, "GET", path + "/_deltaset").error == "InsufficientCredentials")
  }

  @Test("are too many above ten thousand")
  func tooMany() throws {
    try switchOn()
    let start = try now()
    let client = try server.client()
    let headers = [("Authorization", ana.authorization ?? ""), ("X-Kinvey-API-Version", "5")]
    let body = Array(("[" + repeatElement("{}", count: 100).joined(separator: ",") + "]").utf8)
    for _ in 0..<100 { _ = client.send("POST", path, headers: headers, body: body) }
    #expect(ids(try delta(start, nil), "changed").count == 10_000)
    try put("one more", "{}")
    let answer = try delta(start, nil)
    #expect(answer.status == 400 && answer.error == "ResultSetSizeExceeded")
  }

  @Test("are switched on and off by the administrator, for so many days")
  func administration() throws {
    let target = path + "/_history"
    #expect(try server.send(as: .master, "GET", target).json == ["enabled": false])
    #expect(
      try server.send(as: ana, "PUT", target, body: #"{"enabled":true}"#).error
        == "InsufficientCredentials")
    let on = try server.send(as: .master, "PUT", target, body: #"{"enabled":true}"#)
    #expect(on.json["enabled"] == true && on.json["days"] == 15)
    let longer = try server.send(as: .master, "PUT", target, body: #"{"enabled":true,"days":30}"#)
    #expect(longer.json["days"] == 30 && longer.json["since"] == on.json["since"])
    for body in [#"{"enabled":true,"days":31}"#, #"{"enabled":true,"days":0}"#] {
      #expect(
        try server.send(as: .master, "PUT", target, body: body).error == "ParameterValueOutOfRange")
    }
    for body in ["{}", #"{"enabled":1}"#, #"{"enabled":true,"x":1}"#] {
      #expect(
        try server.send(as: .master, "PUT", target, body: body).error == "InputValidationFailed")
    }
    let start = try now()
    #expect(try delta(start, nil).status == 200)
    #expect(
      try server.send(as: .master, "PUT", target, body: #"{"enabled":false}"#).json == [
        "enabled": false
      ])
    #expect(try delta(start, nil).error == "MissingConfiguration")
    #expect(try server.send(as: .master, "PUT", target, body: #"{"enabled":true}"#).status == 200)
    #expect(try delta(start, nil).error == "ParameterValueOutOfRange")
  }

  @Test("are still known after a restart, and switched on for all by a start option")
  func restart() throws {
    try switchOn()
    try put("x", "{}")
    let start = try now()
    _ = try server.send(as: ana, "DELETE", path + "/x")
    let directory = server.directory
    server.stop()
    let again = try TestServer(in: directory) { $0.historyDays = 5 }
    let answer = try again.send(as: ana, "GET", target(path + "/_deltaset", [("since", start)]))
    #expect(ids(answer, "deleted") == ["x"])
    _ = try again.send(as: ana, "POST", "/appdata/kid/fresh", body: "{}")
    #expect(try again.send(as: .master, "GET", "/appdata/kid/fresh/_history").json["days"] == 5)
    #expect(try again.send(as: .master, "GET", path + "/_history").json["days"] == 15)
    again.server.stop()
    let without = try TestServer(in: directory)
    #expect(
      try without.send(as: .master, "GET", "/appdata/kid/fresh/_history").json["enabled"] == false)
    #expect(try without.send(as: .master, "GET", path + "/_history").json["enabled"] == true)
  }

  @Test("lead a client that asks again and again to what the server has, whatever others write")
  func following() throws {
    try switchOn()
    let headers = [("Authorization", ana.authorization ?? "")]
    let (port, path) = (server.port, path)
    let done = Monitor(false)
    var seed = Seed()
    let writers = (0..<3).compactMap { thread -> Worker? in
      let first = seed.next()
      return Worker("writer-\(thread)") {
        guard let client = HTTPClient(port: port) else { return }
        var random = Seed(first)
        while !done.withLock({ $0 }) {
          let target = path + "/\(Int.random(in: 0..<40, using: &random))"
          if Bool.random(using: &random) {
            _ = client.send("PUT", target, headers: headers, body: Array("{}".utf8))
          } else {
            _ = client.send("DELETE", target, headers: headers)
          }
        }
      }
    }
    let first = try server.send(as: ana, "GET", path)
    var known = Dictionary(
      uniqueKeysWithValues: (first.json.arrayValue ?? []).map { ($0["_id"]?.stringValue ?? "", $0) }
    )
    var since = first.headers["x-kinvey-request-start"] ?? ""
    for round in 0..<60 {
      if round == 59 {
        done.withLock { $0 = true }
        for writer in writers { writer.join() }
      }
      let answer = try delta(since, nil)
      since = answer.headers["x-kinvey-request-start"] ?? ""
      for id in ids(answer, "deleted") { known[id] = nil }
      for entity in answer.json["changed"]?.arrayValue ?? [] {
        known[entity["_id"]?.stringValue ?? ""] = entity
      }
    }
    let last = try server.send(as: ana, "GET", path).json.arrayValue ?? []
    #expect(Set(known.keys) == Set(last.compactMap { $0["_id"]?.stringValue }), "\(seed)")
    for entity in last { #expect(known[entity["_id"]?.stringValue ?? ""] == entity, "\(seed)") }
  }

  // MARK: Parts

  private func switchOn() throws {
    #expect(
      try server.send(as: .master, "PUT", path + "/_history", body: #"{"enabled":true}"#).status
        == 200)
  }

  private func put(_ id: String, _ body: String) throws {
    #expect(
      try server.send(as: ana, "PUT", path + "/" + percentEncoded(id), body: body).status < 300)
  }

  /// The time of a read, later than anything that was written: changes of the same millisecond would be
  /// reported once more.
  private func now(after id: String? = nil) throws -> String {
    let last = try server.send(as: ana, "GET", path).json.arrayValue?.compactMap {
      $0["_kmd"]?["lmt"]?.stringValue
    }.max()
    while true {
      let start =
        try server.send(as: ana, "GET", path + "/_count").headers["x-kinvey-request-start"] ?? ""
      if start > last ?? "" { return start }
    }
  }

  /// A time after the one that the server has come to.
  private func later() throws -> String {
    let before = try now()
    // On PostgreSQL an app's clock hardly moves unless somebody writes.
    try put("later", "{}")
    while true { if case let time = try now(), time > before { return time } }
  }

  private func delta(_ since: String, _ filter: String?) throws -> HTTPAnswer {
    try changes(since, as: ana, filter: filter)
  }

  private func changes(
    _ since: String, as who: TestServer.Who, filter: String? = nil, left: Bool = false
  ) throws -> HTTPAnswer {
    var parameters = [("since", since)] + (filter.map { [("query", $0)] } ?? [])
    if left { parameters.append(("left", "true")) }
    return try server.send(as: who, "GET", target(path + "/_deltaset", parameters))
  }

  private func ids(_ answer: HTTPAnswer, _ list: String) -> [String] {
    answer.json[list]?.arrayValue?.compactMap { $0["_id"]?.stringValue } ?? []
  }
}
