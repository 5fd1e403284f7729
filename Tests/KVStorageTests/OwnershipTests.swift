import KVBase
import KVQuery
import KVSQLite
import KVSync
import KVTestSupport
import Testing

@testable import KVStorage

@Suite("Ownership") struct OwnershipTests {
  private static let (ana, bob) = (RecordID("ana"), RecordID("bob"))

  let directory = TemporaryDirectory()

  private func open(for user: RecordID?) throws -> Storage {
    let storage = try openStorage(in: directory)
    try storage.claim(for: user, .deleting, former: nil)
    return storage
  }

  private func refusal(_ body: () throws -> Void) -> StoreError.Kind? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.kind
    }
  }

  // MARK: Claims

  @Test("the first one to claim it has it, and finds it as it is") func first() throws {
    let storage = try open(for: nil)
    try storage.save(#"{"_id":"1"}"#)
    #expect(try storage.owner(former: nil) == nil)
    try storage.claim(for: Self.ana, .deleting, former: nil)
    #expect(try storage.owner(former: nil) == Self.ana)
    #expect(try storage.find().count == 1)
    storage.close()
    #expect(try open(for: nil).owner(former: nil) == Self.ana)
    #expect(try open(for: Self.ana).queue().count == 1)
  }

  @Test("nobody takes what has not been sent") func unsent() throws {
    let storage = try open(for: Self.ana)
    try storage.save(#"{"_id":"1"}"#)
    for takeover in [Storage.Takeover.deleting, .sharing] {
      #expect(refusal { try storage.claim(for: Self.bob, takeover, former: nil) } == .pending)
      #expect(try storage.owner(former: nil) == Self.ana)
      #expect(try storage.find().count == 1)
    }
    try storage.accept("1", #"{"_id":"1"}"#)
    try storage.claim(for: Self.bob, .sharing, former: nil)
    #expect(try storage.find().count == 1)
    try storage.claim(for: Self.ana, .deleting, former: nil)
    #expect(try storage.find().isEmpty)
  }

  @Test("what was wiped is nobody's") func wiped() throws {
    let storage = try open(for: Self.ana)
    try storage.save(#"{"_id":"1"}"#)
    try storage.wipe()
    #expect(try storage.owner(former: nil) == nil)
    try storage.save(#"{"_id":"2"}"#)
    try storage.claim(for: Self.bob, .deleting, former: nil)
    #expect(try storage.queue().map(\.id) == ["2"])
  }

  @Test(
    "what is still written for a user whose data another client has wiped is not the next one's")
  func wipedByAnother() throws {
    let first = try open(for: Self.ana)
    try first.store(#"{"_id":"1"}"#)
    let second = try open(for: Self.ana)
    try second.wipe()
    #expect(refusal { try first.store(#"{"_id":"2"}"#) } == .noUser)
    #expect(refusal { try first.save(#"{"_id":"3"}"#) } == .noUser)
    #expect(refusal { _ = try first.find() } == .noUser)
    try second.claim(for: Self.bob, .deleting, former: nil)
    #expect(try second.find().isEmpty)
    #expect(refusal { try first.save(#"{"_id":"3"}"#) } == .noUser)
    try first.claim(for: Self.bob, .deleting, former: nil)
    try first.save(#"{"_id":"4"}"#)
  }

  @Test("what was wiped is in no file any more", arguments: [true, false]) func erased(
    byLogin: Bool
  ) throws {
    let storage = try open(for: Self.ana)
    let text = "a secret of ana"
    try storage.store((0..<500).map { #"{"_id":"\#($0)","text":"\#(text)"}"# })
    try storage.store(#"{"_id":"1","text":"\#(text), changed"}"#)
    if byLogin {
      try storage.claim(for: Self.bob, .deleting, former: nil)
    } else {
      try storage.wipe()
    }
    let files = DataDirectory(root: directory.path, appKey: "kid_test").path
    for name in names(in: files) {
      let bytes = try #require(contents(of: "\(files)/\(name)"))
      let isThere = bytes.indices.contains { bytes[$0...].starts(with: text.utf8) }
      #expect(!isThere, "\(name)")
    }
  }

  @Test("two users whose ids only look the same are two") func lookalikes() throws {
    let storage = try open(for: RecordID("\u{E9}"))
    try storage.store(#"{"_id":"1"}"#)
    try storage.claim(for: RecordID("e\u{301}"), .deleting, former: nil)
    #expect(try storage.find().isEmpty)
  }

  // MARK: Others

  @Test("whoever has it open for another user notices, whatever he does next") func noticed() throws
  {
    let uses: [@Sendable (Storage) throws -> Void] = [
      { _ = try $0.get("1") }, { _ = try $0.find() },
      { _ = try $0.find("{}", #"{"sort":{"n":1},"limit":1}"#) }, { _ = try $0.find(in: "other") },
      { _ = try $0.count(Query(), in: "c", writtenSince: nil) },
      { _ = try $0.pendingCount(in: nil) }, { _ = try $0.indexes(in: "c") },
      { try $0.save(#"{"_id":"3"}"#) }, { try $0.store(#"{"_id":"3"}"#) },
      { _ = try $0.remove("2", in: "c") }, { try $0.wipe() },
      { try $0.createIndex(#"{"n":1}"#) },
      { _ = try $0.observe(Query(), in: "c") {} },
    ]
    for (index, use) in uses.enumerated() {
      let first = try open(for: Self.ana)
      try first.store(#"{"_id":"1","n":1}"#)
      #expect(try first.find().count == 1)
      let observed = try first.observe(Query(), in: "c") {}
      _ = try observed.changes()
      let cursor = try first.find(Query(), in: "c", writtenSince: nil)

      let second = try open(for: Self.bob)
      try second.store(#"{"_id":"2","n":2}"#)
      #expect(refusal { try use(first) } == .noUser, "use \(index)")
      #expect(refusal { _ = try observed.changes() } == .noUser)
      #expect(try drain(cursor) == [#"{"_id":"1","n":1}"#], "begun before")
      #expect(try second.find() == [#"{"_id":"2","n":2}"#])

      try first.claim(for: Self.ana, .deleting, former: nil)
      #expect(try first.find().isEmpty)
      #expect(refusal { _ = try second.get("2") } == .noUser)
      observed.end()
      try first.claim(for: Self.bob, .deleting, former: nil)
      first.close()
      second.close()
    }
  }

  @Test("what was nobody's may become anybody's once") func joined() throws {
    let first = try open(for: nil)
    try first.save(#"{"_id":"1"}"#)
    let second = try open(for: Self.ana)
    #expect(try first.find().count == 1)
    try second.wipe()
    #expect(refusal { _ = try first.find() } == .noUser)
    let third = try open(for: Self.bob)
    #expect(refusal { _ = try first.find() } == .noUser)
    withExtendedLifetime(third) {}
  }

  // MARK: Older files

  @Test("the data of an older version is that of the user who was logged in") func older() throws {
    let path = directory.file("data.kvs")
    let old = try Database(
      StorageSchema.configuration(path),
      migrations: Array(StorageMigrations.all.prefix(4)))
    try old.write { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute(
        """
        INSERT INTO collections (name) VALUES ('c');
        CREATE TABLE e1 (
          n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL,
          at INTEGER NOT NULL, body TEXT NOT NULL);
        INSERT INTO e1 (id, gen, at, body) VALUES ('1', 1, 0, '{"_id":"1"}');
        """)
    }
    old.close()
    let storage = try Storage(path: path)
    #expect(try storage.owner(former: Self.ana) == Self.ana)
    #expect(try storage.owner(former: nil) == nil, "nobody was: it is the first one's")
    try storage.claim(for: nil, .deleting, former: Self.ana)
    #expect(try storage.find().count == 1)
    try storage.claim(for: Self.bob, .deleting, former: Self.ana)
    #expect(try storage.find().isEmpty)
    #expect(try storage.owner(former: Self.ana) == Self.bob)
  }

  @Test("the session of an older version is that of the tag that asks first") func olderSession()
    throws
  {
    let path = directory.file("_session.kvs")
    let old = try Database(
      .init(path: path, applicationId: 0x4B56_5531),
      migrations: [
        Database.Migration(
          sql:
            "CREATE TABLE facts (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID"
        )
      ])
    let session = #"{"token":"t","user":{"_id":"ana"}}"#
    try old.write { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute("INSERT INTO facts VALUES ('user', '\(session)'), ('device', 'd')")
    }
    old.close()
    let (first, second) = (
      try SessionStore(path: path, tag: "a"), try SessionStore(path: path, tag: "b")
    )
    #expect(try first.user() == session)
    #expect(try second.user() == nil)
    #expect(try second.user(ofTag: "a") == session)
    #expect(try [first, second].map { try $0.formerUser() } == [Self.ana, Self.ana])
  }

  @Test("tags have sessions of their own") func tags() throws {
    let path = directory.file("_session.kvs")
    let (a, b) = (try SessionStore(path: path, tag: "a"), try SessionStore(path: path, tag: "b"))
    try a.save(user: "1")
    try b.save(user: "2")
    #expect(try [a.user(), b.user()] == ["1", "2"])
    try a.clearUser()
    #expect(try [a.user(), b.user()] == [nil, "2"])
    #expect(try b.user(ofTag: "a") == nil)
    #expect(try a.formerUser() == nil)
  }
}
