import KVBase
import KVJSON
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Refresh") struct RefreshTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws { storage = try openStorage(in: directory) }

  private func finish(
    _ mark: RefreshMark, deleting filter: String? = "{}", on store: Storage? = nil
  ) throws -> Int {
    try (store ?? storage).finishRefresh(
      of: "c", from: mark, deletingUnseen: filter.map { try query($0) }, recording: nil)
  }

  @Test("what the backend has is stored and replaced") func stores() throws {
    #expect(try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":1}"#) == 2)
    #expect(try storage.store(#"{"_id":"a","n":2}"#) == 1)
    #expect(try storage.find() == [#"{"_id":"a","n":2}"#, #"{"_id":"b","n":1}"#])
    #expect(try storage.pendingCount(in: "c") == 0)
  }

  @Test("an entity without _id is refused, and nothing of its batch stored") func withoutId() throws
  {
    let error = #expect(throws: StoreError.self) { try storage.store(#"{"_id":"a"}"#, "{}") }
    #expect(error?.kind == .proto)
    #expect(try storage.find().isEmpty)
  }

  @Test("what is pending is left alone, and a deletion is not undone") func pending() throws {
    try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":1}"#)
    try storage.save(#"{"_id":"a","n":2}"#)
    _ = try storage.remove("b", in: "c")
    let stored = try storage.store(
      #"{"_id":"a","n":9}"#, #"{"_id":"b","n":9}"#, #"{"_id":"c","n":9}"#)
    #expect(stored == 1)
    #expect(try storage.find() == [#"{"_id":"a","n":2}"#, #"{"_id":"c","n":9}"#])
    #expect(try storage.forget(["a", "b", "c", "d"], in: "c") == 1)
    #expect(try storage.find() == [#"{"_id":"a","n":2}"#])
    #expect(try storage.queue().count == 2)
  }

  @Test(
    "what the backend confirmed while a read waited, and lost before it answered, is kept by the next read"
  )
  func lostMeanwhile() throws {
    storage.resetRule.withLock { $0 = BackendResetRule(.keep) { _, _ in } }
    try storage.note(BackendData(epoch: "1"), in: "c")
    let mark = try storage.beginRefresh(of: "c")
    try storage.store(#"{"_id":"a","_kmd":{"lmt":"2026-01-01T00:00:01.000Z"}}"#)
    let answered = BackendMoment("2026-01-01T00:00:02.000Z", epoch: "2")
    #expect(try storage.noteEpoch(answered, in: "c", from: mark))
    try storage.store(#"{"_id":"b","_kmd":{"lmt":"2026-01-01T00:00:00.000Z"}}"#)
    #expect(try finish(mark) == 0)
    let next = try storage.beginRefresh(of: "c")
    try storage.keepLost([("a", .gone), ("b", .gone)], in: "c", from: next)
    #expect(try storage.write("a")?.state == .backendWentBack)
    #expect(try storage.write("b") == nil)
    #expect(try finish(next) == 1)
    #expect(try storage.find().count == 1)
  }

  @Test("what it did not see goes, what was written meanwhile stays") func unseen() throws {
    try storage.store(#"{"_id":"old"}"#, #"{"_id":"seen"}"#, #"{"_id":"changed"}"#)
    let mark = try storage.beginRefresh(of: "c")
    try storage.store(#"{"_id":"seen"}"#)
    try storage.save(#"{"_id":"changed","n":1}"#)
    let created = try storage.save(#"{"n":1}"#)[0].id
    try storage.accept(created, #"{"_id":"\#(created)"}"#)
    #expect(try finish(mark) == 1)
    #expect(try storage.get("old") == nil)
    #expect(try storage.find().count == 3)
  }

  @Test("what is listed with the version that is here counts as stored now") func confirmsListed()
    throws
  {
    try storage.store(#"{"_id":"a","_kmd":{"lmt":"2024-03-12T21:00:00.000Z"}}"#)
    let stored = Timestamp.now()
    while Timestamp.now().milliseconds == stored.milliseconds {}
    let later = Timestamp.now()
    #expect(try storage.count(query("{}"), in: "c", writtenSince: later, within: .unlimited) == 0)
    let version = EntityVersion(id: "a", version: RecordVersion("2024-03-12T21:00:00.000Z"))
    #expect(try storage.differing([version], in: "c") == [])
    #expect(try storage.count(query("{}"), in: "c", writtenSince: later, within: .unlimited) == 1)
  }

  @Test("what was pushed while it ran survives it") func pushedMeanwhile() throws {
    try storage.save(#"{"_id":"a","n":1}"#)
    let mark = try storage.beginRefresh(of: "c")
    try storage.accept("a", #"{"_id":"a","n":1}"#)
    #expect(try finish(mark) == 0)
    #expect(try storage.get("a") != nil)
  }

  @Test("only what matches goes, and nothing without a query") func matching() throws {
    try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":2}"#)
    let mark = try storage.beginRefresh(of: "c")
    #expect(try finish(mark, deleting: nil) == 0)
    #expect(try finish(mark, deleting: #"{"_id":"none"}"#) == 0)
    #expect(try finish(mark, deleting: #"{"n":2}"#) == 1)
    #expect(try storage.find() == [#"{"_id":"a","n":1}"#])
  }

  @Test("marks hold for rows that another process writes") func processes() throws {
    let other = try openStorage(in: directory)
    try storage.store(#"{"_id":"old"}"#)
    // The other one has the collection's generation in memory now.
    try other.store(#"{"_id":"stale"}"#)
    let mark = try storage.beginRefresh(of: "c")
    try other.store(#"{"_id":"new"}"#)
    try other.save(#"{"_id":"mine"}"#)
    try other.accept("mine", nil)
    #expect(try finish(mark) == 2)
    #expect(try storage.find() == [#"{"_id":"new"}"#, #"{"_id":"mine"}"#])

    let second = try other.beginRefresh(of: "c")
    try storage.store(#"{"_id":"newest"}"#)
    #expect(try finish(second, on: other) == 2)
    #expect(try other.find() == [#"{"_id":"newest"}"#])
  }

  @Test(
    "of two processes that read at the same time, the older answer does not replace the newer one")
  func olderAnswer() throws {
    let other = try openStorage(in: directory)
    let mark = try storage.beginRefresh(of: "c")
    let now = try other.beginRefresh(of: "c")
    #expect(
      try other.store(version("a", 2), version("b", 2), version("c", 2), since: now).count == 3)
    let late = try storage.store(version("a", 1), version("b", 3), version("c", 2), since: mark)
    #expect(late.count == 2)
    #expect(late.doubtful.isEmpty)
    #expect(try storage.find() == [version("a", 2), version("b", 3), version("c", 2)])
  }

  @Test("what cannot be compared with what another process stored meanwhile is asked for again")
  func incomparable() throws {
    let other = try openStorage(in: directory)
    let mark = try storage.beginRefresh(of: "c")
    try other.store(#"{"_id":"a","n":2}"#, #"{"_id":"b"}"#)
    let late = try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b"}"#, since: mark)
    #expect(late.count == 1)
    #expect(late.doubtful == ["a"])
    let again = try storage.beginRefresh(of: "c")
    #expect(try storage.store(#"{"_id":"a","n":3}"#, since: again).count == 1)
    #expect(try storage.get("a") == #"{"_id":"a","n":3}"#)
  }

  @Test(
    "what another process deleted since a read began, the read does not bring back",
    arguments: [true, false])
  func deletedMeanwhile(isKnown: Bool) throws {
    let other = try openStorage(in: directory)
    if isKnown { try storage.store(version("a", 1)) }
    let mark = try storage.beginRefresh(of: "c")
    _ = try other.forget(["a"], in: "c")
    let late = try storage.store(version("a", 1), version("b", 1), since: mark)
    #expect(late.doubtful == ["a"])
    #expect(try storage.find() == [version("b", 1)])
    // Who asks after the deletion knows.
    #expect(try storage.store(version("a", 1), since: storage.beginRefresh(of: "c")).count == 1)
  }

  @Test("what another process stored since a read began, the read does not delete")
  func storedMeanwhile()
    throws
  {
    let other = try openStorage(in: directory)
    try storage.store(version("a", 1), version("b", 1))
    let mark = try storage.beginRefresh(of: "c")
    try other.store(version("a", 3))
    let change = try storage.forget(["a", "b", "c"], in: "c", at: nil, since: mark)
    #expect(change.count == 1)
    #expect(change.doubtful == ["a"])
    #expect(try storage.find() == [version("a", 3)])
  }

  private func version(_ id: String, _ time: Int) -> String {
    #"{"_id":"\#(id)","_kmd":{"lmt":"2026-11-23T00:00:0\#(time).000Z"}}"#
  }

  @Test("marks that overlap keep what either has seen") func overlapping() throws {
    let first = try storage.beginRefresh(of: "c")
    try storage.store(#"{"_id":"a"}"#)
    let second = try storage.beginRefresh(of: "c")
    try storage.store(#"{"_id":"b"}"#)
    #expect(try finish(first) == 0)
    #expect(try finish(second) == 1)
    #expect(try storage.find() == [#"{"_id":"b"}"#])
  }

  @Test("the first refresh of an empty collection finds nothing old, later ones do") func first()
    throws
  {
    let first = try storage.beginRefresh(of: "c")
    try storage.store(#"{"_id":"a"}"#)
    #expect(try finish(first) == 0)
    let second = try storage.beginRefresh(of: "c")
    try storage.store(#"{"_id":"b"}"#)
    #expect(try finish(second) == 1)
    _ = try storage.clear(nil, in: "c")
    let third = try storage.beginRefresh(of: "c")
    try storage.store(#"{"_id":"c"}"#)
    let fourth = try storage.beginRefresh(of: "c")
    #expect(try finish(third) == 0)
    #expect(try finish(fourth) == 1)
  }

  @Test("requests are remembered by filter and fields, until they are forgotten") func requests()
    throws
  {
    let key = RequestKey(filter: "{}", fields: "")
    let other = RequestKey(filter: "{}", fields: "name")
    #expect(try storage.lastRequest(key, in: "c") == nil)
    let mark = try storage.beginRefresh(of: "c")
    let moments = [
      (key, BackendMoment("t1")), (other, BackendMoment("t2")),
      (key, BackendMoment("t3", epoch: "e")),
    ]
    for (key, time) in moments {
      _ = try storage.finishRefresh(
        of: "c", from: mark, deletingUnseen: nil, recording: (key, time))
    }
    #expect(try storage.lastRequest(key, in: "c") == BackendMoment("t3", epoch: "e"))
    #expect(try storage.lastRequest(other, in: "c") == BackendMoment("t2"))
    #expect(try storage.lastRequest(key, in: "d") == nil)
    try storage.forgetRequest(key, in: "c")
    #expect(try storage.lastRequest(key, in: "c") == nil)
    try storage.forgetRequest(nil, in: "c")
    #expect(try storage.lastRequest(other, in: "c") == nil)
  }
}
