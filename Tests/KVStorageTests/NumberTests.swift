import KVBase
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// As a backend has sent them, or an earlier version has stored them.
@Suite("Stored numbers beyond 64-bit floating point") struct NumberTests {
  private let directory = TemporaryDirectory()
  private let storage: Storage
  private let large = #"{"_id":"large","n":1e400}"#
  private let small = #"{"_id":"small","n":-\#(String(repeating: "8", count: 5_000))}"#
  private let middle = #"{"_id":"middle","n":18446744073709551616}"#

  init() throws {
    storage = try openStorage(in: directory)
    try storage.store([large, small, middle])
  }

  @Test(
    "are read as they are written, and stand at the ends of an order", arguments: [false, true])
  func order(isIndexed: Bool) throws {
    if isIndexed { try storage.createIndex(IndexSpec(parsing: #"{"keys":{"n":1}}"#), in: "c") }
    #expect(try storage.find("{}", #"{"sort":{"n":1}}"#) == [small, middle, large])
    #expect(try storage.find("{}", #"{"sort":{"n":-1}}"#) == [large, middle, small])
    #expect(try storage.find(#"{"n":{"$gt":18446744073709551616}}"#) == [large])
    #expect(try storage.find(#"{"n":{"$lt":-1e308}}"#) == [small])
    #expect(try storage.find(#"{"n":18446744073709551616}"#) == [middle])
  }

  @Test("do not hinder an update of something else") func update() throws {
    let update = try EntityUpdate(#"{"$set":{"done":true}}"#)
    #expect(try storage.update(query("{}"), update, in: "c").modified.count == 3)
    #expect(try storage.get("large") == #"{"_id":"large","n":1e400,"done":true}"#)
  }
}
