import KVBase
import KVSQLite
import KVTestSupport
import Testing

@testable import KVServerCore
@testable import KVServerSQLite

@Suite("Remembered tokens of writes") struct WriteTokensTests {
  private let directory = TemporaryDirectory()

  private func count(_ database: Database) throws -> Int {
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      let rows = try connection.prepare("SELECT count(*) FROM write_token")
      return try rows.step() ? rows.int(0) : 0
    }
  }

  /// Adds tokens with the numbers `numbers`, whose writes are from `time`.
  private func add(
    _ numbers: ClosedRange<Int64>, at time: Int64, to database: Database
  ) throws {
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      for number in numbers {
        try connection.run(
          """
          INSERT INTO write_token (n, app, high, low, owner, at, kind)
          VALUES (\(bind: number), 1, \(bind: number), 0, 0, \(bind: time), 2)
          """)
      }
    }
  }

  private func forget(before limit: Int64, in database: Database) throws -> Bool {
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      try WriteTokens.forget(before: Timestamp(milliseconds: limit), on: connection)
    }
  }

  @Test("are forgotten in steps when they are old")
  func age() throws {
    let database = try testDatabase(in: directory)
    defer { database.close() }
    let step = WriteToken.forgottenAtOnce
    try add(1...(step + 10), at: 1_000, to: database)
    try add((step + 11)...(step + 15), at: 2_000, to: database)
    #expect(try forget(before: 1_500, in: database))
    #expect(try count(database) == 15)
    #expect(try !forget(before: 1_500, in: database))
    #expect(try count(database) == 5)
    #expect(try !forget(before: 1_500, in: database))
  }

  @Test("are forgotten earlier when there are too many")
  func number() throws {
    let database = try testDatabase(in: directory)
    defer { database.close() }
    try add(1...3, at: 2_000, to: database)
    let last = WriteToken.maxCount + 2
    try add(last...last, at: 2_000, to: database)
    #expect(try !forget(before: 1_000, in: database))
    #expect(try count(database) == 2)
  }

  @Test("have keys of one size, which differ with each of their parts")
  func keys() throws {
    let token = try WriteToken("t")
    let keys = [
      token.key(of: "a", in: "b"), token.key(of: "b", in: "a"), token.key(of: "ab", in: ""),
      try WriteToken("at").key(of: "", in: "b"), try WriteToken("u").key(of: "a", in: "b"),
    ]
    #expect(Set(keys).count == keys.count)
    #expect(token.key(of: "a", in: "b") == keys[0])
    let owners: [Principal] = [.app, .master, .user(id: "app"), .user(id: "")]
    #expect(Set(owners.map(WriteToken.owner)).count == 4)
  }
}
