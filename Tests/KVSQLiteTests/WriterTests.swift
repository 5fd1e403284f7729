import Glibc
import KVBase
import KVSQLite
import KVTestSupport
import Testing

@Suite("Writer") struct WriterTests {
  let directory = TemporaryDirectory()

  @Test("commits what many threads save at once") func concurrentSavers() throws {
    let database = try open(directory.file("data.kvs"))
    let errors = concurrently(8) { thread -> (any Error)? in
      do {
        for number in 0..<200 { try database.add("\(thread)-\(number)") }
        return nil
      } catch { return error }
    }
    #expect(errors.isEmpty)
    #expect(try database.integer("SELECT count(*) FROM words") == 1600)
  }

  @Test("comes in between the transactions of another process, if that rests for a millisecond")
  func busyNeighbour() throws {
    let path = directory.file("data.kvs")
    let (database, neighbour) = (try open(path), try open(path))
    let isDone = Monitor(false)
    let count = Monitor(0)
    let worker = Worker("neighbour") {
      while !isDone.withLock({ $0 }) {
        let number = count.withLockNotifyingAll { count in
          count += 1
          return count
        }
        try? neighbour.write(durably: false, repeatable: false) {
          (db: borrowing Connection) throws(SQLiteError) in
          try Database.insert("neighbour-\(number)", db)
          let end = Deadline.after(seconds: 0.1)
          while !end.hasPassed {}
        }
        usleep(1_000)
      }
    }
    defer {
      isDone.withLock { $0 = true }
      worker?.join()
    }
    _ = count.wait { $0 > 1 ? true : nil }
    for number in 0..<5 { try database.add("\(number)") }
    #expect(count.withLock { $0 } < 100)
  }

  @Test("undoes a failing body and nobody else's", arguments: [false, true])
  func failingBodies(repeatable: Bool) throws {
    let database = try open(directory.file("data.kvs"))
    let failures = concurrently(8) { thread -> Int? in
      var failures = 0
      for number in 0..<100 {
        do {
          try database.write(repeatable: repeatable) {
            (db: borrowing Connection) throws(SQLiteError) in
            try Database.insert("\(thread)-\(number)", db)
            if number % 2 == 1 { try Database.insert("\(thread)-\(number)", db) }
          }
        } catch {
          #expect((error as? SQLiteError)?.kind == .constraint)
          failures += 1
        }
      }
      return failures
    }
    #expect(failures.reduce(0, +) == 400)
    let words = try database.words()
    #expect(words.count == 400)
    #expect(words.allSatisfy { $0.last?.wholeNumberValue?.isMultiple(of: 2) == true })
  }

  @Test("small commits that wait for the disk keep the log short, unless it was longer before")
  func shortLog() throws {
    let path = directory.file("data.kvs")
    let database = try open(path) { $0.durability = .full }
    for number in 0..<2000 { try database.add("\(number)") }
    let frame = 4096 + 24
    #expect(size(of: path + "-wal") < 1300 * frame)
    try database.write { (db: borrowing Connection) throws(SQLiteError) in
      for number in 0..<20_000 {
        try Database.insert("\(number) \(String(repeating: "x", count: 500))", db)
      }
    }
    let long = size(of: path + "-wal")
    #expect(long > 2000 * frame)
    for number in 0..<300 { try database.add("again \(number)") }
    #expect(size(of: path + "-wal") < long + 300 * frame)
  }

  private func size(of path: String) -> Int { contents(of: path)?.count ?? 0 }

  @Test("gives back what the body gives, and undoes it on request") func results() throws {
    let database = try open(directory.file("data.kvs"))
    #expect(try database.write { $0.isInTransaction })
    let error = #expect(throws: SQLiteError.self) {
      try database.write { (db: borrowing Connection) throws(SQLiteError) in
        try Database.insert("one", db)
        throw .rollback
      }
    }
    #expect(error == .rollback)
    #expect(try database.words() == [])
  }

  @Test("undoes a savepoint and goes on") func savepoints() throws {
    let database = try open(directory.file("data.kvs"))
    try database.write { (db: borrowing Connection) throws(SQLiteError) in
      try Database.insert("kept", db)
      do {
        try db.savepoint { () throws(SQLiteError) in
          try Database.insert("undone", db)
          throw .rollback
        }
      } catch {}
    }
    #expect(try database.words() == ["kept"])
  }

  @Test("refuses a transaction inside another one") func nested() throws {
    let database = try open(directory.file("data.kvs"))
    let error = #expect(throws: SQLiteError.self) {
      try database.write { (_) throws(SQLiteError) in try database.add("one") }
    }
    #expect(error?.kind == .misuse)
    try database.add("two")
  }

  @Test("refuses work once it is closed") func closed() throws {
    let database = try open(directory.file("data.kvs"))
    database.close()
    #expect(throws: SQLiteError.self) { try database.add("one") }
    #expect(throws: SQLiteError.self) { try database.words() }
    database.close()
  }

  @Test("can be closed while others write: each write is whole or refused") func closing() throws {
    let path = directory.file("data.kvs")
    let database = try open(path)
    let saved = concurrently(6) { thread -> Int? in
      if thread == 5 {
        database.close()
        return nil
      }
      for number in 0..<500 {
        do { try database.add("\(thread)-\(number)") } catch { return number }
      }
      return 500
    }
    #expect(try open(path).words().count == saved.reduce(0, +))
  }

  @Test("is busy, not stuck, while another connection holds the lock") func busy() throws {
    let path = directory.file("data.kvs")
    let one = try open(path)
    let other = try open(path) { $0.busyTimeout = 20 }
    try one.write { (db: borrowing Connection) throws(SQLiteError) in
      try Database.insert("one", db)
      let error = #expect(throws: SQLiteError.self) { try other.add("two") }
      #expect(error?.kind == .busy)
    }
    try other.add("two")
    #expect(try one.words() == ["one", "two"])
  }

  @Test("waits for the disk only when a body asks for it") func durability() throws {
    let database = try open(directory.file("data.kvs")) { $0.durability = .full }
    func level(durably: Bool) throws -> Int64? {
      try database.write(durably: durably) { (db: borrowing Connection) throws(SQLiteError) in
        try db.integer("PRAGMA synchronous")
      }
    }
    for (durably, expected) in [(true, 2), (false, 1), (false, 1), (true, 2)] {
      #expect(try level(durably: durably) == Int64(expected))
    }
  }

  @Test("a group waits for the disk if one of its bodies asks for it")
  func durabilityOfGroups() throws {
    let database = try open(directory.file("data.kvs")) { $0.durability = .full }
    struct Seen {
      /// The levels that bodies found which asked for the disk.
      var durable: Set<Int64> = []
      /// Whether a body was committed that durably without having asked for it: in a group with one that did.
      var isMixed = false
      var error: SQLiteError?
    }
    let seen = Monitor(Seen())
    let deadline = Deadline.after(seconds: 60)
    let threads = (0..<6).map { number in
      Worker("test-group-\(number)") {
        let durably = number % 2 == 0
        while !deadline.hasPassed, !seen.withLock({ $0.isMixed || $0.error != nil }) {
          do throws(SQLiteError) {
            let level = try database.write(durably: durably) {
              (db: borrowing Connection) throws(SQLiteError) in try db.integer("PRAGMA synchronous")
            }
            seen.withLock { seen in
              if durably {
                seen.durable.insert(level ?? -1)
              } else if level == 2 {
                seen.isMixed = true
              }
            }
          } catch {
            seen.withLock { $0.error = error }
          }
        }
      }
    }
    for thread in threads { thread?.join() }
    #expect(seen.withLock { $0.error } == nil)
    #expect(seen.withLock { $0.isMixed }, "no group had both kinds")
    #expect(seen.withLock { $0.durable } == [2])
  }
}
