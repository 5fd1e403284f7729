import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@testable import KVStorage

/// Indexes that no application asks for: made for conditions that scan again and again, dropped when they cost more than they
/// save.
@Suite("Automatic indexes") struct AutomaticIndexTests {
  private let directory = TemporaryDirectory()

  private static var eager: IndexLedger.Rules {
    var rules = IndexLedger.Rules()
    (rules.minRows, rules.scans) = (100, 3)
    return rules
  }

  private func open(_ rules: IndexLedger.Rules = eager, tag: String = "kinvey") throws -> Storage {
    try openStorage(in: directory, tag: tag, automaticIndexes: rules)
  }

  /// 400 entities; 4 have each value of `rare`, 200 each of `common`.
  private func fill(_ storage: Storage) throws {
    try storage.store(
      (0..<400).map { #"{"_id":"k\#($0)","rare":\#($0 % 100),"common":\#($0 % 2),"n":\#($0)}"# })
  }

  private func count(_ filter: String, _ storage: Storage) throws -> Int {
    try storage.count(query(filter), in: "c", writtenSince: nil)
  }

  private func names(_ storage: Storage) throws -> [String] {
    storage.waitForAutomaticIndexes()
    return try storage.indexes(in: "c").map(\.spec.name)
  }

  @Test("what scans again and again gets an index, which says why it is there")
  func makes() throws {
    let storage = try open()
    defer { storage.close() }
    try fill(storage)
    for value in 0..<3 {
      #expect(try count(#"{"rare":\#(value)}"#, storage) == 4)
      #expect(try names(storage).isEmpty)
    }
    #expect(try count(#"{"rare":3}"#, storage) == 4)
    #expect(try names(storage) == ["automatic: rare"])
    let explanation = try storage.explain(query(#"{"rare":7}"#), in: "c")
    #expect(explanation.access == .index)
    #expect(explanation.indexes == ["automatic: rare"])
    #expect(explanation.examined == 4)
    let index = try #require(try storage.indexes(in: "c").first)
    #expect(index.isReady)
    let reason = try #require(index.spec.automatic)
    #expect(reason.scans == 4)
    #expect(reason.examined == 1600)
    #expect(reason.returned == 16)
    #expect(reason.bytes > 0)
  }

  @Test("finds and groups count as scans, read to their end", arguments: [true, false])
  func findsCount(isSorted: Bool) throws {
    let storage = try open()
    defer { storage.close() }
    try fill(storage)
    let query = try query(
      #"{"rare":{"$gte":50,"$lt":52}}"#, isSorted ? #"{"sort":{"n":1},"limit":5}"# : nil)
    for _ in 0..<8 {
      let cursor = try storage.find(query, in: "c", writtenSince: nil)
      _ = try drain(cursor)
    }
    #expect(try names(storage) == ["automatic: rare"])
  }

  @Test("groups get an index of their own, with totals if numbers are added up")
  func groupsGetTotals() throws {
    let storage = try open()
    defer { storage.close() }
    try fill(storage)
    func groups(_ aggregates: String) throws -> [JSONObject] {
      let grouping = try Grouping(parsing: #"{"keys":["rare"],"aggregates":{\#(aggregates)}}"#)
      return try storage.group(grouping, of: Query(), in: "c", writtenSince: nil)
    }
    for aggregates in [#""n":"count""#, #""s":{"sum":"n"}"#] {
      let expected = try groups(aggregates)
      #expect(expected.count == 100)
      for _ in 0..<30 { #expect(try groups(aggregates) == expected) }
      storage.waitForAutomaticIndexes()
    }
    // 100 groups of 400 entities are too many; 2 are not.
    #expect(try names(storage).isEmpty)
    let common = try Grouping(parsing: #"{"keys":["common"],"aggregates":{"s":{"sum":"n"}}}"#)
    for _ in 0..<4 {
      #expect(try storage.group(common, of: Query(), in: "c", writtenSince: nil).count == 2)
    }
    #expect(try names(storage) == ["automatic: common, n, totals"])
    #expect(try storage.group(common, of: Query(), in: "c", writtenSince: nil).count == 2)
  }

  @Test("two clients of one file make one index, and one of them drops it for both")
  func isShared() throws {
    let (first, second) = (try open(), try open())
    defer { for storage in [first, second] { storage.close() } }
    try fill(first)
    for _ in 0..<4 {
      for storage in [first, second] { #expect(try count(#"{"rare":1}"#, storage) == 4) }
    }
    #expect(try names(second) == ["automatic: rare"])
    #expect(try names(first) == ["automatic: rare"])
    for run in 0..<40 where try !names(first).isEmpty {
      for entity in 0..<20 { try first.save(#"{"_id":"k\#(entity)","rare":\#(run)}"#) }
    }
    for storage in [first, second] {
      #expect(try names(storage).isEmpty)
      #expect(try count(#"{"rare":50}"#, storage) == 4)
    }
  }

  @Test("an index of the application's that has the name of an automatic one stays as it is")
  func keepsForeignNames() throws {
    let storage = try open()
    defer { storage.close() }
    try fill(storage)
    try storage.createIndex(#"{"common":1}"#, name: "automatic: rare")
    for _ in 0..<20 { #expect(try count(#"{"rare":1}"#, storage) == 4) }
    #expect(try names(storage) == ["automatic: rare"])
    #expect(try storage.indexes(in: "c").allSatisfy { $0.spec.automatic == nil })
  }

  @Test("a condition that finds many gets none, nor one that an index serves")
  func makesNoUselessOnes() throws {
    let storage = try open()
    defer { storage.close() }
    try fill(storage)
    try storage.createIndex(#"{"rare":1}"#, name: "mine")
    for _ in 0..<20 {
      #expect(try count(#"{"common":1}"#, storage) == 200)
      #expect(try count(#"{"rare":1}"#, storage) == 4)
      #expect(try count(#"{"_id":"k1"}"#, storage) == 1)
    }
    #expect(try names(storage) == ["mine"])
  }

  @Test("small collections get none, nor does a store that is not to have any")
  func makesNoneWhereOff() throws {
    var rules = Self.eager
    rules.minRows = 401
    let stores = [try open(rules), try openStorage(in: directory, tag: "off")]
    for storage in stores {
      defer { storage.close() }
      try fill(storage)
      for _ in 0..<10 { #expect(try count(#"{"rare":1}"#, storage) == 4) }
      #expect(try names(storage).isEmpty)
    }
  }

  @Test("an index that is not used is dropped when changes have cost as much as it was made for")
  func drops() throws {
    let storage = try open()
    defer { storage.close() }
    try fill(storage)
    for _ in 0..<4 { _ = try count(#"{"rare":1}"#, storage) }
    #expect(try names(storage) == ["automatic: rare"])
    for run in 0..<40 where try !names(storage).isEmpty {
      for entity in 0..<20 { try storage.save(#"{"_id":"k\#(entity)","rare":\#(run)}"#) }
    }
    #expect(try names(storage).isEmpty)
    // It can earn its place again.
    for _ in 0..<4 { _ = try count(#"{"rare":50}"#, storage) }
    #expect(try names(storage) == ["automatic: rare"])
  }

  @Test("an index that is used stays, also for a process that finds it there")
  func keeps() throws {
    let first = try open()
    try fill(first)
    for _ in 0..<4 { _ = try count(#"{"rare":1}"#, first) }
    #expect(try names(first) == ["automatic: rare"])
    first.close()
    let storage = try open()
    defer { storage.close() }
    for run in 0..<40 {
      for entity in 0..<20 { try storage.save(#"{"_id":"k\#(entity)","rare":\#(run)}"#) }
      #expect(try count(#"{"rare":99}"#, storage) == 4)
    }
    #expect(try names(storage) == ["automatic: rare"])
  }

  @Test("the application's index takes the place of one with the same keys")
  func givesWay() throws {
    let storage = try open()
    defer { storage.close() }
    try fill(storage)
    for _ in 0..<4 { _ = try count(#"{"rare":1}"#, storage) }
    #expect(try names(storage) == ["automatic: rare"])
    try storage.createIndex(#"{"rare":1}"#, name: "mine")
    #expect(try names(storage) == ["mine"])
  }

  @Test("what the application drops is not made again")
  func staysAway() throws {
    let storage = try open()
    defer { storage.close() }
    try fill(storage)
    for _ in 0..<4 { _ = try count(#"{"rare":1}"#, storage) }
    #expect(try names(storage) == ["automatic: rare"])
    #expect(try storage.dropIndex("automatic: rare", in: "c"))
    for _ in 0..<20 { #expect(try count(#"{"rare":1}"#, storage) == 4) }
    #expect(try names(storage).isEmpty)
  }

  @Test("what it takes of the file is known with the transaction that makes it usable")
  func isMeasured() throws {
    let storage = try openStorage(in: directory)
    defer { storage.close() }
    try fill(storage)
    let wanted = try #require(try query(#"{"rare":1}"#).wantedIndex)
    var ledger = IndexLedger(Self.eager)
    var worthwhile: IndexSpec?
    while worthwhile == nil { worthwhile = ledger.scanned(wanted, in: 1, rows: 400, found: 4) }
    let spec = try #require(worthwhile)
    let place = try #require(try storage.addAutomaticIndex(spec, in: "c", Self.eager))
    var (pace, isLast) = (FillPace(), false)
    while !isLast {
      let step = try storage.fillMeasuring(place.index, &pace)
      let index = try #require(try storage.indexes(in: "c").first)
      #expect(index.isReady == step.isLast)
      #expect(index.spec.automatic?.bytes == step.bytes)
      #expect(step.bytes > 0)
      isLast = step.isLast
    }
    // Whoever finds it begun goes on with what is known.
    let again = try #require(try storage.addAutomaticIndex(spec, in: "c", Self.eager))
    #expect(again.limit >= place.limit)
  }

  @Test("there are no more than the rules allow, neither in number nor in bytes")
  func isBounded() throws {
    var rules = Self.eager
    rules.maxIndexes = 1
    let few = try open(rules)
    defer { few.close() }
    (rules.maxIndexes, rules.maxBytes, rules.maxShare) = (8, 1, .max)
    let small = try open(rules, tag: "small")
    defer { small.close() }
    for storage in [few, small] {
      try fill(storage)
      for _ in 0..<6 { _ = try count(#"{"rare":1}"#, storage) }
      for _ in 0..<6 { _ = try count(#"{"n":1}"#, storage) }
    }
    #expect(try names(few) == ["automatic: rare"])
    #expect(try names(small).isEmpty)
  }

  @Test("a store that is closed while an index is made finds the same afterwards")
  func survivesClosing() throws {
    for run in 0..<5 {
      let storage = try open(tag: "closed\(run)")
      try fill(storage)
      for _ in 0..<4 { _ = try count(#"{"rare":1}"#, storage) }
      storage.close()
      let again = try open(tag: "closed\(run)")
      defer { again.close() }
      for _ in 0..<8 { #expect(try count(#"{"rare":1}"#, again) == 4) }
      #expect(try names(again) == ["automatic: rare"])
    }
  }

  @Test(
    "the members that are equal come first, then a range or the order",
    arguments: [
      (#"{"b":1,"a":"x"}"#, nil, ["a", "b"]), (#"{"a":{"$gt":1},"b":2}"#, nil, ["b", "a"]),
      (#"{"a":{"$gt":1,"$lt":3}}"#, #"{"sort":{"b":-1},"limit":3}"#, ["a"]),
      (#"{"a":1}"#, #"{"sort":{"b":-1},"limit":3}"#, ["a", "b descending"]),
      ("{}", #"{"sort":{"b":-1},"limit":3}"#, ["b descending"]),
      (#"{"a":1}"#, #"{"sort":{"b":-1}}"#, ["a"]), ("{}", #"{"sort":{"b":-1}}"#, nil),
      (#"{"a":{"$ne":1}}"#, nil, nil), (#"{"$or":[{"a":1},{"b":1}]}"#, nil, nil),
      (#"{"_id":"k"}"#, nil, nil), (#"{"_kmd.lmt":"x"}"#, nil, nil),
      (#"{"a":{"$in":[1,2]},"b":{"$exists":true}}"#, nil, ["a"]),
    ] as [(String, String?, [String]?)])
  func wants(filter: String, modifiers: String?, keys: [String]?) throws {
    let wanted = try query(filter, modifiers).wantedIndex
    #expect(wanted?.name == keys.map { "automatic: \($0.joined(separator: ", "))" })
  }
}
