internal import KVJSON
internal import KVQuery
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

/// Random entities and queries, asked of a server with indexes and of the matcher and the sorter alone.
@Suite("Queries that indexes answer") struct IndexedQueriesTests {
  private static let indexes = [
    #"{"keys":{"a":1}}"#, #"{"keys":{"b.c":-1,"a":1}}"#, #"{"keys":{"t":1,"n":-1}}"#,
    #"{"keys":{"n":1}}"#,
  ]
  private static let collated = [
    "{\"keys\":{\"a\":1},\"collation\":\(loose)}", #"{"keys":{"a":1,"n":1},"collation":"sv"}"#,
    #"{"keys":{"t":-1,"n":-1},"collation":{"locale":"en","ignoreCase":true}}"#,
    "{\"keys\":{\"b.c\":1},\"collation\":\(loose)}",
  ]

  /// Texts of JSON: close to each other, of all types, and some of them too long for a key.
  private static let values: [String] =
    [
      "null", "true", "false", "0", "-0.0", "1", "1.0", "1e0", "1.5", "-3", "9007199254740993",
      "9007199254740992", "9.007199254740993e15", "9223372036854775807", "-9223372036854775808",
      "1e300", "-1e-300", #""""#, #""a""#, #""\u0061""#, #""ab""#, #""a\u0000""#, #""é""#,
      #""e\u0301""#, #""2024-03-12T21:00:01.120Z""#, #""😀""#, #""\uffff""#, "{}",
      #"{"c":1}"#, #"{"c":[1,2]}"#, "[]", "[1,5]", "[[1]]", #"["a",null]"#, #"[{"c":1},{"c":3}]"#,
    ] + (0..<3).map { "\"\(String(repeating: "long ", count: 60))\($0)\"" }

  private static let paths = ["a", "b", "b.c", "t", "n", "a.0"]

  private static func entity(_ seed: inout Seed) -> String {
    var members: [String] = []
    for name in ["a", "b", "t", "n"] where Int.random(in: 0..<4, using: &seed) > 0 {
      let value = values[Int.random(in: 0..<values.count, using: &seed)]
      let isNested = name == "b" && Bool.random(using: &seed)
      members.append("\"\(name)\":\(isNested ? "{\"c\":\(value)}" : value)")
    }
    return members.joined(separator: ",")
  }

  private static func filter(_ seed: inout Seed, depth: Int = 2) -> String {
    func value() -> String { values[Int.random(in: 0..<values.count, using: &seed)] }
    let path = paths[Int.random(in: 0..<paths.count, using: &seed)]
    switch Int.random(in: 0..<(depth > 0 ? 14 : 11), using: &seed) {
    case 0, 1: return "{\"\(path)\":\(value())}"
    case 2: return "{\"\(path)\":{\"$gt\":\(value())}}"
    case 3: return "{\"\(path)\":{\"$gte\":\(value()),\"$lt\":\(value())}}"
    case 4: return "{\"\(path)\":{\"$lte\":\(value())}}"
    case 5: return "{\"\(path)\":{\"$in\":[\(value()),\(value())]}}"
    case 6: return "{\"\(path)\":{\"$ne\":\(value())}}"
    case 7: return "{\"\(path)\":{\"$regex\":\"^a\"}}"
    case 8: return "{\"\(path)\":{\"$exists\":\(Bool.random(using: &seed))}}"
    case 9: return "{\"\(path)\":{\"$eq\":\(value()),\"$collation\":\(loose)}}"
    case 10:
      return "{\"\(path)\":{\"$gte\":\(value()),\"$lt\":\(value()),\"$collation\":\(loose)}}"
    default:
      let name = Bool.random(using: &seed) ? "$and" : "$or"
      let parts = [filter(&seed, depth: depth - 1), filter(&seed, depth: depth - 1)]
      return "{\"\(name)\":[\(parts.joined(separator: ","))]}"
    }
  }

  private static let loose = #"{"locale":"de","ignoreCase":true,"ignoreAccents":true}"#

  private static let sorts = [
    "", "", #"{"a":1}"#, #"{"a":-1}"#, #"{"n":1}"#, #"{"t":1,"n":-1}"#, #"{"b.c":-1,"a":1}"#,
    #"{"t":-1}"#, #"{"_id":1}"#, #"{"a":{"$collation":"sv"}}"#,
    #"{"t":{"$order":-1,"$collation":{"locale":"de","ignoreCase":true}},"n":-1}"#,
    #"{"_id":{"$order":-1,"$collation":"root"}}"#,
    #"{"a":{"$collation":"sv"},"n":{"$collation":"sv"}}"#,
  ]

  @Test("have the entities, the order and the count that the matcher and the sorter alone give")
  func differential() throws {
    var seed = Seed()
    print(seed)
    // Without arrays and too long texts, indexes give orders and exact answers as well.
    for isPlain in [true, false] {
      let server = try TestServer()
      let ana = try server.user("ana")
      var entities: [(id: String, body: String)] = []
      for round in 0..<4 {
        var bodies: [String] = []
        while bodies.count < 40 {
          let members = Self.entity(&seed)
          if isPlain, members.contains("[") || members.contains("long") { continue }
          let id = "e\(round)\(bodies.count + 100)"
          bodies.append("{\"_id\":\"\(id)\"\(members.isEmpty ? "" : ",")\(members)}")
          entities.append((id, bodies[bodies.count - 1]))
        }
        try server.send(
          as: ana, "POST", "/appdata/kid/x", body: "[\(bodies.joined(separator: ","))]"
        ).expect(207)
        // Each comes when there is something already.
        for index in [Self.indexes[round], Self.collated[round]] {
          try server.send(as: .master, "PUT", "/appdata/kid/x/_indexes", body: index).expect(200)
        }
      }
      for number in stride(from: 0, to: entities.count, by: 7) {
        let members = isPlain ? "\"a\":\(number),\"n\":1.5" : Self.entity(&seed)
        let body = "{\"_id\":\"\(entities[number].id)\"\(members.isEmpty ? "" : ",")\(members)}"
        try server.send(as: ana, "PUT", "/appdata/kid/x/\(entities[number].id)", body: body)
          .expect(200)
        entities[number].body = body
      }
      var answeredByIndex = 0
      for _ in 0..<150 {
        let filter = Self.filter(&seed)
        let sort = Self.sorts[Int.random(in: 0..<Self.sorts.count, using: &seed)]
        // Not every operator takes every value.
        guard var query = try? Query(filter: filter) else { continue }
        if !sort.isEmpty { try query.sort(parsing: sort) }
        query.skip = Int.random(in: 0..<3, using: &seed) == 0 ? 3 : 0
        query.limit = Int.random(in: 0..<3, using: &seed) == 0 ? 5 : nil
        let expected = try Self.expected(query, entities)
        var parameters = [("query", filter), ("sort", sort), ("skip", String(query.skip))]
        if let limit = query.limit { parameters.append(("limit", String(limit))) }
        let answer = try server.send(
          as: .master, "GET", target("/appdata/kid/x", parameters),
          headers: [("X-Kvstored-Explain", "true")])
        let plan = answer.headers["x-kvstored-explain"] ?? ""
        if plan.contains(#""access":"index""#) { answeredByIndex += 1 }
        #expect(
          answer.ids == expected.page, "\(seed) \(filter) \(sort) \(plan) \(answer.text.prefix(99))"
        )
        let count = try server.send(
          as: ana, "GET", KVServerTests.query("/appdata/kid/x/_count", filter))
        #expect(count.json["count"] == .int(Int64(expected.count)), "\(seed) \(filter) \(plan)")
      }
      #expect(answeredByIndex > 20, "\(seed)")
    }
  }

  private static func expected(
    _ query: Query, _ entities: [(id: String, body: String)]
  ) throws -> (page: [String], count: Int) {
    var found: [(id: String, key: [UInt8])] = []
    for (id, body) in entities {
      let bytes = Array(body.utf8)
      guard try query.matcher?.matches(bytes) ?? true else { continue }
      found.append((id, query.sorter?.key(of: bytes) ?? []))
    }
    if query.sorter != nil {
      found.sort { $0.key == $1.key ? $0.id < $1.id : $0.key.lexicographicallyPrecedes($1.key) }
    }
    let page = found.dropFirst(query.skip).prefix(query.limit ?? .max).map(\.id)
    return (page, found.count)
  }
}
