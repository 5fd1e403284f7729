import KVQuery
import KVSQLite
@testable import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Queue") struct QueueTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws { storage = try openStorage(in: directory) }

  @Test("is walked in its own order when the schema changes, without sorting it for each row")
  func walk() throws {
    for number in 0..<3 { try storage.save(#"{"_id":"\#(number)"}"#) }
    let steps = try storage.database.read { (db) throws(SQLiteError) -> [String] in
      let table = Table(number: 1)
      let statement = try db.prepare(
        "EXPLAIN QUERY PLAN \(Storage.QueuedVersions.first(of: table, after: 1))" as SQLFragment)
      var steps: [String] = []
      while try statement.step() { steps.append(statement.text(3) ?? "") }
      return steps
    }
    #expect(steps == ["SEARCH pending USING INTEGER PRIMARY KEY (rowid>?)"])
  }

  @Test("is listed oldest first, in pages") func pages() throws {
    for number in 0..<5 { try storage.save(#"{"_id":"\#(number)"}"#) }
    try storage.save(#"{"_id":"x"}"#, in: "d")
    let first = try storage.pending(in: "c", after: 0, limit: 2, onlyWaiting: false)
    #expect(first.map(\.id) == ["0", "1"])
    let rest = try storage.pending(in: "c", after: first[1].order, limit: 10, onlyWaiting: false)
    #expect(rest.map(\.id) == ["2", "3", "4"])
    #expect(
      try storage.pending(in: "c", after: rest[2].order, limit: 10, onlyWaiting: false).isEmpty)
    #expect(try storage.pending(in: "none", after: 0, limit: 10, onlyWaiting: false).isEmpty)
  }

  @Test("an edit replaces what is sent and starts anew") func edits() throws {
    try storage.store(#"{"_id":"a","n":1}"#)
    try storage.save(#"{"_id":"a","n":2}"#)
    let before = try #require(try storage.write("a"))
    let sent = try storage.beginSending([before]).map(\.write)
    try storage.recordFailure([(sent[0], StoreError(.server, "Broken."))])
    #expect(try storage.edit(#"{"n":3}"#, "a"))
    let after = try #require(try storage.write("a"))
    #expect(after.attempts == 0)
    #expect(after.lastError == nil)
    #expect(after.revision != before.revision)
    #expect(try storage.get("a") == #"{"_id":"a","n":3}"#)
    #expect(try storage.base("a") == #"{"_id":"a","n":1}"#)
  }

  @Test("an edit of what is not pending changes nothing") func editsNothing() throws {
    try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b"}"#)
    _ = try storage.remove("b", in: "c")
    #expect(try !storage.edit(#"{"n":2}"#, "a"))
    #expect(try !storage.edit(#"{"n":2}"#, "b"))
    #expect(try storage.find() == [#"{"_id":"a","n":1}"#])
    let error = #expect(throws: StoreError.self) { try storage.edit(#"{"_id":"x"}"#, "a") }
    #expect(error?.kind == .invalid)
  }

  @Test("dropping forgets one write and leaves the entity") func drops() throws {
    try storage.save(#"{"_id":"a"}"#, #"{"_id":"b"}"#)
    #expect(try storage.dropPending("a", in: "c"))
    #expect(try !storage.dropPending("a", in: "c"))
    #expect(try storage.queue().map(\.id) == ["b"])
    #expect(try storage.find().count == 2)
  }

  @Test("purging forgets the writes of what matches, or all of them") func purges() throws {
    try storage.store(#"{"_id":"gone"}"#)
    try storage.save(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":2}"#)
    _ = try storage.remove("gone", in: "c")
    #expect(try storage.purge(query(#"{"n":1}"#), in: "c") == 1)
    #expect(try storage.queue().map(\.id) == ["b", "gone"])
    #expect(try storage.purge(nil, in: "c") == 2)
    #expect(try storage.find().count == 2)
  }

  @Test("clearing removes entities, writes and requests, and queues nothing") func clears() throws {
    let key = RequestKey(filter: "{}", fields: "")
    try storage.save(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":2}"#)
    try storage.store(#"{"_id":"c","n":1}"#)
    let mark = try storage.beginRefresh(of: "c")
    _ = try storage.finishRefresh(
      of: "c", from: mark, deletingUnseen: nil,
      recording: (key, BackendMoment("t")))
    #expect(try storage.clear(query(#"{"n":1}"#), in: "c") == 2)
    #expect(try storage.lastRequest(key, in: "c") == nil)
    #expect(try storage.queue().map(\.id) == ["b"])
    #expect(try storage.clear(nil, in: "c") == 1)
    #expect(try storage.queue().isEmpty)
    #expect(try storage.find().isEmpty)
  }

  @Test("wiping leaves nothing of any collection, and everything usable") func wipes() throws {
    let other = try openStorage(in: directory)
    try storage.save(#"{"_id":"a"}"#)
    try other.save(#"{"_id":"a"}"#, in: "d")
    try storage.wipe()
    #expect(try storage.pendingCount(in: nil) == 0)
    #expect(try other.find(in: "d").isEmpty)
    try other.save(#"{"_id":"b"}"#, in: "d")
    #expect(try storage.find(in: "d") == [#"{"_id":"b"}"#])
  }
}
