import Glibc
import KVBase
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// The same random changes and queries on a store whose indexes come and go, and on one without any: every answer
/// is the same, entity by entity and in order.
@Suite("Indexed queries") struct IndexedQueriesTests {
  /// `KV_QUERY_RUNS` says how many runs.
  private static let runs = getenv("KV_QUERY_RUNS").flatMap { UInt64(String(cString: $0)) } ?? 8

  @Test("indexes change no answer", arguments: 0..<runs)
  func agrees(run: UInt64) throws {
    let seed = Seed(Seed().value &+ run)
    var random = RandomQueries(seed)
    let directory = TemporaryDirectory()
    let plain = try openStorage(in: directory, tag: "plain")
    let indexed = try openStorage(in: directory, tag: "indexed")
    // What changes through it makes plans outdated that are kept with the queries below.
    let other = try openStorage(in: directory, tag: "indexed")
    let recent = RecentQueries()
    defer { withExtendedLifetime(recent) {} }
    var asked: [Query] = []
    var used = 0
    for step in 0..<150 {
      let change = random.change()
      for storage in [plain, step % 2 == 0 ? other : indexed] { try change.apply(to: storage) }
      try random.reindex(step % 3 == 0 ? other : indexed)
      for query in asked.suffix(4) {
        let expected = try drain(plain.find(query, in: "c", writtenSince: nil))
        let found = try drain(indexed.find(query, in: "c", writtenSince: nil))
        #expect(found == expected, "\(seed), step \(step), once more: \(query.text)")
      }
      let (filter, modifiers) = random.query()
      let query = try query(filter, modifiers)
      asked.append(query)
      let expected = try drain(plain.find(query, in: "c", writtenSince: nil))
      let found = try drain(indexed.find(query, in: "c", writtenSince: nil))
      let explanation = try indexed.explain(query, in: "c")
      let about = "\(seed), step \(step): \(filter) \(modifiers ?? "") \(explanation)"
      #expect(found == expected, "\(about)")
      let count = try plain.count(query, in: "c", writtenSince: nil)
      #expect(try indexed.count(query, in: "c", writtenSince: nil) == count, "\(about)")
      let since = Timestamp(milliseconds: 0)
      #expect(try indexed.count(query, in: "c", writtenSince: since) == count, "\(about)")
      #expect(explanation.returned == expected.count, "\(about)")
      let grouping = try random.grouping()
      let groups = try plain.group(grouping, of: Query(), in: "c", writtenSince: nil)
      let totals = try indexed.group(grouping, of: Query(), in: "c", writtenSince: nil)
      #expect(totals == groups, "\(about) \(grouping)")
      if explanation.access == .index { used += 1 }
      for _ in 0..<3 {
        let (filter, modifiers) = random.shaped()
        let direct = try KVQuery.Query(filter: filter, modifiers: modifiers)
        let shared = try Query.shared(filter: filter, modifiers: modifiers)
        let expected = try drain(plain.find(direct, in: "c", writtenSince: nil))
        let found = try drain(indexed.find(shared, in: "c", writtenSince: nil))
        #expect(found == expected, "\(seed), step \(step), of one shape: \(filter) \(modifiers)")
        let count = try plain.count(direct, in: "c", writtenSince: nil)
        #expect(try indexed.count(shared, in: "c", writtenSince: nil) == count, "\(seed) \(filter)")
      }
      if found != expected { return }
    }
    #expect(used > 10, "\(seed): the indexes were used \(used) times")
  }

  @Test(
    "indexes that are made and dropped by themselves change no answer",
    arguments: 0..<(runs + 3) / 4)
  func agreesAutomatically(run: UInt64) throws {
    let seed = Seed(Seed().value &+ run)
    var random = RandomQueries(seed)
    let directory = TemporaryDirectory()
    var rules = IndexLedger.Rules()
    (rules.minRows, rules.scans, rules.foundCost, rules.maxIndexes) = (5, 2, 0, 3)
    let plain = try openStorage(in: directory, tag: "plain")
    let automatic = try openStorage(in: directory, tag: "automatic", automaticIndexes: rules)
    let other = try openStorage(in: directory, tag: "automatic", automaticIndexes: rules)
    var used = 0
    for step in 0..<150 {
      if step % 4 == 0 {
        let change = random.change()
        for storage in [plain, step % 8 == 0 ? other : automatic] { try change.apply(to: storage) }
      }
      let (filter, modifiers) = random.shaped()
      let (query, grouping) = (try query(filter, modifiers), try random.grouping())
      let expected = try drain(plain.find(query, in: "c", writtenSince: nil))
      let count = try plain.count(query, in: "c", writtenSince: nil)
      let groups = try plain.group(grouping, of: Query(), in: "c", writtenSince: nil)
      let about = "\(seed), step \(step): \(filter) \(modifiers) \(grouping)"
      for storage in [automatic, other] {
        #expect(try drain(storage.find(query, in: "c", writtenSince: nil)) == expected, "\(about)")
        #expect(try storage.count(query, in: "c", writtenSince: nil) == count, "\(about)")
        let found = try storage.group(grouping, of: Query(), in: "c", writtenSince: nil)
        #expect(found == groups, "\(about)")
      }
      // The others meet an index at any stage.
      if step % 3 == 0 { automatic.waitForAutomaticIndexes() }
      if try automatic.explain(query, in: "c").access == .index { used += 1 }
    }
    #expect(used > 0, "\(seed): no index was used")
    for storage in [plain, automatic, other] { storage.close() }
  }
}

/// A change of a collection.
private enum Change {
  case save([String])
  case store([String])
  case remove(String)
  case clear(String)

  func apply(to storage: Storage) throws {
    switch self {
    case .save(let entities): for entity in entities { try storage.save(entity) }
    case .store(let entities): try storage.store(entities)
    case .remove(let filter): _ = try storage.remove(query(filter), in: "c")
    case .clear(let filter): _ = try storage.clear(query(filter), in: "c")
    }
  }
}

private struct RandomQueries {
  private var random: Seed
  private var indexes: [String] = []

  init(_ seed: Seed) { random = seed }

  private static let scalars = [
    "0", "1", "2", "2.0", "3", "-1", "1.5", "-0.5", "9007199254740993", "9007199254740992.0", "0.1",
    "1e18", "1e308", "-1e308",
    "1e300",
    #""""#, #""a""#, #""A""#, #""ab""#, #""abc""#, #""b""#, #""é""#, #""e\u0301""#, #""\u0000""#,
    #""a\u0000b""#, #""😀""#, #""1""#, "true", "false", "null", #""Ä""#, #""ä""#, #""\u00ad""#,
    #""ab ""#,
  ]
  private static let paths = ["a", "b", "n.x", "n.y", "l", "l.0", "o.x", "o.y", "o", "n", "none.x"]
  private static let keys =
    paths.map { #"{"\#($0)":1}"# }
    + [
      #"{"a":1,"b":1}"#, #"{"a":1,"b":-1}"#, #"{"a":-1}"#, #"{"l":1,"a":1}"#, #"{"o.x":1,"o.y":1}"#,
      #"{"n.x":1,"a":-1,"l":1}"#, #"{"t":"text"}"#, #"{"$**":"text"}"#, #"{"t":"text","l":"text"}"#,
      #"{"t":"text"},"language":"english""#, #"{"$**":"text"},"language":"english""#,
      #"{"_geoloc":"2dsphere"}"#, #"{"_geoloc":"2dsphere"}"#,
    ]
  private static let collations = [
    #""sv""#, #""de""#, #""en""#, #"{"locale":"root","ignoreCase":true}"#,
    #"{"locale":"de","ignoreCase":true,"ignoreAccents":true}"#,
  ]
  private static let words = [
    "river", "River", "RIVER", "Zürich", "zurich", "café", #"cafe\u0301"#, "re-entry", "don't",
    "42", "東京", "of", "東京都", "京", "rivers", "Riverside", "entries", "caf", "が", #"か\u3099"#,
  ]
  private static let searchOptions = [
    #","$matchCriteria":"all""#, #","$language":"english""#, #","$caseSensitive":true"#,
    #","$diacriticSensitive":true"#, #","$language":"english","$matchCriteria":"all""#,
  ]
  /// Near the date line, the poles and zero.
  private static let longitudes = [
    "-180", "-179.9", "-90", "-0.5", "0", "0.5", "13.4", "179.5", "180",
  ]
  private static let latitudes = ["-90", "-89.9", "-45", "0", "0.5", "52.5", "89.5", "90"]

  private mutating func pick<T>(_ all: [T]) -> T { all[random.below(all.count)] }
  private mutating func chance(_ part: Int) -> Bool { random.below(100) < part }
  private mutating func list(_ count: Int, _ make: (inout Self) -> String) -> String {
    (0..<count).map { _ in make(&self) }.joined(separator: ",")
  }

  // MARK: Entities

  mutating func change() -> Change {
    switch random.below(10) {
    case 0..<5: .save((0..<(1 + random.below(5))).map { _ in entity() })
    case 5..<8: .store((0..<random.below(20)).map { _ in entity() })
    case 8: .remove(filter(1).replacingEverything)
    default: chance(20) ? .clear(filter(1)) : .save([entity()])
    }
  }

  private mutating func entity() -> String {
    var members = [#""_id":"k\#(random.below(60))""#]
    for name in ["a", "b"] where chance(85) { members.append(#""\#(name)":\#(value(1))"#) }
    if chance(70) { members.append(#""n":\#(chance(80) ? object() : value(1))"#) }
    if chance(60) { members.append(#""l":[\#(list(random.below(4)) { $0.value(1) })]"#) }
    if chance(60) { members.append(#""o":[\#(list(random.below(3)) { $0.object() })]"#) }
    if chance(60) { members.append(#""t":\#(chance(80) ? text() : "[\(text()),\(text())]")"#) }
    if chance(60) {
      members.append(#""_geoloc":\#(chance(85) ? location() : "[\(location()),\(location())]")"#)
    }
    return "{\(members.joined(separator: ","))}"
  }

  private mutating func text() -> String {
    let words = (0..<random.below(5)).map { _ in pick(Self.words) }
    return #""\#(words.joined(separator: pick([" ", ", "])))""#
  }

  private mutating func location() -> String {
    let point = "[\(pick(Self.longitudes)),\(pick(Self.latitudes))]"
    return chance(80) ? point : #"{"type":"Point","coordinates":\#(point)}"#
  }

  private mutating func object() -> String {
    var members: [String] = []
    for name in ["x", "y"] where chance(70) { members.append(#""\#(name)":\#(value(0))"#) }
    return "{\(members.joined(separator: ","))}"
  }

  private mutating func value(_ depth: Int) -> String {
    guard depth > 0, chance(8) else { return pick(Self.scalars) }
    return chance(50) ? object() : "[\(list(random.below(3)) { $0.value(0) })]"
  }

  // MARK: Indexes

  mutating func reindex(_ storage: Storage) throws {
    if chance(15), let name = indexes.first {
      indexes.removeFirst()
      #expect(try storage.dropIndex(name, in: "c"))
    }
    guard chance(25) || indexes.isEmpty else { return }
    let keys = pick(Self.keys)
    let name = "index \(random.next())"
    let isOrdered = !keys.contains("text") && !keys.contains("2dsphere")
    if isOrdered, chance(30) {
      try storage.createIndex(keys, name: name, collation: pick(Self.collations))
    } else {
      try storage.createIndex(
        keys, name: name, totals: isOrdered && keys.contains(",") && chance(60))
    }
    indexes.append(name)
  }

  // MARK: Queries

  /// Of members that indexes of several keys begin with.
  mutating func grouping() throws -> Grouping {
    let (key, number) = pick([("a", "b"), ("l", "a"), ("o.x", "o.y"), ("n.x", "a"), ("a", "none")])
    let aggregates =
      chance(30)
      ? #""n":"count""#
      : #""n":"count","s":{"sum":"\#(number)"},"m":{"avg":"\#(number)"},"#
        + #""least":{"min":"\#(number)"},"most":{"max":"\#(number)"}"#
    return try Grouping(parsing: #"{"keys":["\#(key)"],"aggregates":{\#(aggregates)}}"#)
  }

  mutating func query() -> (filter: String, modifiers: String?) {
    chance(20) ? scored() : (filter(2), modifiers())
  }

  /// Queries of few shapes, with many constants.
  mutating func shaped() -> (filter: String, modifiers: String) {
    let modifiers = pick([
      "{}", #"{"sort":{"a":1},"limit":5}"#, #"{"sort":{"b":-1,"a":1}}"#,
      #"{"sort":{"a":1},"limit":5,"collation":"de"}"#,
      #"{"collation":{"locale":"de","ignoreCase":true,"ignoreAccents":true}}"#,
    ])
    let filter =
      switch random.below(4) {
      case 0: #"{"a":\#(value(0))}"#
      case 1: #"{"_id":"k\#(random.below(60))"}"#
      case 2: #"{"a":{"$gte":\#(value(0)),"$lt":\#(value(0))}}"#
      default: #"{"b":\#(value(0)),"n.x":{"$ne":\#(value(0))}}"#
      }
    return (filter, modifiers)
  }

  /// Searches, with what is computed of their results.
  private mutating func scored() -> (filter: String, modifiers: String?) {
    let searches = [search(), #"{"t":\#(search())}"#]
    let filters =
      searches + [
        #"{"$or":[\#(searches.joined(separator: ","))]}"#,
        #"{"$and":[\#(searches[0]),\#(filter(1))]}"#,
      ]
    let score = #"{"$meta":"textScore"}"#
    let order = pick([#""s":\#(score)"#, #""s":\#(score),"a":-1"#, #""a":1,"s":\#(score)"#])
    let computed = #""computed":{"s":\#(score),"t":{"$meta":"snippet","words":2}}"#
    let limit = chance(50) ? #","limit":\#(random.below(12))"# : ""
    return (pick(filters), #"{"sort":{\#(order)},\#(computed)\#(limit)}"#)
  }

  mutating func modifiers() -> String? {
    guard chance(60) else { return nil }
    var parts: [String] = []
    if chance(70) {
      let first = pick(Self.paths)
      var sort = #""\#(first)":\#(chance(50) ? 1 : -1)"#
      if chance(40) {
        let second = pick(Self.paths)
        if second != first { sort += #","\#(second)":\#(chance(50) ? 1 : -1)"# }
      }
      parts.append(#""sort":{\#(sort)}"#)
    }
    if chance(60) { parts.append(#""limit":\#(random.below(12))"#) }
    if chance(30) { parts.append(#""skip":\#(random.below(5))"#) }
    if chance(30) { parts.append(#""collation":\#(pick(Self.collations))"#) }
    return "{\(parts.joined(separator: ","))}"
  }

  mutating func filter(_ depth: Int) -> String {
    switch random.below(10) {
    case 0 where depth > 0:
      return #"{"$or":[\#(list(1 + random.below(3)) { $0.filter(depth - 1) })]}"#
    case 1 where depth > 0, 2 where depth > 0:
      return #"{"$and":[\#(list(1 + random.below(3)) { $0.filter(depth - 1) })]}"#
    case 3 where depth > 0:
      return #"{"$nor":[\#(filter(depth - 1))]}"#
    case 4 where chance(40): return "{}"
    case 5 where chance(60): return chance(50) ? search() : #"{"t":\#(search())}"#
    case 6 where chance(60): return #"{"_geoloc":\#(region())}"#
    default: return #"{"\#(pick(Self.paths))":\#(test())}"#
    }
  }

  private mutating func search() -> String {
    let parts = (0..<(1 + random.below(3))).map { _ in
      let words = (0..<(1 + random.below(2))).map { _ in pick(Self.words) }.joined(separator: " ")
      return (chance(20) ? "-" : "") + (chance(30) ? #"\"\#(words)\""# : words)
        + (chance(20) ? "*" : "")
    }
    let options = chance(50) ? pick(Self.searchOptions) : ""
    return #"{"$text":{"$search":"\#(parts.joined(separator: " "))"\#(options)}}"#
  }

  private mutating func region() -> String {
    let center = "[\(pick(Self.longitudes)),\(pick(Self.latitudes))]"
    switch random.below(5) {
    case 0:
      return #"{"$nearSphere":\#(center),"$maxDistance":\#(pick(["0", "50", "500", "7000"]))}"#
    case 1:
      return #"{"$geoWithin":{"$centerSphere":[\#(center),\#(pick(["0.001", "0.1", "1", "3"]))]}}"#
    case 2: return #"{"$geoWithin":{"$center":[\#(center),\#(pick(["1", "20", "200"]))]}}"#
    case 3:
      return
        #"{"$geoWithin":{"$box":[[\#(pick(Self.longitudes)),-50],[\#(pick(Self.longitudes)),60]]}}"#
    default:
      let corners = [
        "[170,-10]", "[-170,-10]", "[-170,60]", "[170,60]", "[0,80]", "[100,80]", "[-100,80]",
      ]
      let ring = (0..<(3 + random.below(2))).map { _ in pick(corners) }.joined(separator: ",")
      return #"{"$geoWithin":{"$polygon":[\#(ring)]}}"#
    }
  }

  private mutating func test() -> String {
    switch random.below(12) {
    case 0, 1, 2: return value(1)
    case 3, 4, 5: return #"{"\#(pick(["$gt", "$gte", "$lt", "$lte"]))":\#(value(1))}"#
    case 6, 7: return #"{"$gte":\#(value(0)),"$lt":\#(value(0))}"#
    case 8: return #"{"$in":[\#(list(random.below(4)) { $0.value(1) })]}"#
    case 9:
      return #"{"$regex":"\#(pick(["^a", "^ab?", "^a|b", "^A", "b$", "^é", "^a.", "^(a)"]))"}"#
    case 10: return #"{"$\#(pick(["ne", "eq"]))":\#(value(0))}"#
    default: return #"{"$exists":\#(chance(50))}"#
    }
  }
}

extension String {
  /// Not everything at once: there would be nothing left to ask for.
  fileprivate var replacingEverything: String { self == "{}" ? #"{"a":1}"# : self }
}
