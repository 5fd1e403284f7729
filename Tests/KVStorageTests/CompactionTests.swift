import KVBase
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Compaction of local data") struct CompactionTests {
  let directory = TemporaryDirectory()

  @Test("the file becomes smaller; entities, their order, indexes, the queue and tombstones stay")
  func shrinks() throws {
    let storage = try openStorage(in: directory)
    for spec in [#"{"name":"n","keys":{"n":1}}"#, #"{"name":"t","keys":{"t":"text"}}"#] {
      try storage.createIndex(IndexSpec(parsing: spec), in: "c")
    }
    try storage.store((0..<4000).map { entity($0) })
    try storage.save(#"{"_id":"mine","n":1,"t":"word1"}"#)
    let before = storage.size
    #expect(try storage.clear(query(#"{"n":{"$gte":2}}"#), in: "c") == 3200)
    let (all, words) = (try storage.find(), try storage.find(#"{"$text":{"$search":"word11"}}"#))
    let sorted = try storage.find(#"{"n":{"$gte":1}}"#, #"{"sort":{"n":-1}}"#)
    try storage.compact(within: .unlimited)
    #expect(storage.size < before / 3)
    #expect(try storage.find() == all && all.count == 801)
    #expect(try storage.find(#"{"$text":{"$search":"word11"}}"#) == words && !words.isEmpty)
    #expect(try storage.find(#"{"n":{"$gte":1}}"#, #"{"sort":{"n":-1}}"#) == sorted)
    #expect(try storage.pendingCount(in: "c") == 1)
    #expect(try storage.repair().damaged == 0)
    try storage.save(#"{"_id":"new"}"#)
    #expect(try storage.find().last == #"{"_id":"new"}"#)
  }

  @Test("an observer that slept meanwhile hears of everything, and is not woken for nothing")
  func observers() throws {
    let (storage, other) = (try openStorage(in: directory), try openStorage(in: directory))
    let observed = try storage.observe(query("{}", #"{"sort":{"n":1}}"#), in: "c") {}
    var copy = ResultCopy()
    if let changes = try observed.changes() { copy.apply(changes) }
    for step in 0..<4 {
      try other.store((0..<20).map { #"{"_id":"\#(step)-\#($0)","n":\#($0)}"# })
      try (step % 2 == 0 ? other : storage).compact(within: .unlimited)
      if step > 1 { try other.store(#"{"_id":"last","n":\#(step)}"#) }
      if let changes = try observed.changes() { copy.apply(changes) }
      #expect(try copy.shown == storage.find("{}", #"{"sort":{"n":1}}"#))
      try storage.compact(within: .unlimited)
      #expect(try observed.changes() == nil)
    }
  }

  @Test("who is cancelled, or has no time left, is told so") func ends() throws {
    let storage = try openStorage(in: directory)
    try storage.store((0..<4000).map { entity($0) })
    let over = WorkBudget(until: .after(seconds: 0))
    let cancelled = WorkBudget(until: .never)
    cancelled.cancel()
    for (budget, kind) in [(over, StoreError.Kind.timeout), (cancelled, .cancelled)] {
      let error = #expect(throws: StoreError.self) { try storage.compact(within: budget) }
      #expect(error?.kind == kind)
    }
    #expect(try storage.find().count == 4000)
  }

  private func entity(_ number: Int) -> String {
    #"{"_id":"id\#(number)","n":\#(number % 10),"t":"word\#(number) \#(String(repeating: "y", count: 300))"}"#
  }
}
