internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Indexes of collections") struct IndexTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/cities"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
    for (id, country, people) in [("a", "CH", 3), ("b", "DE", 1), ("c", "CH", 2), ("d", "AT", 4)] {
      let body = #"{"_id":"\#(id)","country":"\#(country)","n":{"people":\#(people)}}"#
      try server.send(as: ana, "POST", path, body: body).expect(201)
    }
  }

  private func put(_ keys: String, _ status: Int = 200) throws -> HTTPAnswer {
    try server.send(as: .master, "PUT", path + "/_indexes", body: "{\"keys\":\(keys)}")
      .expect(status)
  }

  private func plan(_ filter: String, sort: String = "") throws -> (ids: [String], plan: JSONValue?)
  {
    let answer = try server.send(
      as: .master, "GET", target(path, [("query", filter), ("sort", sort)]),
      headers: [("X-Kvstored-Explain", "true")])
    answer.expect(200)
    return (
      answer.ids, answer.headers["x-kvstored-explain"].flatMap { try? JSONValue(parsing: $0) }
    )
  }

  @Test("are added, listed and removed with the master secret, and stay over a restart")
  func lifecycle() throws {
    try server.send(as: ana, "GET", path + "/_indexes").expect(401)
    try server.send(as: ana, "PUT", path + "/_indexes", body: #"{"keys":{"x":1}}"#).expect(401)
    #expect(try server.send(as: .master, "GET", path + "/_indexes").expect(200).text == "[]")
    let made = try put(#"{"country":1,"n.people":-1}"#)
    let keys = #""keys":{"country":1,"n.people":-1}"#
    let text = #"{"name":"country_1_n.people_-1",\#(keys),"state":"ready"}"#
    #expect(made.text == text)
    #expect(try put(#"{"country":1,"n.people":-1}"#).text == text)
    server.stop()
    let again = try TestServer(in: server.directory)
    #expect(try again.send(as: .master, "GET", path + "/_indexes").text == "[\(text)]")
    let name = target(path + "/_indexes", [("name", "country_1_n.people_-1")])
    try again.send(as: .master, "DELETE", path + "/_indexes").expect(400)
    try again.send(as: .master, "DELETE", name).expect(200)
    try again.send(as: .master, "DELETE", name).expect(404)
    #expect(try again.send(as: .master, "GET", path + "/_indexes").text == "[]")
  }

  @Test("with a collation serve comparisons and sorts with the same one, over a restart too")
  func collated() throws {
    let spec = #"{"keys":{"country":1},"collation":"de"}"#
    let made = try server.send(as: .master, "PUT", path + "/_indexes", body: spec).expect(200)
    let text =
      #"{"name":"country_1_de","keys":{"country":1},"collation":{"locale":"de"},"state":"ready"}"#
    #expect(made.text == text)
    #expect(
      try server.send(as: .master, "PUT", path + "/_indexes", body: spec).expect(200).text == text)
    try server.send(
      as: .master, "PUT", path + "/_indexes",
      body: #"{"name":"country_1_de","keys":{"country":1}}"#
    ).expect(400)
    let collated = #"{"country":{"$gte":"b","$collation":"en"}}"#
    let sorted = try plan(collated, sort: #"{"country":{"$order":-1,"$collation":"de"}}"#)
    #expect(sorted.ids == ["b", "a", "c"])
    #expect(
      sorted.plan?.text
        == #"{"access":"index","indexes":["country_1_de"],"filter":"exact","order":"index"}"#)
    #expect(try plan(#"{"country":{"$gte":"b"}}"#).plan?["access"] == "collection")
    server.stop()
    let again = try TestServer(in: server.directory)
    #expect(try again.send(as: .master, "GET", path + "/_indexes").text == "[\(text)]")
  }

  @Test("go with their collection, unless its settings are to stay")
  func removal() throws {
    _ = try put(#"{"country":1}"#)
    let body = #"{"collectionName":"cities"}"#
    let wanted = [("X-Kinvey-Delete-Entire-Collection", "true")]
    let kept = wanted + [("X-Kinvey-Retain-Collection-Metadata", "true")]
    let target = "/rpc/kid/remove-collection"
    try server.send(as: .master, "POST", target, body: body, headers: kept).expect(200)
    #expect(try server.send(as: .master, "GET", path + "/_indexes").json.arrayValue?.count == 1)
    try server.send(as: .master, "POST", target, body: body, headers: wanted).expect(200)
    #expect(try server.send(as: .master, "GET", path + "/_indexes").text == "[]")
  }

  @Test("are refused when they are no ordered ones, contradict each other, or are too many")
  func refusals() throws {
    for body in [
      "[]", "{}", #"{"keys":{}}"#, #"{"keys":{"x":2}}"#, #"{"keys":{"x":1},"y":1}"#,
      #"{"keys":{"x":"text"}}"#, #"{"keys":{"x":"2dsphere"}}"#,
      #"{"keys":{"x":1,"y":1},"totals":true}"#,
    ] {
      try server.send(as: .master, "PUT", path + "/_indexes", body: body).expect(400)
    }
    try server.send(as: .master, "PUT", path + "/_indexes", body: #"{"name":"i","keys":{"x":1}}"#)
      .expect(200)
    try server.send(as: .master, "PUT", path + "/_indexes", body: #"{"name":"i","keys":{"y":1}}"#)
      .expect(400)
    for number in 1..<CollectionIndex.maxCount { _ = try put("{\"m\(number)\":1}") }
    _ = try put(#"{"oneMore":1}"#, 400)
  }

  @Test("are not more than the limit, and have one meaning, when many are added at the same time")
  func together() throws {
    let statuses = concurrentMap(24, threads: 8) { number in
      try? server.send(
        as: .master, "PUT", path + "/_indexes",
        body: "{\"name\":\"i\(number % 20)\",\"keys\":{\"k\(number)\":1}}"
      ).status
    }
    #expect(statuses.count { $0 == 200 || $0 == 202 } == CollectionIndex.maxCount)
    let listed = try #require(
      server.send(as: .master, "GET", path + "/_indexes").json.arrayValue)
    #expect(listed.count == CollectionIndex.maxCount)
  }

  @Test("answer what they can, and the answer says how it was found if it is asked to")
  func explained() throws {
    #expect(
      try plan(#"{"country":"CH"}"#).plan
        == ["access": "collection", "indexes": [], "filter": "matched", "order": "storage"])
    _ = try put(#"{"country":1,"n.people":1}"#)
    let index: JSONValue = ["country_1_n.people_1"]
    let equal = try plan(#"{"country":"CH","n.people":{"$gt":2}}"#)
    #expect(equal.ids == ["a"])
    #expect(
      equal.plan == ["access": "index", "indexes": index, "filter": "exact", "order": "storage"])
    let sorted = try plan(#"{"country":"CH"}"#, sort: #"{"n.people":1}"#)
    #expect(sorted.ids == ["c", "a"])
    #expect(
      sorted.plan == ["access": "index", "indexes": index, "filter": "exact", "order": "index"])
    let matched = try plan(#"{"country":"CH","n.people":{"$ne":3}}"#)
    #expect(matched.ids == ["c"] && matched.plan?["filter"] == "matched")
    let byId = try plan(#"{"_id":"a"}"#)
    #expect(byId.plan?["access"] == "ids" && byId.plan?["filter"] == "exact")
    let plain = try server.send(as: .master, "GET", path)
    #expect(plain.headers["x-kvstored-explain"] == nil)
    // Users are not told which indexes there are.
    for path in [path, path + "/_count"] {
      let theirs = try server.send(
        as: ana, "GET", query(path, #"{"country":"CH"}"#),
        headers: [("X-Kvstored-Explain", "true")])
      #expect(theirs.expect(200).headers["x-kvstored-explain"] == nil, "\(path)")
    }
  }

  @Test("do not show what may not be read, and serve counts, deletes and deltas as well")
  func others() throws {
    _ = try put(#"{"country":1}"#)
    let ben = try server.user("ben")
    try server.send(
      as: ana, "PUT", path + "/secret", body: #"{"country":"CH","_acl":{"gr":false}}"#
    ).expect(201)
    let filter = #"{"country":"CH"}"#
    #expect(try server.send(as: ben, "GET", query(path, filter)).ids == ["a", "c"])
    #expect(try server.send(as: ben, "GET", query(path + "/_count", filter)).json["count"] == 2)
    #expect(try server.send(as: ana, "GET", query(path + "/_count", filter)).json["count"] == 3)
    try server.send(as: ana, "PUT", path + "/a", body: #"{"country":"FR"}"#).expect(200)
    #expect(try server.send(as: ana, "GET", query(path, filter)).ids == ["c", "secret"])
    #expect(try server.send(as: ana, "DELETE", query(path, filter)).json["count"] == 2)
    #expect(try server.send(as: ana, "GET", query(path, filter)).ids == [])
    #expect(try server.send(as: ana, "GET", query(path, #"{"country":"FR"}"#)).ids == ["a"])
  }

  @Test("are filled while others write")
  func building() throws {
    let client = try server.client()
    let headers = [("Authorization", ana.authorization ?? ""), ("X-Kinvey-API-Version", "5")]
    for start in stride(from: 0, to: 1200, by: 100) {
      let entities = (start..<start + 100).map { "{\"_id\":\"\($0 + 10_000)\",\"v\":\($0 % 10)}" }
      let body = "[" + entities.joined(separator: ",") + "]"
      #expect(client.send("POST", path, headers: headers, body: Array(body.utf8))?.status == 207)
    }
    let (server, ana, path) = (server, ana, path)
    let done = Monitor(false)
    let writer = Worker("writer") {
      var number = 0
      while !done.withLock({ $0 }) {
        _ = try? server.send(as: ana, "PUT", path + "/new\(number)", body: #"{"v":7}"#)
        _ = try? server.send(as: ana, "PUT", path + "/\(10_000 + number)", body: #"{"v":7}"#)
        _ = try? server.send(as: ana, "DELETE", path + "/\(11_199 - number)")
        number += 1
      }
    }
    let made = try server.send(
      as: .master, "PUT", path + "/_indexes", body: #"{"name":"v","keys":{"v":1}}"#)
    done.withLock { $0 = true }
    writer?.join()
    #expect(made.status == 200)
    let found = try server.send(as: ana, "GET", query(path, #"{"v":7}"#)).ids
    // No index helps with this, and it says the same.
    let matched = try server.send(as: ana, "GET", query(path, #"{"v":{"$mod":[10,7]}}"#)).ids
    #expect(found == matched && found.count >= 120)
  }
}
