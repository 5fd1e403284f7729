import KVBase
import KVSQLite
import KVTestSupport
import Testing

@Suite("The lock that readers of the newest state share") struct SharedReadLockTests {
  let directory = TemporaryDirectory()
  var path: String { directory.file("data.kvs") }

  /// Two databases of one file, as two processes have them. The first holds its lock for good.
  private func both() throws -> (reader: Database, other: Database) {
    (try open(path) { $0.sharedReadLockMilliseconds = 3_600_000 }, try open(path))
  }

  /// Reads so often that the lock is taken.
  private func readOften(_ database: Database) throws {
    for _ in 0..<200 { _ = try database.integer("SELECT count(*) FROM words") }
  }

  /// Whether nobody reads a state of the log.
  private func canTruncate(_ database: Database) throws -> Bool {
    try database.withReader { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute("PRAGMA busy_timeout = 0")
      return try db.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0
    }
  }

  @Test("is held while reads follow each other and nobody commits") func isHeld() throws {
    let (reader, other) = try both()
    try other.add("one")
    _ = try reader.integer("SELECT count(*) FROM words")
    #expect(try canTruncate(other))
    try other.add("two")
    try readOften(reader)
    #expect(try !canTruncate(other))
  }

  @Test("is not taken where the option says so, or the file is read-only") func isNotTaken() throws
  {
    let (reader, other) = (try open(path) { $0.sharedReadLockMilliseconds = 0 }, try open(path))
    try other.add("one")
    try readOften(reader)
    #expect(try canTruncate(other))
  }

  @Test("lets readers see every commit of another process at once", arguments: [1, 200])
  func showsCommits(reads: Int) throws {
    let (reader, other) = try both()
    for n in 1...50 {
      try other.add("\(n)")
      for _ in 0..<reads {
        #expect(try reader.integer("SELECT count(*) FROM words") == Int64(n))
      }
    }
  }

  @Test("lets all kinds of readers see every commit of their own process at once")
  func showsOwnCommits() throws {
    let (reader, _) = try both()
    for n in 1...20 {
      try reader.add("\(n)")
      try readOften(reader)
      #expect(try reader.words().count == n)
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

  @Test("ends when its own process writes, or gives the log back") func endsForWriters() throws {
    let (reader, other) = try both()
    try reader.add("one")
    try readOften(reader)
    try reader.add("two")
    #expect(try canTruncate(other))
    try readOften(reader)
    try reader.compact(within: .unlimited) { _ throws(SQLiteError) in }
    #expect(try reader.integer("SELECT count(*) FROM words") == 2)
  }

  @Test("ends when a commit of another process is noticed") func endsForOthers() throws {
    let (reader, other) = try both()
    try other.add("one")
    try readOften(reader)
    // Each commit comes before the reads are enough to take the lock again.
    for n in 0..<10 {
      try other.add("\(n)")
      for _ in 0..<40 { _ = try reader.integer("SELECT count(*) FROM words") }
    }
    #expect(try canTruncate(other))
  }

  @Test("ends when nobody reads any more") func endsWhenIdle() throws {
    let (reader, other) = (try open(path) { $0.sharedReadLockMilliseconds = 1 }, try open(path))
    try reader.add("one")
    try readOften(reader)
    let deadline = Deadline.after(seconds: 60)
    var isFree = false
    while !isFree, !deadline.hasPassed { isFree = try canTruncate(other) }
    #expect(isFree)
  }

  @Test("is not taken in a log that is long, so that it can be begun anew") func longLog() throws {
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

  @Test("is taken, ended and closed by many threads at once") func threads() throws {
    let (one, two) = try both()
    let failures = Monitor(0)
    _ = concurrently(4) { thread in
      let (writer, reader) = thread % 2 == 0 ? (one, two) : (two, one)
      for n in 0..<50 {
        let word = "\(thread) \(n)"
        for database in [writer, reader] {
          for _ in 0..<50 where (try? database.integer("SELECT count(*) FROM words")) == nil {
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
    _ = concurrently(4) { thread in
      if thread == 0 { one.close() } else { try? readOften(one) }
    }
  }
}
