import KVBase
import KVSQLite
import KVTestSupport
import Testing

@Suite("Snapshots that are kept for the next reader") struct KeptSnapshotTests {
  let directory = TemporaryDirectory()
  var path: String { directory.file("data.kvs") }

  /// Two databases of one file, as two processes have them. The first keeps its snapshots for good.
  private func both() throws -> (reader: Database, other: Database) {
    (try open(path) { $0.idleSnapshotMilliseconds = 3_600_000 }, try open(path))
  }

  /// Reads so often that a snapshot is kept.
  private func readOften(_ database: Database) throws {
    for _ in 0..<20 { _ = try database.integer("SELECT count(*) FROM words") }
  }

  /// Whether nobody reads a snapshot of the log.
  private func canTruncate(_ database: Database) throws -> Bool {
    try database.withReader { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute("PRAGMA busy_timeout = 0")
      return try db.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0
    }
  }

  @Test("are those of readers that come again and again while nobody commits") func isKept() throws
  {
    let (reader, other) = try both()
    try other.add("one")
    _ = try reader.integer("SELECT count(*) FROM words")
    #expect(try canTruncate(other))
    try other.add("two")
    try readOften(reader)
    #expect(try !canTruncate(other))
  }

  @Test("show every commit of another process at once", arguments: [1, 20])
  func showsCommits(reads: Int) throws {
    let (reader, other) = try both()
    for n in 1...100 {
      try other.add("\(n)")
      for _ in 0..<reads {
        #expect(try reader.integer("SELECT count(*) FROM words") == Int64(n))
      }
    }
  }

  @Test("show every commit of their own process at once, to all kinds of readers")
  func showsOwnCommits() throws {
    let (reader, _) = try both()
    for n in 1...50 {
      try reader.add("\(n)")
      try readOften(reader)
      #expect(try reader.words().count == n)
      let counted = try reader.read { (db: borrowing Connection) throws(SQLiteError) in
        try db.integer("SELECT count(*) FROM words")
      }
      #expect(counted == Int64(n))
      let snapshot = try reader.snapshot()
      try reader.add("more \(n)")
      let seen = try snapshot.read { (db: borrowing Connection) throws(SQLiteError) in
        try db.integer("SELECT count(*) FROM words")
      }
      #expect(seen == Int64(n))
      snapshot.close()
      #expect(try reader.integer("SELECT count(*) FROM words") == Int64(n + 1))
      try reader.write { (db: borrowing Connection) throws(SQLiteError) in
        try db.execute("DELETE FROM words WHERE word LIKE 'more%'")
      }
    }
  }

  @Test("end when their own process writes, or gives the log back") func endForWriters() throws {
    let (reader, other) = try both()
    try reader.add("one")
    try readOften(reader)
    try reader.add("two")
    #expect(try canTruncate(other))
    try readOften(reader)
    try reader.compact(within: .unlimited) { _ throws(SQLiteError) in }
    #expect(try reader.integer("SELECT count(*) FROM words") == 2)
  }

  @Test("end when nobody reads any more") func endWhenIdle() throws {
    let (reader, other) = (try open(path) { $0.idleSnapshotMilliseconds = 1 }, try open(path))
    try reader.add("one")
    try readOften(reader)
    let deadline = Deadline.after(seconds: 30)
    var isFree = false
    while !isFree, !deadline.hasPassed { isFree = try canTruncate(other) }
    #expect(isFree)
  }

  @Test("are not made in a log that is long, so that it can be begun anew") func longLog() throws {
    let (reader, other) = try both()
    // A reader of an older state: nothing can be copied into the file.
    let cursor = try other.snapshot()
    try other.write { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute(
        """
        INSERT INTO words (word) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000)
        SELECT hex(randomblob(4000)) FROM n
        """)
    }
    try readOften(reader)
    cursor.close()
    #expect(try canTruncate(other))
  }

  @Test("do not survive an error, and readers stay usable") func errors() throws {
    let (reader, other) = try both()
    for n in 1...30 {
      try readOften(reader)
      #expect(throws: SQLiteError.self) { try reader.integer("SELECT nothing") }
      let exhausted = WorkBudget(seconds: 60)
      exhausted.cancel()
      _ = try? reader.read(within: exhausted) { (db: borrowing Connection) throws(SQLiteError) in
        try db.integer(
          "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
      }
      try other.add("\(n)")
      #expect(try reader.integer("SELECT count(*) FROM words") == Int64(n))
    }
  }

  @Test("show each thread what it has written, while others write and read") func threads() throws {
    let (one, two) = try both()
    let failures = Monitor(0)
    _ = concurrently(4) { thread in
      let (writer, reader) = thread % 2 == 0 ? (one, two) : (two, one)
      for n in 0..<50 {
        let word = "\(thread) \(n)"
        for database in [writer, reader] {
          for _ in 0..<10 where (try? database.integer("SELECT count(*) FROM words")) == nil {
            failures.withLock { $0 += 1 }
          }
        }
        guard (try? writer.add(word)) != nil,
          (try? reader.integer("SELECT count(*) FROM words WHERE word = '\(word)'")) == 1
        else {
          failures.withLock { $0 += 1 }
          continue
        }
      }
    }
    #expect(failures.withLock { $0 } == 0)
    #expect(try one.integer("SELECT count(*) FROM words") == 200)
  }
}
