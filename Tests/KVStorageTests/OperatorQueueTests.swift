import KVBase
import KVJSON
import KVQuery
import KVSQLite
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Queued operators") struct OperatorQueueTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws {
    storage = try openStorage(in: directory)
    try storage.store(entity(1, at: 1))
  }

  private func entity(_ n: Int, at second: Int, more: String = "") -> String {
    #"{"_id":"a","n":\#(n)\#(more),"_kmd":{"lmt":"2026-01-01T00:00:0\#(second).000Z"}}"#
  }

  private func update(_ text: String, in storage: Storage? = nil) throws {
    let result = try (storage ?? self.storage).update(
      query(#"{"_id":"a"}"#), EntityUpdate(text), isConditional: false, in: "c", writtenSince: nil)
    #expect(result.modified == ["a"])
  }

  private func increment(by n: Int = 1) throws { try update("{\"$inc\":{\"n\":\(n)}}") }

  private func send(asOperators: Bool = true, in storage: Storage? = nil) throws -> OutgoingWrite {
    let storage = storage ?? self.storage
    let write = try #require(try storage.write("a"))
    return try #require(try storage.beginSending([write], asOperators: asOperators).first)
  }

  private func confirm(_ sent: OutgoingWrite, _ stored: String) throws {
    var accepted = AcceptedWrite(sent.write, stored: Array(stored.utf8))
    accepted.operatorsToken = sent.operators?.token
    try storage.confirm([accepted])
  }

  private func number() throws -> Int64? {
    try storage.get("a").flatMap { try JSONValue(parsing: $0)["n"]?.intValue }
  }

  @Test("are kept with their write, over a restart") func kept() throws {
    try increment()
    try increment(by: 2)
    try update(#"{"$push":{"l":1}}"#)
    #expect(try storage.write("a")?.hasOperators == true)
    storage.close()
    let again = try openStorage(in: directory)
    let sent = try send(in: again)
    #expect(sent.operators?.updates == #"[{"$inc":{"n":3},"$push":{"l":1}}]"#)
    #expect(sent.operators?.hasMore == false)
    #expect(sent.body.map { String($0) }?.contains(#""n":4"#) == true)
  }

  @Test("are sent as they were until they are answered") func frozen() throws {
    try increment()
    let first = try send()
    try increment(by: 5)
    let second = try send()
    #expect(second.operators?.updates == first.operators?.updates)
    #expect(second.operators?.token == first.operators?.token)
    #expect(second.operators?.hasMore == true)
    #expect(try number() == 7)
    try confirm(second, entity(12, at: 2))
    #expect(try number() == 17)
    #expect(try storage.base("a") == entity(12, at: 2))
    let third = try send()
    #expect(third.operators?.updates == #"[{"$inc":{"n":5}}]"#)
    #expect(third.operators?.token != first.operators?.token)
    try confirm(third, entity(17, at: 3))
    #expect(try number() == 17)
    #expect(try storage.queue().isEmpty)
  }

  @Test("an answer to an earlier request leaves what came since") func late() throws {
    try increment()
    let first = try send()
    try increment(by: 5)
    try confirm(first, entity(2, at: 2))
    #expect(try number() == 7)
    #expect(try send().operators?.updates == #"[{"$inc":{"n":5}}]"#)
    // It comes once more.
    try confirm(first, entity(2, at: 2))
    #expect(try storage.queue().count == 1)
  }

  @Test("become a whole write by a save") func saved() throws {
    try increment()
    try storage.save(#"{"_id":"a","n":100}"#)
    #expect(try storage.write("a")?.hasOperators == false)
    #expect(try send().operators == nil)
    #expect(try storage.base("a") == entity(1, at: 1))
    // And stay one.
    try increment()
    #expect(try send().operators == nil)
    #expect(try number() == 101)
  }

  @Test("that were sent are answered before a save that came since") func savedAfterSending() throws
  {
    try increment()
    let first = try send()
    try storage.save(#"{"_id":"a","n":100}"#)
    let again = try send()
    #expect(again.operators?.token == first.operators?.token)
    #expect(again.operators?.hasMore == true)
    try confirm(again, entity(9, at: 2))
    #expect(try number() == 100)
    #expect(try storage.base("a") == entity(1, at: 1))
    #expect(try send().operators == nil)
  }

  @Test("are no operators of a deletion, or of an edit") func removed() throws {
    try increment()
    _ = try send()
    #expect(try storage.edit(#"{"n":5}"#, "a"))
    #expect(try send().operators?.hasMore == true)
    _ = try storage.remove("a", in: "c")
    #expect(try storage.write("a")?.hasOperators == false)
    #expect(try send().body == nil)
  }

  @Test("of a backend that carries out none are sent as what they make") func whole() throws {
    try increment()
    let sent = try send(asOperators: false)
    #expect(sent.operators?.form == .entity(isFirst: true))
    try increment()
    // The first request may have been carried out.
    let again = try send(asOperators: false)
    #expect(again.operators?.form == .entity(isFirst: false))
    #expect(again.operators?.updates == #"[{"$inc":{"n":2}}]"#)
    #expect(try number() == 3)
    try confirm(again, entity(3, at: 2))
    #expect(try storage.queue().isEmpty)
  }

  @Test("that were sent as an entity are not carried out later") func wholeBefore() throws {
    try increment()
    _ = try send(asOperators: false)
    #expect(try send().operators == nil)
    #expect(try storage.write("a")?.hasOperators == false)
  }

  @Test("are carried out anew on what they have met") func met() throws {
    try increment()
    let sent = try send(asOperators: false)
    let theirs = entity(7, at: 2)
    let ours = Array(entity(8, at: 2).utf8)
    #expect(
      try storage.rebase(
        sent.write, onto: .entity(Array(theirs.utf8)), as: .operated(ours), replacesUnseen: false))
    #expect(try number() == 8)
    #expect(try storage.base("a") == theirs)
    #expect(try send(asOperators: false).operators?.form == .entity(isFirst: true))
  }

  @Test("of a new entity are part of its creation") func created() throws {
    let id = try storage.save(#"{"n":1}"#)[0].id
    _ = try storage.update(
      query(#"{"_id":"\#(id)"}"#), EntityUpdate(#"{"$inc":{"n":1}}"#), isConditional: false,
      in: "c", writtenSince: nil)
    let write = try #require(try storage.write(id))
    #expect(write.operation == .create && !write.hasOperators)
  }

  @Test("on a condition are whole writes, and so is what overwrites") func conditional() throws {
    _ = try storage.update(
      query(#"{"_id":"a"}"#), EntityUpdate(#"{"$inc":{"n":1}}"#), isConditional: true, in: "c",
      writtenSince: nil)
    #expect(try storage.write("a")?.hasOperators == false)
    try storage.store(#"{"_id":"b","n":1}"#)
    _ = try storage.update(
      query(#"{"_id":"b"}"#), EntityUpdate(#"{"$set":{"n":7}}"#), isConditional: false, in: "c",
      writtenSince: nil)
    #expect(try storage.write("b")?.hasOperators == false)
  }

  @Test("too many are a whole write") func bounded() throws {
    for _ in 0...EntityUpdates.maxCount { try update(#"{"$mul":{"n":-1}}"#) }
    #expect(try storage.write("a")?.hasOperators == false)
    #expect(try number() == -1)
  }

  @Test("are carried out on what a read shows") func rebased() throws {
    try increment()
    try storage.store(entity(40, at: 3, more: #","x":1"#))
    #expect(try number() == 41)
    #expect(try storage.base("a") == entity(40, at: 3, more: #","x":1"#))
    // Not on an older version.
    try storage.store(entity(7, at: 2))
    #expect(try number() == 41)
    // What does not fit stays as it is.
    try storage.store(#"{"_id":"a","n":"x","_kmd":{"lmt":"2026-01-01T00:00:05.000Z"}}"#)
    #expect(try number() == 41)
    #expect(try send().operators?.updates == #"[{"$inc":{"n":1}}]"#)
  }

  @Test("that were sent are not carried out on what a read shows: it may have them")
  func unanswered()
    throws
  {
    try increment()
    _ = try send()
    try storage.store(entity(2, at: 3))
    #expect(try number() == 2)
  }

  @Test("a transaction keeps them, too") func transaction() throws {
    let transaction = try storage.beginTransaction()
    for n in 1...3 {
      _ = try transaction.update(
        query(#"{"_id":"a"}"#), EntityUpdate("{\"$inc\":{\"n\":\(n)}}"), in: "c")
    }
    try transaction.commit()
    #expect(try number() == 7)
    #expect(try send().operators?.updates == #"[{"$inc":{"n":6}}]"#)
  }

  @Test("stay through a refusal") func refused() throws {
    try increment()
    let sent = try send()
    try storage.quarantine([
      QuarantinedWrite(write: sent.write, error: StoreError(.invalid, "No."), theirs: nil)
    ])
    #expect(try storage.releasePending("a", in: "c"))
    #expect(try send().operators == sent.operators)
  }

  @Test("of data that the backend has lost are a whole write") func lost() throws {
    try storage.note(BackendData(epoch: "1", restored: nil), in: "c")
    try increment()
    let sent = try send()
    try storage.note(BackendData(epoch: "2", restored: nil), in: "c")
    try confirm(sent, entity(1, at: 0))
    #expect(try number() == 2)
    #expect(try storage.write("a")?.hasOperators == false)
    #expect(try storage.base("a") == entity(1, at: 1))
  }

  @Test("whose token the backend may have forgotten are a whole write") func expired() throws {
    try increment()
    _ = try send()
    storage.close()
    try tamper(
      "UPDATE pending SET sent_operators = json_set(sent_operators, '$.at', 1)", in: directory)
    let again = try openStorage(in: directory)
    #expect(try send(in: again).operators == nil)
  }

  @Test("that a backup has, too, have one token") func copied() throws {
    try increment()
    let target = TemporaryDirectory()
    let copies = DataDirectory(root: target.path, appKey: "kid_test")
    _ = try DataDirectory(root: directory.path, appKey: "kid_test")
      .backUp(into: copies, within: .unlimited)
    try increment(by: 5)
    let copy = try openStorage(in: target)
    try update(#"{"$inc":{"n":20}}"#, in: copy)
    let (ours, theirs) = (try send(), try send(in: copy))
    #expect(ours.operators?.updates == #"[{"$inc":{"n":1}}]"#)
    #expect(ours.operators?.token == theirs.operators?.token)
    #expect(ours.operators?.updates == theirs.operators?.updates)
    #expect(ours.operators?.hasMore == true && theirs.operators?.hasMore == true)
  }

  @Test("a queue of an earlier version has none") func upgrade() throws {
    let path = directory.file("old.kvs")
    let old = try Database(
      StorageSchema.configuration(path), migrations: Array(StorageMigrations.all.dropLast()))
    try old.write { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute(
        """
        INSERT INTO collections (number, name) VALUES (1, 'c');
        CREATE TABLE e1 (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL,
          at INTEGER NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL, checksum INTEGER);
        INSERT INTO e1 (id, gen, at, version, body) VALUES ('a', 1, 1, 1, '{"_id":"a","n":2}');
        INSERT INTO pending (collection, id, operation, revision, created, changed, base)
        VALUES (1, 'a', 2, 5, 1, 1, '{"_id":"a","n":1}');
        """)
    }
    old.close()
    let new = try Storage(path: path, durability: .normal)
    try update(#"{"$inc":{"n":1}}"#, in: new)
    let sent = try send(in: new)
    #expect(sent.operators == nil)
    #expect(sent.body.map { String($0) } == #"{"_id":"a","n":3}"#)
  }
}
