import KVSQLite
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Quarantine") struct QuarantineTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws { storage = try openStorage(in: directory) }

  private func send(_ id: String) throws -> PendingWrite {
    let write = try #require(try storage.write(id))
    return try #require(try storage.beginSending([write]).first?.write)
  }

  private func setAside(_ id: String, theirs: RemoteVersion? = nil) throws {
    let kind: StoreError.Kind = theirs == nil ? .invalid : .conflict
    try storage.quarantine([
      QuarantinedWrite(write: send(id), error: StoreError(kind, "No."), theirs: theirs)
    ])
  }

  private func theirs(_ text: String) -> RemoteVersion { .entity(Array(text.utf8)) }

  @Test("keeps a write with its error, and does not list it among those that wait") func kept()
    throws
  {
    try storage.save(#"{"_id":"a"}"#, #"{"_id":"b"}"#)
    try setAside("a")
    #expect(try storage.write("a")?.state == .refused)
    #expect(try storage.write("a")?.lastError?.contains("No.") == true)
    let waiting = try storage.pending(in: "c", after: 0, limit: 10, onlyWaiting: true)
    #expect(waiting.map(\.id) == ["b"])
    #expect(try storage.waitingCount(in: "c") == 1)
    #expect(try storage.pendingCount(in: "c") == 2)
    #expect(throws: StoreError.self) { try storage.wipe(discardingPending: false) }
  }

  @Test("is not for a write that was changed since it was sent") func changed() throws {
    try storage.save(#"{"_id":"a","n":1}"#)
    let sent = try send("a")
    try storage.save(#"{"_id":"a","n":2}"#)
    try storage.quarantine([
      QuarantinedWrite(write: sent, error: StoreError(.invalid, "No."), theirs: nil)
    ])
    #expect(try storage.write("a")?.state == .waiting)
  }

  @Test("ends when the entity is changed or deleted again") func savedAgain() throws {
    try storage.store(#"{"_id":"a","n":1}"#)
    try storage.save(#"{"_id":"a","n":2}"#)
    try setAside("a", theirs: theirs(#"{"_id":"a","n":3}"#))
    try storage.save(#"{"_id":"a","n":4}"#)
    #expect(try storage.write("a")?.state == .waiting)
    #expect(try storage.base("a") == #"{"_id":"a","n":1}"#)
    try setAside("a", theirs: theirs(#"{"_id":"a","n":3}"#))
    _ = try storage.remove("a", in: "c")
    #expect(try storage.write("a")?.state == .waiting)
    #expect(try storage.write("a")?.operation == .delete)
  }

  @Test("a read notes what is there and leaves the entity alone") func notes() throws {
    try storage.save(#"{"_id":"a","n":1}"#)
    try setAside("a")
    #expect(try storage.pending("a", in: "c")?.theirs == nil)
    try storage.store(#"{"_id":"a","n":5}"#)
    #expect(try storage.pending("a", in: "c")?.theirs == theirs(#"{"_id":"a","n":5}"#))
    #expect(try storage.get("a") == #"{"_id":"a","n":1}"#)
    _ = try storage.forget(["a"], in: "c")
    #expect(try storage.pending("a", in: "c")?.theirs == .gone)
    #expect(try storage.get("a") == #"{"_id":"a","n":1}"#)
  }

  @Test("a revert gives what is noted, else the base, else nothing") func reverts() throws {
    try storage.store(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":1}"#, #"{"_id":"c","n":1}"#)
    try storage.save(
      #"{"_id":"a","n":2}"#, #"{"_id":"b","n":2}"#, #"{"_id":"c","n":2}"#, #"{"_id":"d"}"#)
    try setAside("a", theirs: theirs(#"{"_id":"a","n":3}"#))
    try setAside("c", theirs: .gone)
    for id in ["a", "b", "c", "d"] { #expect(try storage.revertPending(id, in: "c")) }
    #expect(try storage.find().sorted() == [#"{"_id":"a","n":3}"#, #"{"_id":"b","n":1}"#])
    #expect(try storage.queue().isEmpty)
    #expect(try !storage.revertPending("a", in: "c"))
  }

  @Test("theirs are taken, unless ours was changed since: then they are its base") func takes()
    throws
  {
    try storage.save(#"{"_id":"a","n":1}"#, #"{"_id":"b","n":1}"#, #"{"_id":"c","n":1}"#)
    let sent = try ["a", "b", "c"].map { try send($0) }
    try storage.save(#"{"_id":"b","n":2}"#)
    try storage.acceptRemote([
      (sent[0], theirs(#"{"_id":"a","n":9}"#)), (sent[1], theirs(#"{"_id":"b","n":9}"#)),
      (sent[2], .gone),
    ])
    #expect(try storage.find().sorted() == [#"{"_id":"a","n":9}"#, #"{"_id":"b","n":2}"#])
    #expect(try storage.queue().map(\.id) == ["b"])
    #expect(try storage.base("b") == #"{"_id":"b","n":9}"#)
  }

  @Test("what was sent and changed before its answer came is remembered until an answer comes")
  func tried() throws {
    try storage.store(#"{"_id":"a","n":1}"#)
    for n in 2...4 {
      try storage.save(#"{"_id":"a","n":\#(n)}"#)
      if n < 4 { _ = try send("a") }
    }
    #expect(
      try storage.pending("a", in: "c")?.tried == [
        theirs(#"{"_id":"a","n":2}"#), theirs(#"{"_id":"a","n":3}"#),
      ])
    let sent = try send("a")
    _ = try storage.remove("a", in: "c")
    #expect(try storage.pending("a", in: "c")?.tried.count == 3)
    _ = try send("a")
    try storage.save(#"{"_id":"a","n":5}"#)
    #expect(try storage.pending("a", in: "c")?.tried.last == .gone)
    try storage.confirm([AcceptedWrite(sent, stored: Array(#"{"_id":"a","n":4}"#.utf8))])
    #expect(try storage.pending("a", in: "c")?.tried == [])
  }

  @Test("a new schema loses no unsent write") func migration() throws {
    storage.close()
    let path = directory.file("old.kvs")
    let old = try Database(
      StorageSchema.configuration(path),
      migrations: Array(StorageMigrations.all.prefix(1)))
    try old.write(durably: true) { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute(
        """
        INSERT INTO collections (number, name) VALUES (1, 'c');
        CREATE TABLE e1 (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL,
          at INTEGER NOT NULL, body TEXT NOT NULL);
        INSERT INTO e1 VALUES (1, 'a', 1, 0, '{"_id":"a","n":2}');
        INSERT INTO pending (collection, id, operation, revision, created, changed, base) VALUES
          (1, 'a', 2, 77, 1, 2, '{"_id":"a","n":1}'), (1, 'b', 3, 78, 3, 4, '{"_id":"b"}');
        """)
    }
    old.close()
    let new = try Storage(path: path)
    #expect(try new.queue().map(\.id) == ["a", "b"])
    #expect(try new.queue().map(\.operation) == [.update, .delete])
    #expect(try new.queue().allSatisfy { $0.state == .waiting })
    #expect(try new.base("a") == #"{"_id":"a","n":1}"#)
    #expect(try new.get("a") == #"{"_id":"a","n":2}"#)
    #expect(try new.beginSending(new.queue()).count == 2)
  }
}
