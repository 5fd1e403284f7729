import KVQuery
import KVSQLite
import KVSync
import KVTestSupport
import Testing

@testable import KVStorage

@Suite("How many entities a step of filling an index adds") struct FillPaceTests {
  private static let quick: Int64 = 1_000_000
  private static let slow: Int64 = 300_000_000

  private let directory = TemporaryDirectory()

  private func open() throws -> Database {
    try Database(
      Database.Configuration(path: directory.file("data.kvs"), applicationId: 1),
      migrations: [Database.Migration(sql: "CREATE TABLE words (word TEXT)")])
  }

  /// Runs a step that writes something, and gives how many entities it would add.
  private func step(
    _ pace: inout FillPace, _ database: Database, takes nanoseconds: Int64 = quick
  ) throws -> Int64 {
    let count = try database.write(durably: false) {
      (db: borrowing Connection) throws(SQLiteError) in
      let count = pace.begin(on: db)
      try db.run("INSERT INTO words VALUES ('step')")
      pace.end(on: db)
      return count
    }
    pace.took(nanoseconds)
    return count
  }

  private func add(to database: Database) throws {
    try database.write(durably: false) {
      (db: borrowing Connection) throws(SQLiteError) in
      try db.run("INSERT INTO words VALUES ('other')")
    }
  }

  @Test("is twice as many each time while nobody else writes, up to a limit") func alone() throws {
    let database = try open()
    var pace = FillPace()
    let counts = try (0..<6).map { _ in try step(&pace, database) }
    #expect(counts == [2_000, 4_000, 8_000, 16_000, 20_000, 20_000])
  }

  @Test("is few as soon as anybody has written", arguments: [true, false])
  func others(areOfThisProcess: Bool) throws {
    let database = try open()
    let other = areOfThisProcess ? database : try open()
    var pace = FillPace()
    for _ in 0..<3 { _ = try step(&pace, database) }
    try add(to: other)
    #expect(try step(&pace, database) == 2_000)
    #expect(try step(&pace, database) == 4_000)
  }

  @Test("is fewer when a step took long, but not fewer than at first") func slowSteps() throws {
    let database = try open()
    var pace = FillPace()
    _ = try step(&pace, database)
    #expect(try step(&pace, database, takes: Self.slow) == 4_000)
    #expect(try step(&pace, database, takes: Self.slow) == 2_000)
    #expect(try step(&pace, database) == 2_000)
  }

  @Test("grows with the steps of an index, until an entity is saved") func index() throws {
    let storage = try Storage(path: directory.file("index.kvs"), durability: .normal)
    defer { storage.close() }
    try storage.store((0..<12_000).map { #"{"_id":"\#($0)","n":\#($0 % 7)}"# })
    let spec = try IndexSpec(parsing: #"{"keys":{"n":1}}"#)
    let index = try storage.write(to: "c") { (db, change) throws(SQLiteError) in
      try Storage.add(spec, table: change.table, on: db)
    }
    var pace = FillPace(longest: .max)
    func step() throws -> Int64? {
      try storage.step(&pace) { (db, count) throws(SQLiteError) in
        let isLast = try index.fill(count, on: db)
        return (try db.integer("SELECT progress FROM indexes"), isLast)
      }
    }
    let alone = try [step(), step()]
    #expect(alone == [2_000, 6_000])
    try storage.save(#"{"_id":"1","n":8}"#)
    let afterwards = try [step(), step(), step()]
    // At the end it is NULL.
    #expect(afterwards == [8_000, 12_000, 0])
  }
}
