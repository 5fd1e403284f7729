import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// Counts, groups and finds that look at all entities of a large collection, by two threads.
@Suite("Shared reads") struct SharedReadTests {
  private static let count = 24_000

  private let directory = TemporaryDirectory()

  /// Of every three entities one has `a` 1.
  private func filled(padding: Int = 0) throws -> Storage {
    let storage = try openStorage(in: directory)
    let text = String(repeating: "x", count: padding)
    for first in stride(from: 0, to: Self.count, by: 4_000) {
      try storage.store(
        (first..<first + 4_000).map { #"{"_id":"k\#($0)","a":\#($0 % 3),"text":"\#(text)"}"# })
    }
    return storage
  }

  @Test("a large collection is counted as a small one, in both halves, and with a page")
  func counts() throws {
    let storage = try filled()
    defer { storage.close() }
    func count(_ filter: String, _ modifiers: String? = nil) throws -> Int {
      try storage.count(query(filter, modifiers), in: "c", writtenSince: nil)
    }
    // The first time nothing is known about the collection yet.
    for _ in 0..<2 {
      #expect(try count(#"{"a":1}"#) == 8_000)
      #expect(try count(#"{"a":{"$ne":1}}"#) == 16_000)
      #expect(try count(#"{"a":7}"#) == 0)
      #expect(try count(#"{"a":1}"#, #"{"skip":7990,"limit":50}"#) == 10)
      #expect(try count(#"{"a":1}"#, #"{"skip":9000}"#) == 0)
      #expect(try count(#"{"a":1}"#, #"{"limit":5}"#) == 5)
    }
    _ = try storage.remove(query(#"{"a":1}"#), in: "c")
    #expect(try count(#"{"a":1}"#) == 0)
  }

  @Test("both threads see one state, whatever is committed meanwhile")
  func seesOneState() throws {
    let storage = try filled()
    defer { storage.close() }
    let isDone = Monitor(false)
    // Moves a mark between an entity of the lower and one of the upper half.
    let writer = Worker("writer") {
      var step = 0
      while !isDone.withLock({ $0 }) {
        let (low, high) = (step % 2, 1 - step % 2)
        let last = Self.count - 1
        _ = try? storage.save(
          #"{"_id":"k0","a":\#(low * 9)}"#, #"{"_id":"k\#(last)","a":\#(high * 9)}"#)
        step += 1
      }
    }
    let marked = try query(#"{"a":9}"#)
    while try storage.count(marked, in: "c", writtenSince: nil) == 0 {}
    for _ in 0..<10 { #expect(try storage.count(marked, in: "c", writtenSince: nil) == 1) }
    isDone.withLock { $0 = true }
    writer?.join()
  }

  private static func grouping(_ keys: [String]) throws -> Grouping {
    try Grouping(
      parsing:
        #"{"keys":\#(keys),"aggregates":{"n":"count","sum":{"sum":"x"},"most":{"max":"x"},"mean":{"avg":"x"}}}"#
    )
  }

  @Test(
    "groups of two halves are those of one",
    arguments: [
      (["a"], "{}"), ([], #"{"a":{"$gt":1}}"#), (["a", "x"], "{}"), (["a"], #"{"a":9}"#),
    ])
  func groups(keys: [String], filter: String) throws {
    let storage = try filled()
    defer { storage.close() }
    // What only one half has, sums that are inexact in doubles, and values that are no numbers.
    try storage.save(
      #"{"_id":"k0","a":7,"x":1e300}"#, #"{"_id":"k3","a":0,"x":1e300}"#,
      #"{"_id":"k23997","a":0,"x":-1e300}"#, #"{"_id":"k23998","a":0,"x":0.1}"#,
      #"{"_id":"k23999","a":0,"x":"text"}"#)
    let query = try query(filter)
    var all = Groups(try Self.grouping(keys))
    try storage.each(of: query, in: "c", writtenSince: nil, within: .unlimited) { all.add($0) }
    let groups = try storage.group(
      Self.grouping(keys), of: query, in: "c", writtenSince: nil, within: .unlimited)
    #expect(
      groups.map { JSONValue.object($0).text } == all.results.map { JSONValue.object($0).text })
  }

  // MARK: Finding

  /// The ids of what a cursor gives.
  private func ids(_ cursor: any EntityCursor) throws -> [String] {
    var ids: [String] = []
    while let id = try cursor.next({ try? EntityScanner.outline(of: [UInt8]($0)).id }) {
      ids.append(id ?? "?")
    }
    return ids
  }

  private func find(
    _ storage: Storage, _ filter: String, within budget: WorkBudget = .unlimited
  ) throws -> any EntityCursor {
    let query = try query(filter)
    // The first time nothing is known about the collection yet.
    _ = try storage.count(query, in: "c", writtenSince: nil)
    return try storage.find(query, in: "c", writtenSince: nil, within: budget)
  }

  @Test(
    "what is found comes in the order of storage, little or more than is read ahead",
    arguments: [0, 600])
  func finds(padding: Int) throws {
    let storage = try filled(padding: padding)
    defer { storage.close() }
    let all = (0..<Self.count).filter { $0 % 3 > 0 }.map { "k\($0)" }
    #expect(try ids(try find(storage, #"{"a":{"$gt":0}}"#)) == all)
    #expect(try ids(try find(storage, #"{"a":7}"#)) == [])
    #expect(try ids(try find(storage, #"{"_id":{"$regex":"^k2399"}}"#)).count == 11)
  }

  @Test("a cursor shows one state, whatever is committed meanwhile, and can be left at any time")
  func findsOneState() throws {
    let storage = try filled()
    defer { storage.close() }
    let cursor = try find(storage, #"{"a":{"$ne":5}}"#)
    #expect(try cursor.next { $0.count } != nil)
    _ = try storage.remove(query(#"{"a":{"$gt":0}}"#), in: "c")
    #expect(try ids(cursor).count == Self.count - 1)
    #expect(try ids(try find(storage, #"{"a":{"$ne":5}}"#)).count == Self.count / 3)
    for taken in 0..<20 {
      let cursor = try find(storage, #"{"a":{"$ne":5}}"#)
      for _ in 0..<taken { _ = try cursor.next { $0.count } }
      if taken % 2 == 0 { cursor.close() }
    }
  }

  @Test("a cursor that was given is not affected by the budget of the find, wherever it begins")
  func outlivesBudget() throws {
    let storage = try filled()
    defer { storage.close() }
    // One that is in the upper half alone.
    try storage.save(#"{"_id":"k23999","a":9}"#)
    for (filter, count) in [
      (#"{"a":{"$gt":0}}"#, Self.count / 3 * 2), (#"{"a":9}"#, 1),
    ] {
      let budget = WorkBudget(until: .never)
      let cursor = try find(storage, filter, within: budget)
      budget.cancel()
      #expect(try ids(cursor).count == count)
    }
  }

  @Test("a damaged entity is an error in its place") func findsDamage() throws {
    let storage = try filled()
    storage.close()
    try tamper(
      "UPDATE e1 SET body = replace(body, 'text', 'test') WHERE id = 'k20000'",
      in: directory)
    let again = try openStorage(in: directory)
    defer { again.close() }
    let cursor = try find(again, #"{"_id":{"$regex":"^k"}}"#)
    var (found, errors) = (0, [StoreError.Kind]())
    while true {
      do throws(StoreError) {
        guard try cursor.next({ _ in found += 1 }) != nil else { break }
      } catch {
        #expect(found == 20_000)
        errors.append(error.kind)
      }
    }
    #expect(found == Self.count - 1)
    #expect(errors == [.corrupt])
  }

  @Test("it ends when its budget is exhausted")
  func ends() throws {
    let storage = try filled()
    defer { storage.close() }
    let query = try query(#"{"a":1}"#)
    _ = try storage.count(query, in: "c", writtenSince: nil)
    let budget = WorkBudget(until: .never)
    budget.cancel()
    #expect(throws: StoreError.self) {
      try storage.count(query, in: "c", writtenSince: nil, within: budget)
    }
    #expect(throws: StoreError.self) {
      try storage.group(
        Self.grouping(["a"]), of: query, in: "c", writtenSince: nil, within: budget)
    }
    let nothing = try KVStorageTests.query(#"{"a":7}"#)
    _ = try storage.count(nothing, in: "c", writtenSince: nil)
    #expect(throws: StoreError.self) {
      _ = try storage.find(nothing, in: "c", writtenSince: nil, within: budget)
    }
  }
}
