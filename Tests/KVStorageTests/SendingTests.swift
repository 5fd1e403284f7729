import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Sending") struct SendingTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws { storage = try openStorage(in: directory) }

  /// Marks the write of an entity as sent.
  private func send(_ id: String) throws -> PendingWrite {
    let write = try #require(try storage.write(id))
    return try #require(try storage.beginSending([write]).first?.write)
  }

  private func confirm(_ write: PendingWrite, _ stored: String?) throws {
    try storage.confirm([AcceptedWrite(write, stored: stored.map { Array($0.utf8) })])
  }

  @Test("counts attempts before sending and gives the entity of that moment") func begins() throws {
    try storage.save(#"{"_id":"a","n":1}"#)
    try storage.store(#"{"_id":"b"}"#)
    _ = try storage.remove("b", in: "c")
    let sent = try storage.beginSending(storage.queue())
    #expect(sent.map { $0.body.map { String($0) } } == [#"{"_id":"a","n":1}"#, nil])
    #expect(sent.map(\.write.attempts) == [1, 1])
    #expect(try storage.queue() == sent.map(\.write))
  }

  @Test("leaves out what was changed or is gone") func stale() throws {
    try storage.save(#"{"_id":"a"}"#, #"{"_id":"b"}"#)
    let writes = try storage.queue()
    try storage.save(#"{"_id":"a","n":2}"#)
    #expect(try storage.dropPending("b", in: "c"))
    #expect(try storage.beginSending(writes).isEmpty)
    #expect(try storage.write("a")?.attempts == 0)
  }

  @Test("a success takes the row and puts the backend's entity in place") func success() throws {
    try storage.save(#"{"_id":"a","n":1}"#)
    try confirm(send("a"), #"{"_id":"a","n":1,"_kmd":{}}"#)
    #expect(try storage.get("a") == #"{"_id":"a","n":1,"_kmd":{}}"#)
    #expect(try storage.queue().isEmpty)
  }

  @Test("a confirmed deletion is forgotten, and the entity may come back") func deletion() throws {
    try storage.store(#"{"_id":"a"}"#)
    _ = try storage.remove("a", in: "c")
    try confirm(send("a"), nil)
    #expect(try storage.queue().isEmpty)
    #expect(try storage.get("a") == nil)
    #expect(try storage.store(#"{"_id":"a"}"#) == 1)
  }

  @Test("a save made in the meantime survives, a create as an update") func changedMeanwhile()
    throws
  {
    let id = try storage.save(#"{"n":1}"#)[0].id
    let write = try send(id)
    try storage.save(#"{"_id":"\#(id)","n":2}"#)
    try confirm(write, #"{"_id":"\#(id)","n":1,"_kmd":{}}"#)
    let after = try #require(try storage.write(id))
    #expect(after.operation == .update)
    #expect(after.revision != write.revision)
    #expect(try storage.get(id) == #"{"_id":"\#(id)","n":2}"#)
    #expect(try storage.base(id) == #"{"_id":"\#(id)","n":1,"_kmd":{}}"#)
  }

  @Test("a create deleted in flight is deleted at the backend too") func deletedMeanwhile() throws {
    let id = try storage.save(#"{"n":1}"#)[0].id
    let write = try send(id)
    _ = try storage.remove(id, in: "c")
    #expect(try storage.write(id)?.operation == .delete)
    try confirm(write, #"{"_id":"\#(id)","n":1}"#)
    #expect(try storage.write(id)?.operation == .delete)
    #expect(try storage.get(id) == nil)
    #expect(try storage.base(id) == #"{"_id":"\#(id)","n":1}"#)
  }

  @Test("an entity saved again while its deletion was in flight stays an update without a base")
  func savedMeanwhile() throws {
    try storage.store(#"{"_id":"a","n":1}"#)
    _ = try storage.remove("a", in: "c")
    let write = try send("a")
    try storage.save(#"{"_id":"a","n":2}"#)
    try confirm(write, nil)
    #expect(try storage.write("a")?.operation == .update)
    #expect(try storage.base("a") == nil)
    #expect(try storage.get("a") == #"{"_id":"a","n":2}"#)
  }

  @Test("a create confirmed after its row was dropped takes the backend's entity") func dropped()
    throws
  {
    let id = try storage.save(#"{"n":1}"#)[0].id
    let write = try send(id)
    _ = try storage.purge(nil, in: "c")
    try confirm(write, #"{"_id":"\#(id)","n":1,"_kmd":{}}"#)
    #expect(try storage.get(id) == #"{"_id":"\#(id)","n":1,"_kmd":{}}"#)
    #expect(try storage.queue().isEmpty)
  }

  @Test("what was cleared meanwhile is not brought back") func cleared() throws {
    try storage.save(#"{"_id":"a"}"#)
    let write = try send("a")
    _ = try storage.clear(nil, in: "c")
    try confirm(write, #"{"_id":"a"}"#)
    #expect(try storage.find().isEmpty)
  }

  @Test("a late answer does not undo what a later one has stored") func late() throws {
    func entity(_ second: Int) -> String {
      #"{"_id":"a","_kmd":{"lmt":"2026-01-01T00:00:0\#(second).000Z"}}"#
    }
    try storage.save(#"{"_id":"a","n":1}"#)
    let first = try send("a")
    try storage.save(#"{"_id":"a","n":2}"#)
    try confirm(send("a"), entity(5))
    try confirm(first, entity(4))
    #expect(try storage.get("a") == entity(5))
    try confirm(first, entity(6))
    #expect(try storage.get("a") == entity(6))
  }

  @Test("a failure is kept with the row, unless the entity was changed") func failure() throws {
    try storage.save(#"{"_id":"a"}"#)
    let write = try send("a")
    try storage.recordFailure([(write, StoreError(.forbidden, "No."))])
    let error = try #require(try storage.write("a")?.lastError)
    #expect(error.contains(#""message":"No.""#))
    #expect(error.contains("KV_FORBIDDEN"))
    try storage.save(#"{"_id":"a","n":2}"#)
    try storage.recordFailure([(write, StoreError(.forbidden, "Again."))])
    #expect(try storage.write("a")?.lastError == error)
  }

  @Test("a create that exists already becomes an update") func turns() throws {
    let id = try storage.save("{}")[0].id
    try storage.turnIntoUpdate(id, in: "c")
    #expect(try storage.write(id)?.operation == .update)
    _ = try storage.remove(id, in: "c")
    try storage.turnIntoUpdate(id, in: "c")
    #expect(try storage.write(id)?.operation == .delete)
  }
}
