internal import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Finding over HTTP") struct FindTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/cities"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
    for (id, country, people) in [("a", "CH", 3), ("b", "DE", 1), ("c", "CH", 2), ("d", "AT", 4)] {
      let body = #"{"_id":"\#(id)","country":"\#(country)","n":{"people":\#(people)},"x":1}"#
      _ = try server.send(as: ana, "POST", path, body: body)
    }
  }

  @Test("gives everything in the order of storage")
  func all() throws {
    let answer = try server.send(as: ana, "GET", path)
    #expect(answer.status == 200 && answer.ids == ["a", "b", "c", "d"])
    #expect(answer.headers["x-kinvey-request-start"]?.hasSuffix("Z") == true)
    #expect(answer.headers["content-type"] == "application/json; charset=utf-8")
  }

  @Test("takes its filter with and without a slash before it")
  func filter() throws {
    let filter = #"{"country":"CH","n.people":{"$gt":2}}"#
    #expect(try server.send(as: ana, "GET", query(path, filter)).ids == ["a"])
    #expect(try server.send(as: ana, "GET", query(path + "/", filter)).ids == ["a"])
    #expect(
      try server.send(as: ana, "GET", query(path, #"{"_id":{"$in":["d","b","zz"]}}"#)).ids == [
        "b", "d",
      ])
    #expect(try server.send(as: ana, "GET", query(path, "")).ids.count == 4)
  }

  @Test("searches texts as the local store does, and sorts by the score")
  func texts() throws {
    for (id, text) in [("1", "fox b c"), ("2", "the foxes"), ("3", "fox"), ("4", "fox, fox b")] {
      _ = try server.send(
        as: ana, "POST", "/appdata/kid/texts", body: #"{"_id":"\#(id)","t":"\#(text)"}"#)
    }
    let filter = #"{"t":{"$text":{"$search":"fox*","$matchCriteria":"all"}}}"#
    let path = query("/appdata/kid/texts", filter)
    #expect(try server.send(as: ana, "GET", path).ids == ["1", "2", "3", "4"])
    let sort = "&sort=%7B%22s%22%3A%7B%22%24meta%22%3A%22textScore%22%7D%7D"
    #expect(try server.send(as: ana, "GET", path + sort).ids == ["4", "3", "2", "1"])
    let refused = try server.send(as: ana, "GET", query("/appdata/kid/texts", "{}") + sort)
    #expect(refused.status == 400)
    let stems = #"{"$text":{"$search":"fox","$language":"english"}}"#
    #expect(try server.send(as: ana, "GET", query("/appdata/kid/texts", stems)).ids.count == 4)
  }

  @Test("compares and sorts texts as a language does, with an index and without")
  func collation() throws {
    let path = "/appdata/kid/names"
    for (id, name) in [("1", "Zoe"), ("2", "Ärger"), ("3", "anna"), ("4", "ärger"), ("5", "Öl")] {
      _ = try server.send(as: ana, "POST", path, body: #"{"_id":"\#(id)","name":"\#(name)"}"#)
    }
    let german = #"{"name":{"$collation":"de"}}"#
    let swedish = #"{"name":{"$order":-1,"$collation":{"locale":"sv","ignoreCase":true}}}"#
    let filter =
      #"{"name":{"$in":["arger","ol"],"$collation":{"locale":"de","ignoreCase":true,"ignoreAccents":true}}}"#
    for isIndexed in [false, true] {
      if isIndexed {
        try server.send(as: .master, "PUT", path + "/_indexes", body: #"{"keys":{"name":1}}"#)
          .expect(200)
      }
      #expect(
        try server.send(as: ana, "GET", target(path, [("sort", german)])).ids
          == ["3", "4", "2", "5", "1"])
      #expect(
        try server.send(
          as: ana, "GET", target(path, [("sort", swedish), ("skip", "1"), ("limit", "3")])
        ).ids == ["2", "4", "1"])
      #expect(try server.send(as: ana, "GET", query(path, filter)).ids == ["2", "4", "5"])
      let count = try server.send(as: ana, "GET", query(path + "/_count", filter))
      #expect(count.json["count"] == .int(3))
      // By this a client knows that it may send such queries.
      #expect(count.headers["x-kvstored-collation"] == Service.collationHeader.value)
    }
    for sort in [#"{"name":{"$collation":"xx"}}"#, #"{"name":{"$collation":"de","$x":1}}"#] {
      #expect(try server.send(as: ana, "GET", target(path, [("sort", sort)])).status == 400)
    }
  }

  @Test("sorts, skips and limits, in this order")
  func pages() throws {
    let sorted = target(path, [("sort", #"{"country":1,"n.people":-1}"#)])
    #expect(try server.send(as: ana, "GET", sorted).ids == ["d", "a", "c", "b"])
    let page = target(path, [("sort", #"{"n.people":-1}"#), ("skip", "1"), ("limit", "2")])
    #expect(try server.send(as: ana, "GET", page).ids == ["a", "c"])
    #expect(try server.send(as: ana, "GET", target(path, [("skip", "3")])).ids == ["d"])
    #expect(try server.send(as: ana, "GET", target(path, [("limit", "1")])).ids == ["a"])
    #expect(try server.send(as: ana, "GET", target(path, [("skip", "9")])).text == "[]")
  }

  @Test("walks along the ids, between bounds, past what a filter or a rule leaves out")
  func walk() throws {
    func walk(_ filter: String, _ more: [(String, String)] = []) throws -> [String] {
      let items = [("query", filter), ("sort", #"{"_id":1}"#)] + more
      return try server.send(as: ana, "GET", target(path, items)).ids
    }
    _ = try server.send(as: ana, "POST", path, body: #"{"_id":"B","country":"CH"}"#)
    _ = try server.send(as: ana, "POST", path, body: #"{"_id":"ö","country":"CH"}"#)
    #expect(try walk("{}") == ["B", "a", "b", "c", "d", "ö"])
    #expect(try walk(#"{"_id":{"$gt":"a","$lte":"c"}}"#) == ["b", "c"])
    #expect(try walk(#"{"country":"CH","_id":{"$gt":"B"}}"#) == ["a", "c", "ö"])
    #expect(try walk(#"{"_id":{"$gt":"d"}}"#) == ["ö"])
    #expect(try walk("{}", [("skip", "2"), ("limit", "2")]) == ["b", "c"])
    #expect(try walk(#"{"_id":{"$gt":"z","$lte":"a"}}"#).isEmpty)
    #expect(try walk(#"{"_id":{"$in":["d","a"]}}"#) == ["a", "d"])
    let bob = try server.user("bob")
    _ = try server.send(as: ana, "PUT", path + "/b", body: #"{"_acl":{"gr":false}}"#)
    let items = [("sort", #"{"_id":1}"#)]
    #expect(try server.send(as: bob, "GET", target(path, items)).ids == ["B", "a", "c", "d", "ö"])
  }

  @Test("shows only the wanted fields, and _id, _acl and _kmd always")
  func fields() throws {
    let answer = try server.send(as: ana, "GET", target(path, [("fields", "country,n.people")]))
    let first = try #require(answer.json.arrayValue?.first?.objectValue)
    #expect(first.members.map(\.name) == ["_id", "country", "n", "_acl", "_kmd"])
  }

  @Test("counts what matches, whatever the page")
  func count() throws {
    #expect(try server.send(as: ana, "GET", path + "/_count").text == #"{"count":4}"#)
    let answer = try server.send(as: ana, "GET", query(path + "/_count", #"{"country":"CH"}"#))
    #expect(answer.text == #"{"count":2}"#)
    #expect(answer.headers["x-kinvey-request-start"] != nil)
  }

  @Test("tells the number of all matches when it is asked to")
  func itemsCount() throws {
    let answer = try server.send(
      as: ana, "GET", target(path, [("query", #"{"country":"CH"}"#), ("limit", "1")]),
      headers: [("X-Kinvey-Include-Items-Count", "true")])
    #expect(answer.ids == ["a"] && answer.headers["x-kinvey-items-count"] == "2")
  }

  @Test("refuses parameters that make no sense")
  func misuse() throws {
    let cases: [(String, String, String)] = [
      ("query", "{", "JSONParseError"), ("query", "[]", "InvalidQuerySyntax"),
      ("query", #"{"a":{"$frob":1}}"#, "InvalidQuerySyntax"),
      ("query", #"{"a":{"$in":1}}"#, "InvalidQuerySyntax"),
      ("sort", "x", "JSONParseError"), ("sort", #"{"a":2}"#, "InvalidQuerySyntax"),
      ("skip", "-1", "ParameterValueOutOfRange"), ("limit", "x", "ParameterValueOutOfRange"),
    ]
    for (name, value, error) in cases {
      for address in [path, "/appdata/kid/void", path + "/_count"] {
        let answer = try server.send(as: ana, "GET", target(address, [(name, value)]))
        #expect(answer.status == 400 && answer.error == error, "\(address) \(name)=\(value)")
      }
    }
  }

  @Test("gives a regular expression so many steps and no more, and names the entity")
  func budget() throws {
    let long = String(repeating: "a", count: 3000)
    _ = try server.send(as: ana, "POST", path, body: "{\"_id\":\"it\",\"long\":\"\(long)\"}")
    let slow = query(path, #"{"long":{"$regex":"[a-z]*[a-z]*[a-z]*[0-9]"}}"#)
    let answer = try server.send(as: ana, "GET", slow)
    #expect(answer.status == 400 && answer.error == "InvalidQuerySyntax")
    #expect(answer.text.contains(#"for the entity \"it\""#))
    #expect(try server.send(as: ana, "DELETE", slow).status == 400)
    #expect(try server.send(as: ana, "GET", path + "/_count").text == #"{"count":5}"#)
  }

  @Test("deletes what a query matches, and nothing without one")
  func delete() throws {
    let without = try server.send(as: ana, "DELETE", path)
    #expect(without.status == 400 && without.error == "MissingQuery")
    let some = try server.send(as: ana, "DELETE", query(path, #"{"country":"CH"}"#))
    #expect(some.status == 200 && some.text == #"{"count":2}"#)
    #expect(
      try server.send(as: ana, "DELETE", query(path, #"{"country":"CH"}"#)).text == #"{"count":0}"#)
    #expect(try server.send(as: ana, "DELETE", query(path, "{}")).text == #"{"count":2}"#)
  }

  @Test("answers HEAD as GET, without a body")
  func head() throws {
    let client = try server.client()
    let authorization = ("Authorization", try #require(ana.authorization))
    for target in [path, path + "/a", path + "/_count"] {
      let head = try #require(client.send("HEAD", target, headers: [authorization]))
      let get = try #require(client.send("GET", target, headers: [authorization]))
      #expect(head.status == 200 && head.body.isEmpty)
      #expect(head.headers["content-length"] == String(get.body.count))
    }
  }
}
