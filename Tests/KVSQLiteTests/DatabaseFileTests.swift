import Glibc
import KVSQLite
import KVTestSupport
import Testing

@Suite("Database file") struct DatabaseFileTests {
  let directory = TemporaryDirectory()

  @Test("is made with its directories, for nobody but its owner") func modes() throws {
    let path = directory.file("a/b/data.kvs")
    let database = try open(path)
    try database.add("one")
    #expect(permissions(of: path) == 0o600)
    #expect(permissions(of: path + "-wal") == 0o600)
    #expect(permissions(of: path + "-shm") == 0o600)
    #expect(permissions(of: directory.file("a")) == 0o700)
    #expect(permissions(of: directory.file("a/b")) == 0o700)
  }

  @Test("keeps its rows when it is opened again") func reopens() throws {
    let path = directory.file("data.kvs")
    try open(path).add("one")
    #expect(try open(path).words() == ["one"])
  }

  @Test("is carried forward by the steps it lacks") func migrates() throws {
    let path = directory.file("data.kvs")
    let old = try open(path, migrations: [migrations[0]])
    try old.add("one")
    old.close()
    let new = try open(path)
    #expect(try new.integer("SELECT seen FROM words") == 0)
    #expect(try new.integer("PRAGMA user_version") == 2)
  }

  @Test("stays at its version when a step fails") func failedMigration() throws {
    let path = directory.file("data.kvs")
    try open(path, migrations: [migrations[0]]).close()
    let failing = [
      migrations[0], .init(sql: "CREATE TABLE half (n); CREATE TABLE words (n)"),
    ]
    #expect(throws: SQLiteError.self) { try open(path, migrations: failing) }
    let database = try open(path, migrations: [migrations[0]])
    #expect(try database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0)
  }

  @Test(
    "is refused and left untouched when it is not ours",
    arguments: ["text", "short", "foreign", "newer", "newer in the log", "truncated", "garbled"])
  func refuses(_ kind: String) throws {
    let path = directory.file("data.kvs")
    try make(kind, at: path)
    let before = contents(of: path)
    let error = #expect(throws: SQLiteError.self) { try open(path) }
    #expect(error?.kind == .corrupt)
    let isUntouched = contents(of: path) == before
    #expect(isUntouched)
  }

  private func make(_ kind: String, at path: String) throws {
    switch kind {
    case "text": write([UInt8](repeating: 65, count: 5000), to: path)
    case "short": write([UInt8](repeating: 65, count: 50), to: path)
    case "foreign":
      try Database(.init(path: path, applicationId: 7), migrations: migrations).add("one")
    case "newer":
      try open(path, migrations: migrations + [.init(sql: "CREATE TABLE more (n)")]).add("one")
    case "newer in the log":
      try open(path).add("one")
      // A process that died leaves its log behind: keep copies while it is open.
      let newer = try open(path, migrations: migrations + [.init(sql: "CREATE TABLE more (n)")])
      let (file, log) = (contents(of: path), contents(of: path + "-wal"))
      newer.close()
      write(file ?? [], to: path)
      write(log ?? [], to: path + "-wal")
    case "truncated":
      let database = try open(path)
      for number in 0..<2000 { try database.add("word \(number)") }
      database.close()
      write(Array(contents(of: path)?.prefix(8192) ?? []), to: path)
    default:
      try open(path).add("one")
      var bytes = contents(of: path) ?? []
      for index in 100..<bytes.count { bytes[index] = 0xA5 }
      write(bytes, to: path)
    }
  }

  @Test("is made by many at once") func concurrentOpening() throws {
    let path = directory.file("data.kvs")
    let errors = concurrently(8) { number -> (any Error)? in
      do {
        try open(path).add("word \(number)")
        return nil
      } catch { return error }
    }
    #expect(errors.isEmpty)
    #expect(try open(path).words().count == 8)
  }

  @Test("tells a directory that cannot be made") func unwritable() throws {
    write([1], to: directory.file("plain"))
    #expect(throws: SQLiteError.self) { try open(directory.file("plain/data.kvs")) }
  }
}
