import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// What goes by a filter, few entities by the triggers of the indexes, many with a statement for each index.
@Suite("Removal by a filter") struct RemovalTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws { storage = try openStorage(in: directory) }

  private static func entity(_ number: Int) -> String {
    let tags = number % 7 == 0 ? #"["t\#(number % 5)","under"]"# : #""t\#(number % 5)""#
    return #"{"_id":"\#(number)","n":\#(number),"tags":\#(tags),"g":"g\#(number % 3)"}"#
  }

  /// `limit`: 100 is below the number from which on the indexes are written at once, 1,010 above.
  @Test(
    "indexes, totals and words find what is left, also after later writes", arguments: [100, 1_010])
  func indexes(limit: Int) throws {
    try storage.store((0..<1_100).map(Self.entity))
    try storage.createIndex(#"{"n":1}"#)
    try storage.createIndex(#"{"tags":1,"n":-1}"#)
    try storage.createIndex(#"{"g":1,"n":1}"#, totals: true)
    try storage.createIndex(#"{"$**":"text"}"#)
    #expect(try storage.remove(query(#"{"n":{"$lt":\#(limit)}}"#), in: "c") == limit)
    // These come and go by the triggers.
    try storage.save(Self.entity(3))
    try storage.save(#"{"_id":"1099","n":-1,"tags":["t9"],"g":"g9"}"#)
    #expect(try storage.remove(query(#"{"n":1098}"#), in: "c") == 1)
    let left = [3] + Array(limit..<1_098)
    func count(_ filter: String) throws -> Int {
      let explained = try storage.explained(filter)
      #expect(explained.access == .index, "\(filter)")
      let counted = try storage.count(query(filter), in: "c", writtenSince: nil, within: .unlimited)
      #expect(try storage.find(filter).count == counted)
      return counted
    }
    #expect(try count(#"{"n":{"$gte":0}}"#) == left.count)
    #expect(try count(#"{"n":-1}"#) == 1)
    #expect(try count(#"{"tags":"t2"}"#) == left.count { $0 % 5 == 2 })
    #expect(try count(#"{"tags":"t9"}"#) == 1)
    #expect(try count(#"{"$text":{"$search":"under"}}"#) == left.count { $0 % 7 == 0 })
    let grouping = try Grouping(parsing: #"{"keys":["g"],"aggregates":{"s":{"sum":"n"}}}"#)
    let groups = try storage.group(
      grouping, of: query("{}"), in: "c", writtenSince: nil, within: .unlimited)
    let sums = groups.map { JSONValue.object($0).text }.sorted()
    #expect(
      sums == (0..<3).map { group in
        #"{"g":"g\#(group)","s":\#(left.filter { $0 % 3 == group }.reduce(0, +))}"#
      } + [#"{"g":"g9","s":-1}"#])
  }

  @Test("what the backend has is queued as deleted, a create that it never saw leaves no trace")
  func queue() throws {
    try storage.store((0..<1_010).map(Self.entity))
    try storage.save(#"{"n":5000}"#, #"{"n":5001}"#)
    try storage.save(#"{"_id":"7","n":7,"changed":true}"#)
    let created = try #require(try storage.queue().first { $0.operation == .create })
    _ = try storage.beginSending([created])
    #expect(try storage.remove(query(#"{"n":{"$gte":0}}"#), in: "c") == 1_012)
    let queue = try storage.queue()
    // One create was sent, and may have arrived.
    #expect(queue.count == 1_011)
    #expect(queue.allSatisfy { $0.operation == .delete })
    #expect(Set(queue.map(\.revision)).count == queue.count)
    #expect(try storage.base("7") == Self.entity(7))
    #expect(try storage.expectsLateWrites(in: "c"))
  }

  @Test("row numbers of what has gone are not given again") func rowNumbers() throws {
    try storage.store((0..<1_010).map(Self.entity))
    let transaction = try storage.beginTransaction()
    defer { transaction.close() }
    let cursor = try transaction.find(query("{}"), in: "c")
    #expect(try storage.remove(query("{}"), in: "c") == 1_010)
    storage.close()
    let again = try openStorage(in: directory)
    try again.store((2_000..<2_010).map(Self.entity))
    #expect(try again.find().count == 10)
    #expect(try again.explained("{}").returned == 10)
    cursor.close()
  }
}
