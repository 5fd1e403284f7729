import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// Pages of a sorted collection, far from its start, and walks through all of it: an index changes nothing but the cost.
@Suite("Reading in the order of an index") struct OrderedReadingTests {
  private static let count = 900
  private static let indexes = [
    #"{"u":1}"#, #"{"g":1}"#, #"{"g":1,"u":-1}"#, #"{"h":-1}"#, #"{"few":1,"h":1,"u":1}"#,
  ]

  private let directory = TemporaryDirectory()
  private let plain: Storage
  private let indexed: Storage

  init() throws {
    plain = try openStorage(in: directory, tag: "plain")
    indexed = try openStorage(in: directory, tag: "indexed")
    let odd = ["null", "0", "0.5", "1", "1.0", #""a""#, #""é""#, "true", "{}", "-1e300"]
    let entities = (0..<Self.count).map { number in
      let mixed = number * 7919 % Self.count
      return """
        {"_id":"k\(mixed)","u":\(Double(mixed) / 7),"g":\(mixed % 3),"few":\(number < 820 ? 1 : number % 5),
        "h":\(odd[mixed % odd.count])}
        """
    }
    for storage in [plain, indexed] { try storage.store(entities) }
    for keys in Self.indexes { try indexed.createIndex(keys) }
  }

  private static let sorts = [
    #"{"u":1}"#, #"{"u":-1}"#, #"{"g":1}"#, #"{"g":-1}"#, #"{"g":1,"u":-1}"#, #"{"g":-1,"u":1}"#,
    #"{"h":1}"#, #"{"h":-1}"#, #"{"few":1,"h":1}"#, #"{"few":-1}"#,
  ]
  private static let filters = [
    "{}", #"{"g":1}"#, #"{"u":{"$gte":20}}"#, #"{"few":{"$lte":1}}"#, #"{"h":{"$gt":0}}"#,
    #"{"few":1,"h":"a"}"#, #"{"u":{"$gte":20},"t":null}"#,
  ]

  @Test("a page is the same with and without an index, wherever it begins")
  func pages() throws {
    var random = Seed()
    let seed = random
    var ways: Set<Bool> = []
    for _ in 0..<200 {
      let sort = Self.sorts[random.below(Self.sorts.count)]
      let filter = Self.filters[random.below(Self.filters.count)]
      let skip = random.below(4) == 0 ? random.below(250) : random.below(Self.count + 50)
      let limit = 1 + random.below(random.below(3) == 0 ? 300 : 20)
      let query = try query(filter, #"{"sort":\#(sort),"skip":\#(skip),"limit":\#(limit)}"#)
      let expected = try drain(plain.find(query, in: "c", writtenSince: nil))
      for time in ["first", "with the plan of the last time"] {
        let found = try drain(indexed.find(query, in: "c", writtenSince: nil))
        #expect(found == expected, "\(seed): \(filter) \(sort) \(skip) \(limit), \(time)")
      }
      let explanation = try indexed.explain(query, in: "c")
      #expect(explanation.returned == expected.count)
      ways.insert(explanation.examined == explanation.returned)
    }
    #expect(ways.count == 2, "\(seed): with and without looking at other entities")
  }

  @Test("a page at the end looks at nothing before it")
  func end() throws {
    let query = try query("{}", #"{"sort":{"u":1},"skip":880,"limit":20}"#)
    #expect(try plain.explain(query, in: "c").examined == Self.count)
    #expect(try indexed.explain(query, in: "c").examined == 20)
  }

  @Test("a sorted find without a limit walks the index", arguments: sorts)
  func walk(sort: String) throws {
    let query = try query("{}", #"{"sort":\#(sort)}"#)
    let explanation = try indexed.explain(query, in: "c")
    #expect(explanation.access == .index, "\(explanation)")
    #expect(
      try drain(indexed.find(query, in: "c", writtenSince: nil))
        == drain(plain.find(query, in: "c", writtenSince: nil)))
  }

  @Test("the order of ids needs no other index, and is that of their bytes", arguments: [1, -1])
  func ids(direction: Int) throws {
    try plain.store(
      ["é", "z", "Z", "e\u{301}", "𝄞", "\u{FFFD}"].map { #"{"_id":"\#($0)","g":0}"# })
    let all = try plain.find("{}", #"{"sort":{"_id":\#(direction),"g":1}}"#)
    #expect(all.count == Self.count + 6)
    let ids = all.map { Array(($0.split(separator: "\"")[3]).utf8) }
    let sorted = ids.sorted { $0.lexicographicallyPrecedes($1) }
    #expect(ids == (direction == 1 ? sorted : sorted.reversed()))
    let page = try plain.find("{}", #"{"sort":{"_id":\#(direction)},"skip":880,"limit":20}"#)
    #expect(page == Array(all[880..<900]))
    let some = try plain.find(#"{"g":1}"#, #"{"sort":{"_id":\#(direction)},"skip":100}"#)
    #expect(some == Array(all.filter { $0.contains(#""g":1"#) }[100...]))
    let query = try query("{}", #"{"sort":{"_id":\#(direction)}}"#)
    #expect(try plain.explain(query, in: "c").steps.allSatisfy { !$0.contains("TEMP B-TREE") })
  }
}
