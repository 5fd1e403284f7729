import Glibc
import KVSQLite
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Versions of records") struct RecordVersionTests {
  let directory = TemporaryDirectory()
  var path: String { directory.file("data.kvs") }

  private func version(_ id: String, _ storage: Storage) throws -> Int64? {
    try storage.version(of: id, in: "c")
  }

  /// The row number of an entity.
  private func row(_ id: String) throws -> Int64? {
    let database = try Database(
      StorageSchema.configuration(path),
      migrations: StorageMigrations.all)
    let rows = try database.rows(of: "SELECT n FROM e1 WHERE id = '\(id)'") { _ in }
    return try rows.next { $0.int64(0) }
  }

  @Test("go up by one with each change") func changes() throws {
    let storage = try Storage(path: path, durability: .normal)
    #expect(try version("a", storage) == nil)
    try storage.save(#"{"_id":"a","n":1}"#)
    let first = try #require(try version("a", storage))
    #expect(first > 0 && first < 1 << 53)
    try storage.save(#"{"_id":"a","n":1}"#)
    #expect(try version("a", storage) == first + 1)
    _ = try storage.edit(#"{"_id":"a","n":2}"#, "a")
    #expect(try version("a", storage) == first + 2)
    try storage.accept("a", #"{"_id":"a","n":2,"_kmd":{"lmt":"t1"}}"#)
    #expect(try version("a", storage) == first + 3)
    try storage.store(#"{"_id":"a","n":3,"_kmd":{"lmt":"t2"}}"#)
    #expect(try version("a", storage) == first + 4)
  }

  @Test("stay when the backend's entity is what is here already") func sameAgain() throws {
    let storage = try Storage(path: path, durability: .normal)
    try storage.store(#"{"_id":"a","n":1}"#)
    let first = try version("a", storage)
    try storage.store(#"{"_id":"a","n":1}"#)
    #expect(try version("a", storage) == first)
  }

  @Test("of a record that is made anew are higher than all of the old one's") func madeAnew() throws
  {
    let storage = try Storage(path: path, durability: .normal)
    var last: Int64 = 0
    for _ in 0..<20 {
      for _ in 0..<3 { try storage.save(#"{"_id":"a"}"#) }
      let version = try #require(try version("a", storage))
      #expect(version > last)
      last = version
      _ = try storage.remove("a", in: "c")
    }
  }

  @Test(
    "a row number is never given to another entity, whichever process made and removed the first one"
  )
  func rowNumbers() throws {
    let storage = try Storage(path: path, durability: .normal)
    let other = try Storage(path: path, durability: .normal)
    var given: Set<Int64> = []
    for round in 0..<8 {
      try (round % 2 == 0 ? storage : other).save(#"{"_id":"r\#(round)"}"#)
      let number = try #require(try row("r\(round)"))
      #expect(given.insert(number).inserted)
      switch round % 4 {
      case 0: _ = try other.remove("r\(round)", in: "c")
      case 1: _ = try storage.forget(["r\(round)"], in: "c")
      case 2: _ = try other.clear(nil, in: "c")
      default: try storage.wipe()
      }
    }
    storage.close()
    other.close()
    let reopened = try Storage(path: path, durability: .normal)
    try reopened.store(#"{"_id":"last"}"#)
    #expect(given.insert(try #require(try row("last"))).inserted)
  }

  @Test("come to files of the version before, also when the process is killed in the middle")
  func migration() throws {
    for round in 0..<30 {
      let path = directory.file("old\(round).kvs")
      try makeOld(path)
      let opening = try ChildProcess([ChildProcess.built("storage-saver"), path, "open"])
      usleep(useconds_t(round * 400))
      opening.end()
      let storage = try Storage(path: path, durability: .normal)
      #expect(try storage.find().count == 2)
      #expect(try storage.queue().map(\.id) == ["b"])
      #expect(try version("a", storage) == 1)
      try storage.save(#"{"_id":"a","n":2}"#)
      #expect(try version("a", storage) == 2)
      _ = try storage.remove("b", in: "c")
      try storage.save(#"{"_id":"c"}"#)
      storage.close()
      let reopened = try Database(
        StorageSchema.configuration(path),
        migrations: StorageMigrations.all)
      let rows = try reopened.rows(of: "SELECT n FROM e1 WHERE id = 'c'") { _ in }
      #expect(try rows.next { $0.int64(0) } == 3)
    }
  }

  /// A file without versions, with two entities, one of them pending, and an index on them.
  private func makeOld(_ path: String) throws {
    let old = try Database(
      StorageSchema.configuration(path),
      migrations: Array(StorageMigrations.all.prefix(4)))
    try old.write(durably: true) { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute(
        """
        INSERT INTO collections (number, name) VALUES (1, 'c'), (2, 'empty');
        CREATE TABLE e1 (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL,
          at INTEGER NOT NULL, body TEXT NOT NULL);
        CREATE TABLE e2 (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL,
          at INTEGER NOT NULL, body TEXT NOT NULL);
        INSERT INTO e1 VALUES (1, 'a', 1, 0, '{"_id":"a","n":1}'), (2, 'b', 1, 0, '{"_id":"b"}');
        INSERT INTO pending (collection, id, operation, revision, created, changed) VALUES
          (1, 'b', 1, 77, 1, 2);
        """)
    }
    old.close()
  }
}
