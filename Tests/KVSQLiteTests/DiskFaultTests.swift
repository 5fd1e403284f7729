import Glibc
import KVBase
import KVCrypto
import KVSQLite
import KVTestSupport
import Testing

@Suite("Disk faults") struct DiskFaultTests {
  let directory = TemporaryDirectory()

  enum Failure: Sendable, CaseIterable {
    case full
    case broken

    var number: Int32 { self == .full ? ENOSPC : EIO }
    var kind: SQLiteError.Kind { self == .full ? .full : .io }
  }

  @Test(
    "a write that the disk refuses is undone, told, and may be tried again",
    arguments: Failure.allCases, Form.allCases)
  func writes(_ failure: Failure, _ form: Form) throws {
    let database = try form.open(directory.file("data.kvs"))
    var saved: [String] = []
    var failures = 0
    for count in 0..<40 {
      let words = (0..<5).map { "\(count)-\($0) \(marker)" + String(repeating: "x", count: 3000) }
      do {
        try DiskFault.after(count, with: failure.number) {
          try database.write { (db: borrowing Connection) throws(SQLiteError) in
            for word in words { try Database.insert(word, db) }
          }
        }
        saved += words
      } catch let error as SQLiteError {
        #expect(error.kind == failure.kind)
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
    #expect(form.hides(in: directory))
    let again = try form.open(directory.file("data.kvs"))
    let isAllThere = try again.words() == saved.sorted()
    #expect(isAllThere)
    #expect(try again.text("PRAGMA integrity_check") == "ok")
  }

  @Test("a file that the system cannot read is no damaged file", arguments: Form.allCases)
  func reads(_ form: Form) throws {
    let path = directory.file("data.kvs")
    do {
      let database = try form.open(path)
      for number in 0..<50 {
        try database.add("\(number) \(marker)" + String(repeating: "x", count: 2000))
      }
      database.close()
    }
    var failures = 0
    for count in 0..<100 {
      do {
        try DiskFault.afterReads(count, with: EIO) {
          let database = try form.open(path)
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
    #expect(form.hides(in: directory))
    let again = try form.open(path)
    #expect(try again.text("PRAGMA integrity_check") == "ok")
  }

  @Test("a checkpoint that the disk refuses loses nothing", arguments: Form.allCases)
  func checkpoints(_ form: Form) throws {
    let database = try form.open(directory.file("data.kvs"))
    for number in 0..<50 {
      try database.add("\(number) \(marker)" + String(repeating: "x", count: 2000))
    }
    for count in 0..<10 {
      #expect(throws: SQLiteError.self) {
        try DiskFault.after(count, with: ENOSPC) { try database.checkpoint() }
      }
      #expect(try database.integer("SELECT count(*) FROM words") == 50)
    }
    try database.checkpoint()
    #expect(try database.integer("SELECT count(*) FROM words") == 50)
    #expect(form.hides(in: directory))
  }

  @Test("a database that could not be made can be made later", arguments: Form.allCases)
  func opening(_ form: Form) throws {
    for count in 0..<60 {
      let path = directory.file("\(count).kvs")
      let opened = DiskFault.after(count, with: ENOSPC) { () -> Result<Database, any Error> in
        Result { try form.open(path) }
      }
      if case .failure(let error) = opened {
        #expect((error as? SQLiteError)?.kind == .full)
      }
      try form.open(path).add("one")
    }
  }

  @Test("an encryption that the disk refuses leaves the file as it was, and can be repeated")
  func encrypting() throws {
    let path = directory.file("data.kvs")
    let plain = try open(path)
    for number in 0..<40 {
      try plain.add("\(number) \(marker)" + String(repeating: "x", count: 1000))
    }
    plain.close()
    let vaults: [Vault?] = [nil, Vault(key(1)), Vault(key(2)), nil]
    var failures = 0
    for (from, to) in zip(vaults, vaults.dropFirst()) {
      for count in 0..<200 {
        do {
          try DiskFault.after(count, with: count % 2 == 0 ? ENOSPC : EIO) {
            try Database.changeEncryption(of: path, from: from, to: to, within: .unlimited)
          }
          break
        } catch {
          failures += 1
          #expect(names(in: directory.path).allSatisfy { !$0.contains("-new") })
          let database = try open(path) { $0.vault = from }
          #expect(try database.integer("SELECT count(*) FROM words") == 40)
          #expect(try database.text("PRAGMA integrity_check") == "ok")
          database.close()
        }
      }
      if to != nil { #expect(directory.files(with: marker).isEmpty) }
    }
    #expect(failures > 20)
    #expect(try open(path).integer("SELECT count(*) FROM words") == 40)
  }
}
