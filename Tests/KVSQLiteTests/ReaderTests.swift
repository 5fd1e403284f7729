import KVBase
import KVQuery
import KVSQLite
import KVTestSupport
import Testing

@Suite("Readers") struct ReaderTests {
  let directory = TemporaryDirectory()

  @Test("see the data as it was when they started, and block nobody") func snapshot() throws {
    let database = try open(directory.file("data.kvs"))
    for word in ["a", "b", "c"] { try database.add(word) }
    let rows = try database.rows(of: "SELECT word FROM words ORDER BY word") { _ in }
    try database.add("d")
    try database.write { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute("DELETE FROM words WHERE word = 'b'")
    }
    var seen: [String] = []
    while let word = try rows.next({ $0.text(0) ?? "" }) { seen.append(word) }
    #expect(seen == ["a", "b", "c"])
    #expect(try database.words() == ["a", "c", "d"])
  }

  @Test("keep one view over several statements") func transaction() throws {
    let database = try open(directory.file("data.kvs"))
    try database.read { (db: borrowing Connection) throws(SQLiteError) in
      #expect(try db.integer("SELECT count(*) FROM words") == 0)
      try database.add("one")
      #expect(try db.integer("SELECT count(*) FROM words") == 0)
    }
    #expect(try database.integer("SELECT count(*) FROM words") == 1)
  }

  @Test("cannot write") func readOnly() throws {
    let database = try open(directory.file("data.kvs"))
    let error = #expect(throws: SQLiteError.self) {
      try database.read { (db: borrowing Connection) throws(SQLiteError) in
        try db.execute("INSERT INTO words (word) VALUES ('x')")
      }
    }
    #expect(error?.kind == .readOnly)
  }

  @Test("stay usable after an error") func recovers() throws {
    let database = try open(directory.file("data.kvs"))
    for _ in 0..<20 {
      #expect(throws: SQLiteError.self) {
        try database.read { (db: borrowing Connection) throws(SQLiteError) in
          try db.execute("SELECT nothing")
        }
      }
    }
    try database.add("one")
    #expect(try database.words() == ["one"])
  }

  @Test("see what another connection writes") func others() throws {
    let path = directory.file("data.kvs")
    let (one, two) = (try open(path), try open(path))
    try one.add("one")
    #expect(try two.words() == ["one"])
    try two.add("two")
    #expect(try one.words() == ["one", "two"])
  }

  @Test("evaluate native functions over a row's bytes") func rowFunctions() throws {
    let database = try open(directory.file("data.kvs"))
    for number in [3, 1, 2] { try database.add("{\"n\":\(number)}") }
    let query = try Query(filter: #"{"n":{"$gt":1}}"#, modifiers: #"{"sort":{"n":1}}"#)
    let matcher = try #require(query.matcher)
    let sorter = try #require(query.sorter)
    let rows = try database.rows(
      of: "SELECT word FROM words WHERE kv_match(word, ?) ORDER BY kv_sort_key(word, ?)"
    ) { (statement) throws(SQLiteError) in
      try statement.bind(.matcher(matcher), at: 1)
      try statement.bind(.sorter(sorter), at: 2)
    }
    var words: [String] = []
    while let word = try rows.next({ $0.text(0) ?? "" }) { words.append(word) }
    #expect(words == [#"{"n":2}"#, #"{"n":3}"#])
    #expect(throws: SQLiteError.self) { try database.integer("SELECT kv_match('x', 1)") }
  }
}
