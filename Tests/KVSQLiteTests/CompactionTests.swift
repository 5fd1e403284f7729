import Glibc
import KVBase
import KVSQLite
import KVTestSupport
import Testing

@Suite("Compaction") struct CompactionTests {
  let directory = TemporaryDirectory()

  @Test("what was deleted is given back to the disk, the log as well") func shrinks() throws {
    let database = try filled()
    let before = database.size
    try database.removeMost()
    try database.compact()
    #expect(database.size < before / 10)
    #expect(length(of: "data.kvs-wal") == 0)
    #expect(try database.words().count == 10)
    #expect(try database.text("PRAGMA integrity_check") == "ok")
    #expect(try database.integer("PRAGMA application_id") == Int64(applicationId))
    try database.add("after")
    #expect(try database.words().count == 11)
  }

  @Test(
    "rows that are being read stay as they are; until they are, it waits, at the most as long as it may"
  )
  func readers() throws {
    let database = try filled()
    let rows = try database.rows(of: "SELECT word FROM words ORDER BY n") { _ in }
    #expect(try rows.next { $0.text(0) } == "0-\(filling)")
    try database.removeMost()
    let error = #expect(throws: SQLiteError.self) {
      try database.compact(within: WorkBudget(until: .after(seconds: 0.05)))
    }
    #expect(error?.kind == .busy)
    var count = 1
    while try rows.next({ $0.text(0) }) != nil { count += 1 }
    #expect(count == 200)
    try database.compact()
    #expect(length(of: "data.kvs-wal") == 0)
    #expect(try database.words().count == 10)
  }

  @Test(
    "while somebody else writes it waits, then says so; afterwards it goes on",
    arguments: [true, false])
  func writers(isInTime: Bool) throws {
    let (database, other) = (try filled(), try open(directory.file("data.kvs")))
    try database.removeMost()
    let (begun, ended) = (Monitor(false), Monitor(false))
    let failures = concurrently(2) { number -> SQLiteError.Kind? in
      let result = Result { () throws(SQLiteError) in
        if number == 0 {
          try other.write { (db: borrowing Connection) throws(SQLiteError) in
            try Database.insert("theirs", db)
            begun.withLockNotifyingAll { $0 = true }
            if !isInTime { _ = ended.wait { $0 ? true : nil } }
          }
        } else {
          _ = begun.wait { $0 ? true : nil }
          defer { ended.withLockNotifyingAll { $0 = true } }
          try database.compact(within: WorkBudget(until: .after(seconds: isInTime ? 60 : 0.1)))
        }
      }
      if case .failure(let error) = result { return error.kind }
      return nil
    }
    #expect(failures == (isInTime ? [] : [.busy]))
    try database.compact()
    #expect(try database.words().contains("theirs"))
  }

  @Test("it can be cancelled, and leaves everything as it was") func cancelled() throws {
    let database = try filled()
    let budget = WorkBudget(until: .never)
    budget.cancel()
    let error = #expect(throws: SQLiteError.self) { try database.compact(within: budget) }
    #expect(error?.kind == .interrupted)
    #expect(try database.words().count == 200)
    try database.add("after")
    #expect(try database.text("PRAGMA integrity_check") == "ok")
  }

  @Test("a disk that is full meanwhile loses nothing") func fullDisk() throws {
    let database = try filled()
    try database.removeMost()
    let words = try database.words()
    var failures = 0
    for count in 0..<200 {
      do {
        try DiskFault.after(count, with: ENOSPC) { try database.compact() }
      } catch let error as SQLiteError {
        #expect(error.kind == .full, "after \(count) writes: \(error)")
        failures += 1
      }
      #expect(try database.words() == words, "after \(count) writes")
    }
    #expect((4..<200).contains(failures))
    #expect(try database.text("PRAGMA integrity_check") == "ok")
    database.close()
    #expect(try open(directory.file("data.kvs")).words() == words)
  }

  @Test("savers and other compactions at the same time wait for their turns") func together() throws
  {
    let database = try filled()
    try database.removeMost()
    let failures = concurrently(6) { number -> SQLiteError? in
      do throws(SQLiteError) {
        for step in 0..<20 {
          if number < 2 { try database.compact() } else { try database.add("\(number) \(step)") }
        }
        return nil
      } catch { return error }
    }
    #expect(failures == [])
    #expect(try database.words().count == 10 + 80)
    #expect(try database.text("PRAGMA integrity_check") == "ok")
  }

  @Test("what prepares it is undone if it fails, and then nothing is done") func preparing() throws
  {
    let database = try filled()
    #expect(throws: SQLiteError.self) {
      try database.compact(within: .unlimited) { (db: borrowing Connection) throws(SQLiteError) in
        try db.execute("DELETE FROM words")
        try db.execute("DELETE FROM nothing")
      }
    }
    #expect(try database.words().count == 200)
  }

  // MARK: Support

  private func filled() throws -> Database {
    let database = try open(directory.file("data.kvs"))
    try database.write { (db: borrowing Connection) throws(SQLiteError) in
      for number in 0..<200 { try Database.insert("\(number)-\(filling)", db) }
    }
    return database
  }

  private func length(of name: String) -> Int {
    var status = stat()
    return stat(directory.file(name), &status) == 0 ? Int(status.st_size) : 0
  }
}

private let filling = String(repeating: "x", count: 4000)

extension Database {
  fileprivate func removeMost() throws(SQLiteError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute("DELETE FROM words WHERE n > 10")
    }
  }

  fileprivate func compact(within budget: WorkBudget = .unlimited) throws(SQLiteError) {
    try compact(within: budget) { _ in }
  }
}
