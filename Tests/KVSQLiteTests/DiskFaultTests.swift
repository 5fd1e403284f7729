import Glibc
import KVSQLite
import KVTestSupport
import Testing

@Suite("Disk faults") struct DiskFaultTests {
  let directory = TemporaryDirectory()

  @Test(
    "a write that the disk refuses is undone, told, and may be tried again",
    arguments: [(ENOSPC, SQLiteError.Kind.full), (EIO, .io)])
  func writes(_ number: Int32, _ kind: SQLiteError.Kind) throws {
    let database = try open(directory.file("data.kvs"))
    var saved: [String] = []
    var failures = 0
    for count in 0..<40 {
      let words = (0..<5).map { "\(count)-\($0)" + String(repeating: "x", count: 3000) }
      do {
        try DiskFault.after(count, with: number) {
          try database.write { (db: borrowing Connection) throws(SQLiteError) in
            for word in words { try Database.insert(word, db) }
          }
        }
        saved += words
      } catch let error as SQLiteError {
        #expect(error.kind == kind)
        failures += 1
      }
      let isAsExpected = try database.words() == saved.sorted()
      #expect(isAsExpected, "after \(count) writes")
      try database.add("between-\(count)")
      saved.append("between-\(count)")
    }
    #expect(failures > 3)
    #expect(failures < 40)
    database.close()
    let again = try open(directory.file("data.kvs"))
    let isAllThere = try again.words() == saved.sorted()
    #expect(isAllThere)
    #expect(try again.text("PRAGMA integrity_check") == "ok")
  }

  @Test("a file that the system cannot read is no damaged file") func reads() throws {
    let path = directory.file("data.kvs")
    do {
      let database = try open(path)
      for number in 0..<50 { try database.add("\(number)" + String(repeating: "x", count: 2000)) }
      database.close()
    }
    var failures = 0
    for count in 0..<100 {
      do {
        try DiskFault.afterReads(count, with: EIO) {
          let database = try open(path)
          defer { database.close() }
          _ = try database.words()
          try database.write { (db: borrowing Connection) throws(SQLiteError) in
            try Database.insert("w\(count)", db)
          }
        }
      } catch let error as SQLiteError {
        #expect(error.kind == .io, "after \(count) reads: \(error)")
        failures += 1
      }
    }
    #expect(failures > 3)
    let again = try open(path)
    #expect(try again.text("PRAGMA integrity_check") == "ok")
  }

  @Test("a checkpoint that the disk refuses loses nothing") func checkpoints() throws {
    let database = try open(directory.file("data.kvs"))
    for number in 0..<50 { try database.add("\(number)" + String(repeating: "x", count: 2000)) }
    for count in 0..<10 {
      #expect(throws: SQLiteError.self) {
        try DiskFault.after(count, with: ENOSPC) { try database.checkpoint() }
      }
      #expect(try database.integer("SELECT count(*) FROM words") == 50)
    }
    try database.checkpoint()
    #expect(try database.integer("SELECT count(*) FROM words") == 50)
  }

  @Test("a database that could not be made can be made later") func opening() throws {
    for count in 0..<60 {
      let path = directory.file("\(count).kvs")
      let opened = DiskFault.after(count, with: ENOSPC) { () -> Result<Database, any Error> in
        Result { try open(path) }
      }
      if case .failure(let error) = opened {
        #expect((error as? SQLiteError)?.kind == .full)
      }
      try open(path).add("one")
    }
  }
}
