import KVSQLite
import KVTestSupport
import Testing

@Suite("Statement") struct StatementTests {
  let directory = TemporaryDirectory()

  @Test("gives back every kind of value it was given") func values() throws {
    let database = try open(directory.file("data.kvs"))
    try database.withReader { (db: borrowing Connection) throws(SQLiteError) in
      let statement = try db.prepare("SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7")
      try statement.bind(Int64.min, at: 1)
      try statement.bind(0.5, at: 2)
      try statement.bind("grüße\0x", at: 3)
      try statement.bind("", at: 4)
      try statement.bind(nil as String?, at: 5)
      let blob: [UInt8] = [0, 255, 7]
      var copy: [UInt8] = []
      var isEmptyText = false
      let error = blob.withUnsafeBytes { bytes -> (any Error)? in
        do {
          try statement.bind(borrowedBlob: bytes, at: 6)
          try statement.bind(borrowedText: UnsafeRawBufferPointer(start: nil, count: 0), at: 7)
          guard try statement.step() else { return SQLiteError.rollback }
          copy = try statement.copy(5)
          isEmptyText = statement.text(6) == ""
          return nil
        } catch { return error }
      }
      #expect(error == nil)
      let (integer, real) = (statement.int64(0), statement.double(1))
      let texts = [statement.text(2), statement.text(3), statement.text(4)]
      #expect(integer == .min)
      #expect(real == 0.5)
      #expect(texts == ["grüße\0x", "", nil])
      #expect(copy == blob)
      #expect(isEmptyText)
    }
  }

  @Test("is kept, and forgets the values of its last use") func kept() throws {
    let database = try open(directory.file("data.kvs"))
    let sql = SQL("SELECT ?1")
    try database.withReader { (db: borrowing Connection) throws(SQLiteError) in
      do {
        let first = try db.statement(sql)
        try first.bind(7, at: 1)
        // In use already: a second one is made.
        let second = try db.statement(sql)
        let secondIsNull = try second.step() && second.isNull(0)
        let firstValue = try first.step() ? first.int(0) : nil
        #expect(secondIsNull)
        #expect(firstValue == 7)
      }
      let third = try db.statement(sql)
      let thirdIsNull = try third.step() && third.isNull(0)
      #expect(thirdIsNull)
    }
  }

  @Test("more than a connection keeps can be made") func many() throws {
    let database = try open(directory.file("data.kvs"))
    let all = (0..<600).map { SQL("SELECT \($0)") }
    try database.withReader { (db: borrowing Connection) throws(SQLiteError) in
      for _ in 0..<2 {
        for (number, sql) in all.enumerated() {
          let statement = try db.statement(sql)
          let value = try statement.step() ? statement.int(0) : nil
          #expect(value == number)
        }
      }
    }
  }

  @Test("errors have SQLite's code and words, never values") func errors() throws {
    let database = try open(directory.file("data.kvs"))
    try database.add("secret")
    let error = #expect(throws: SQLiteError.self) { try database.add("secret") }
    #expect(error?.kind == .constraint)
    #expect(error?.extendedCode == 2067)
    #expect(error?.code == 19)
    #expect(error?.description.contains("secret") == false)
  }
}
