internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

@Suite("The journal of live messages") struct LiveJournalTests {
  private let directory = TemporaryDirectory()
  private let database: Database
  private let notes = EntityCollection(
    number: 1, CollectionKey(app: 1, name: "notes"), state: .init(permissions: Permissions()))

  init() throws { database = try testDatabase(in: directory) }

  /// One run of a server: a broker with what the journal has, and an outbox that writes to it.
  private struct Run {
    let broker: LiveBroker
    let outbox: CommitOrderedQueue
  }

  private func run(epoch: String = "e", listening: Bool = true) throws -> Run {
    let journal = LiveJournal(database, epoch: epoch)
    // Another epoch is another region, as in the server.
    let region: Int64 = epoch == "e" ? 7 : 8
    let broker = LiveBroker(
      LiveWire(app: "kid", region: region), try journal.history(of: 1, at: .now()))
    if listening {
      broker.members { members in
        let group = broker.wire.group(of: "ana")
        members.register(group, device: "d")
        for topic in ["notes", "_s-chat.u-bob"] {
          _ = members.subscribe(group, device: "d", collection: topic)
        }
      }
    }
    return Run(broker: broker, outbox: testOutbox([1: broker], journal))
  }

  private func write(
    _ run: Run, _ changes: LiveChanges, failing error: SQLiteError? = nil
  ) throws(SQLiteError) {
    try run.outbox.announcing { (begin) throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        try run.outbox.prepare(
          .changes(changes), for: "notes", of: 1, as: begin(), on: connection)
        if let error { throw error }
      }
    }
  }

  private func changes(_ ids: String...) -> LiveChanges {
    var changes = LiveChanges(rule: notes.permissions.read)
    for id in ids {
      let body = Array(#"{"_id":"\#(id)","_acl":{"creator":"ana"}}"#.utf8)
      changes.add(id, .create(body: body), acl: ACL(of: body))
    }
    return changes
  }

  private func poll(_ run: Run, _ since: LivePosition?) -> KeptReply {
    let reply = KeptReply()
    run.broker.poll(
      .init(
        user: "ana", group: run.broker.wire.group(of: "ana"), token: "t", expires: nil,
        since: since), reply: reply)
    return reply
  }

  private func isIncomplete(_ reply: KeptReply) -> Bool {
    reply.json["kvstore"]?["incomplete"]?.boolValue == true
  }

  private func rows() throws -> Int64? {
    try database.read { (connection: borrowing Connection) throws(SQLiteError) in
      try connection.integer("SELECT count(*) FROM live_message")
    }
  }

  @Test("A position of an earlier run is known, and what came after it is delivered")
  func restart() throws {
    let first = try run()
    let start = poll(first, nil).position
    try write(first, changes("a", "b"))
    let middle = poll(first, start).position
    try write(first, changes("c"))
    let second = try run()
    #expect(poll(second, start).ids == ["a", "b", "c"])
    #expect(poll(second, middle).ids == ["c"])
    let here = poll(second, nil).position
    try write(second, changes("d"))
    #expect(poll(second, middle).ids == ["c", "d"])
    #expect(poll(second, here).ids == ["d"])
  }

  @Test("What did not commit is neither told nor kept")
  func rollback() throws {
    let first = try run()
    let start = poll(first, nil).position
    #expect(throws: SQLiteError.self) {
      try write(first, changes("a"), failing: SQLiteError(.io, "no disk"))
    }
    try write(first, changes("b"))
    #expect(poll(first, start).ids == ["b"])
    #expect(poll(try run(), start).ids == ["b"])
  }

  @Test("While nobody listens nothing is kept")
  func silence() throws {
    try write(try run(listening: false), changes("a"))
    #expect(try rows() == 0)
  }

  @Test("A transaction with more than can be told ends what is known, for later runs as well")
  func cut() throws {
    let first = try run()
    let start = poll(first, nil).position
    try write(first, changes("a"))
    var many = LiveChanges(rule: notes.permissions.read)
    for number in 0...LiveChanges.maxCount {
      many.add("\(number)", .delete(at: Timestamp(milliseconds: 1)), acl: ACL())
    }
    try write(first, many)
    let later = poll(first, nil).position
    try write(first, changes("b"))
    let second = try run()
    #expect(isIncomplete(poll(second, start)))
    #expect(poll(second, later).ids == ["b"])
  }

  @Test("Of other data nothing is known")
  func epoch() throws {
    let first = try run()
    let start = poll(first, nil).position
    try write(first, changes("a"))
    let second = try run(epoch: "other")
    #expect(isIncomplete(poll(second, start)))
    #expect(try rows() == 0)
  }

  @Test("It keeps what the history keeps")
  func bounds() throws {
    let first = try run()
    let start = poll(first, nil).position
    for _ in 0..<3 {
      var many = LiveChanges(rule: notes.permissions.read)
      for number in 0..<4_000 {
        many.add("\(number)", .delete(at: Timestamp(milliseconds: 1)), acl: ACL())
      }
      try write(first, many)
    }
    #expect(try rows() == 12_000)
    // A run that begins before it was forgotten reads no more than a history keeps.
    #expect(isIncomplete(poll(try run(), start)))
    let floor = try #require(first.broker.popForgottenFloor())
    try LiveJournal(database, epoch: "e").forget(1, until: floor)
    #expect(try rows() == Int64(LiveHistory.maxMessages))
    #expect(first.broker.popForgottenFloor() == nil)
    #expect(isIncomplete(poll(try run(), start)))
  }

  @Test("What a message is about comes back: whose it is, who may read it, whether it is a notice")
  func about() throws {
    var acl = ACL()
    (acl.creator, acl.readers) = ("bob", ["ana"])
    for about in [
      LiveMessage.About(audience: Audience(.acl, acl), isNotice: true, from: .change("delete")),
      LiveMessage.About(audience: Audience(.shared, ACL()), isNotice: false, from: .user("bob")),
    ] {
      let again = try #require(LiveMessage.About(about.text))
      #expect(again.text == about.text)
      for user in ["ana", "bob", "eve"] {
        #expect(again.audience.contains(user) == about.audience.contains(user))
      }
    }
    for text in ["", "{}", #"{"audience":{"rule":"x","acl":{}},"user":"a"}"#] {
      #expect(LiveMessage.About(text) == nil)
    }
  }
}
