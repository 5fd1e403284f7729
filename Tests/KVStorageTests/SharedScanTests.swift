import KVBase
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// Counts that look at all entities of a large collection, by two threads.
@Suite("Shared scans") struct SharedScanTests {
  private static let count = 24_000

  private let directory = TemporaryDirectory()

  /// Of every three entities one has `a` 1.
  private func filled() throws -> Storage {
    let storage = try openStorage(in: directory)
    for first in stride(from: 0, to: Self.count, by: 4_000) {
      try storage.store((first..<first + 4_000).map { #"{"_id":"k\#($0)","a":\#($0 % 3)}"# })
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
  }
}
