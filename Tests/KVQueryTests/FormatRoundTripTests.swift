import KVJSON
import KVQuery
import KVTestSupport
import Testing

@Suite("Printed formats") struct FormatRoundTripTests {
  @Test("read back as a query with the same answers, whatever the query")
  func readBack() throws {
    let seed = Seed()
    var random = seed
    let entities = (0..<60).map { _ in Array(Self.entity(&random).utf8) }
    for _ in 0..<1_000 {
      let filter = Self.filter(&random, depth: 3)
      guard let query = try? Query(filter: filter) else {
        Issue.record("\(seed): \(filter)")
        continue
      }
      try expectSame(query, on: entities, what: "\(seed): \(filter)")
    }
  }

  @Test(
    "read back for every format",
    arguments: [
      "a.b.@count > 1", "a['x y'].@sum.self = 1", "SUBQUERY(a, $x, $x.b > c).@count = 1",
      "NOT a ==[d] 'e'", "NOT ALL a.b > -2.5", "NONE a != -1", "TERNARY(a > 1, b, -c) ** 2 = 9",
      "a[LAST] = a[n + 1]", "ANY {1, a} = b", "SELF = b", "a = CAST(b, 'NSDate')", "-a = b",
      "SELF['n\\x00n'] = 'a\\x00b'",
      "@count = a",
    ])
  func formats(format: String) throws {
    var random = Seed()
    let entities = (0..<60).map { _ in Array(Self.entity(&random).utf8) }
    try expectSame(Query(format: format), on: entities, what: format)
  }

  @Test(
    "are nested no deeper than they were written",
    arguments: [
      "a = " + String(repeating: "b - ", count: 900) + "b",
      "a = 1" + String(repeating: " - -b", count: 900),
      "a ** 2" + String(repeating: " * b ** 2", count: 400) + " = 1",
      nested("NOT a = 1 AND b = 2 OR c = 3"), nested("a + b * -c = 1"), nested("NONE a = 1"),
      nested("(a = {1, {2, {3}}})", depth: 96),
      String(repeating: "NOT (", count: 100) + "a = 1 AND b = 2"
        + String(repeating: ")", count: 100),
      nested("a BETWEEN {1, 2} AND b = 1", depth: 99),
      "SUBQUERY(a, $b%%\\x20\\x2dc, $b%%\\x20\\x2dc.d = 1).@count = 1",
    ])
  func depth(format: String) throws {
    let query = try Query(format: format)
    let (text, arguments) = query.filter.format
    let again = try Query(format: text, arguments: JSONValue.array(arguments).text)
    #expect(again.filter == query.filter)
    #expect(try Query(filter: query.filterText).filterText == query.filterText)
  }

  @Test("with deep arguments and long paths can be read")
  func deepArguments() throws {
    let deep = String(repeating: "[", count: 80) + "1" + String(repeating: "]", count: 80)
    let path = String(repeating: "a.", count: 95) + "a"
    for (format, arguments) in [
      (Self.nested("a = %@"), "[\(deep)]"), (Self.nested("a + 1 = %@"), "[\(deep)]"),
      (Self.nested("NOT a IN %@"), "[\(deep)]"), ("%K BETWEEN {1, 2}", "[\"\(path)\"]"),
      (
        Array(repeating: "%K BETWEEN {1, 2}", count: 20).joined(separator: " AND "),
        "[" + Array(repeating: "\"\(path)\"", count: 20).joined(separator: ",") + "]"
      ),
    ] {
      let query = try Query(format: format, arguments: arguments)
      let (text, values) = query.filter.format
      let again = try Query(format: text, arguments: JSONValue.array(values).text)
      #expect(again.filter == query.filter)
      #expect(try Query(filter: query.filterText).filterText == query.filterText)
    }
    for deep in [Self.nested("a = 1", depth: 101), Self.nested("a BETWEEN {1, 2}")] {
      #expect(throws: QueryError.self) { try Query(format: deep) }
    }
  }

  /// As many parentheses as a format may have: alternating, so that none can be left out.
  private static func nested(_ inner: String, depth: Int = 100) -> String {
    var text = inner
    for level in 0..<depth { text = level % 2 == 0 ? "x = 1 AND (\(text))" : "x = 1 OR (\(text))" }
    return text
  }

  @Test("read back as the same tree, whatever the format")
  func readBackFormats() throws {
    let seed = Seed()
    var random = seed
    for _ in 0..<1_000 {
      let format = RandomFormat.predicate(&random, depth: 3)
      // A regular expression or an index of a random text is none.
      guard let query = try? Query(format: format) else { continue }
      let (text, arguments) = query.filter.format
      let again = try? Query(format: text, arguments: JSONValue.array(arguments).text)
      #expect(again?.filter == query.filter, "\(seed): \(format): \(text)")
      let filter = try Query(filter: query.filterText)
      #expect(filter.filterText == query.filterText, "\(seed): \(format)")
    }
  }

  private func expectSame(_ query: Query, on entities: [[UInt8]], what: String) throws {
    let (text, arguments) = query.filter.format
    #expect(!text.utf8.contains(0), "\(what)")
    let again: Query
    do {
      again = try Query(format: text, arguments: JSONValue.array(arguments).text)
    } catch {
      Issue.record("\(what): \(text) \(arguments): \(error)")
      return
    }
    let (first, second) = (Matcher(query.filter), Matcher(again.filter))
    for entity in entities where try first.matches(entity) != second.matches(entity) {
      Issue.record("\(what): \(text) \(arguments): \(String(decoding: entity, as: UTF8.self))")
      return
    }
    #expect(again.isRemote == query.isRemote, "\(what)")
  }

  // MARK: Random queries

  private static let names = [
    "a", "b", "a.b", "a.0", "a.1.b", "AND", "self", "first", "x y", "100%", "é", "acl",
  ]
  private static let texts = [
    "", "x", "a\0b", "\0", "\"", "\\", "'", "%@", "$x", "é", "😀", "\n", "x.y", "#",
  ]

  private static func pick<T>(_ choices: [T], _ random: inout Seed) -> T {
    choices[Int.random(in: choices.indices, using: &random)]
  }

  private static func value(_ random: inout Seed, depth: Int = 2) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 10 : 8), using: &random) {
    case 0: .null
    case 1: .bool(.random(using: &random))
    case 2: .int(pick([0, 1, -1, 7, .max, .min], &random))
    case 3: .double(pick([0.5, -2.5, 1e300, -0.0, .leastNonzeroMagnitude, 1e16, 3], &random))
    case 4...7: .string(pick(texts, &random))
    case 8:
      .array(
        (0..<Int.random(in: 0..<3, using: &random)).map { _ in value(&random, depth: depth - 1) })
    default:
      .object([
        pick(["a", "b", "x y"], &random): value(&random, depth: depth - 1)
      ])
    }
  }

  private static func entity(_ random: inout Seed) -> String {
    var members: [JSONObject.Member] = []
    for name in ["a", "b", "AND", "self", "x y", "100%", "é", "n\0n", "acl", "c", "n"] {
      if Bool.random(using: &random) { members.append(.init(name, value(&random, depth: 3))) }
    }
    return JSONValue.object(JSONObject(members)).text
  }

  private static func filter(_ random: inout Seed, depth: Int) -> String {
    guard depth > 0, Int.random(in: 0..<3, using: &random) == 0 else {
      let name = JSONValue.string(pick(names, &random)).text
      return "{\(name):\(tests(&random, depth: 2))}"
    }
    let count = Int.random(in: 1..<4, using: &random)
    let inner = (0..<count).map { _ in filter(&random, depth: depth - 1) }.joined(separator: ",")
    return "{\"\(pick(["$and", "$or", "$nor"], &random))\":[\(inner)]}"
  }

  private static func tests(_ random: inout Seed, depth: Int) -> String {
    let operand = value(&random).text
    switch Int.random(in: 0..<(depth > 0 ? 12 : 8), using: &random) {
    case 0: return "{\"$eq\":\(operand)}"
    case 9: return #"{"$eq":{"$box":[[0,0],[1,1]]}}"#
    case 1: return "{\"$ne\":\(operand)}"
    case 2: return "{\"\(pick(["$lt", "$lte", "$gt", "$gte"], &random))\":\(operand)}"
    case 3: return "{\"$in\":[\(operand),\(value(&random).text)]}"
    case 4: return "{\"$exists\":\(Bool.random(using: &random))}"
    case 5: return "{\"$size\":\(Int.random(in: 0..<3, using: &random))}"
    case 6: return "{\"$regex\":\"^x\"}"
    case 7: return "{\"$nin\":[\(operand)]}"
    case 8: return "{\"$gt\":\(operand),\"$ne\":\(value(&random).text)}"
    default: return "{\"$not\":\(tests(&random, depth: depth - 1))}"
    }
  }
}

/// Formats made of all forms of expressions.
private enum RandomFormat {
  private static func pick<T>(_ choices: [T], _ random: inout Seed) -> T {
    choices[Int.random(in: choices.indices, using: &random)]
  }

  static func predicate(_ random: inout Seed, depth: Int) -> String {
    let isDeep = depth > 0 && Int.random(in: 0..<3, using: &random) == 0
    guard isDeep else { return comparison(&random, depth: depth) }
    let first = predicate(&random, depth: depth - 1)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return "NOT (\(first))"
    case 1: return "(\(first)) OR \(predicate(&random, depth: depth - 1))"
    case 2: return "!(\(first)) AND (\(predicate(&random, depth: depth - 1)))"
    default: return "(\(first)) AND \(predicate(&random, depth: depth - 1))"
    }
  }

  private static func comparison(_ random: inout Seed, depth: Int) -> String {
    let left = expression(&random, depth: depth)
    let right = expression(&random, depth: depth)
    let operation = pick(
      [
        "=", "!=", "<", ">=", "IN", "CONTAINS", "CONTAINS[cd]", "==[c]", "==[d]", "LIKE",
        "MATCHES[c]",
        "BEGINSWITH", "ENDSWITH[d]",
      ], &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return "\(pick(["ANY", "ALL", "NONE", "SOME"], &random)) \(left) \(operation) \(right)"
    case 1: return "\(left) BETWEEN {\(right), \(expression(&random, depth: depth))}"
    default: return "\(left) \(operation) \(right)"
    }
  }

  private static func expression(_ random: inout Seed, depth: Int) -> String {
    guard depth > 0, Bool.random(using: &random) else {
      return pick(
        [
          "a", "b.c", "#AND", "SELF['x y']", "a['n.m']", "a.b[0]", "SELF", "a.@count", "b.c.@sum.d",
          "@max.a", "1", "2.5", "'x'", "'\\x00\"'", "nil", "TRUE", "-7", "{}", "acl.globalRead",
          "a[b]", "c.self", "rate%%", "#self",
        ], &random)
    }
    let inner = { (random: inout Seed) in expression(&random, depth: depth - 1) }
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return "\(inner(&random)) + \(inner(&random))"
    case 1: return "(\(inner(&random)) - \(inner(&random))) * \(inner(&random))"
    case 2: return "\(inner(&random)) ** -\(inner(&random))"
    case 3: return "a[\(inner(&random))]"
    case 4: return "(\(inner(&random))).b[LAST]"
    case 5: return "(\(inner(&random))).@avg.self"
    case 6: return "{\(inner(&random)), \(inner(&random))}"
    case 7: return "length(\(inner(&random)))"
    case 8: return "sum(\(inner(&random)), \(inner(&random)))"
    case 9: return "CAST(\(inner(&random)), 'NSString')"
    case 10: return "SUBQUERY(\(inner(&random)), $x, $x.b = \(inner(&random)))"
    default:
      let condition = predicate(&random, depth: depth - 1)
      return "TERNARY(\(condition), \(inner(&random)), \(inner(&random)))"
    }
  }
}
