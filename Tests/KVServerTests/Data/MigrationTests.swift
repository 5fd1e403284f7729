internal import KVBase
internal import KVTestSupport
import Testing

@testable import KVQuery
@testable import KVServerCore
@testable import KVServerPostgres
@testable import KVServerSQLite

/// From SQLite to PostgreSQL, without the program around it. One test after the other: a database takes one move at a time,
/// whichever of its schemas it goes to.
@Suite("The move of data to another store", .serialized) final class MigrationTests {
  private let directory = TemporaryDirectory()
  private let storage: String
  private let source: SQLiteStore
  private let app: Int64
  private let books: CollectionKey
  private var random = Seed()

  init() throws {
    storage = try TestStorage.schema(for: Identifier.object())
    var settings = SQLiteStore.Settings()
    settings.historyDays = 5
    source = try SQLiteStore(in: directory.path, settings, log: Log(.error))
    app = try source.app("kid")
    books = CollectionKey(app: app, name: "books")
  }

  deinit { source.close() }

  // MARK: Parts

  private func write(_ writes: [EntityWrite]) throws {
    let results = try source.entities.perform(
      writes.map { .success($0) }, in: books, for: .principal(.master))
    for result in results { _ = try result.get() }
  }

  /// Writes entities with these numbers, whose texts nobody could guess.
  private func put(_ numbers: some Sequence<Int>) throws {
    let bodies = numbers.map { number in
      let text = String(repeating: "ü\\u0000 ", count: Int.random(in: 0..<40, using: &random))
      return (
        number,
        #"{"n":\#(number).0e0,"text":"\#(text)\#(UInt64.random(in: 0...9, using: &random))"}"#
      )
    }
    try write(
      bodies.map { number, body in
        .put(try Service.draft(Payload(Array(body.utf8)), id: "e\(number)"), if: .none)
      })
  }

  private func remove(_ numbers: some Sequence<Int>) throws {
    try write(numbers.map { .delete(id: "e\($0)", if: .none) })
  }

  /// Runs `body` with what moves the data to the database.
  private func migrating<R>(
    _ body: (PostgresTransfer, Migration) throws -> R
  ) throws -> R {
    let target = try PostgresTransfer(storage, for: source.epoch)
    defer { target.close() }
    return try body(target, Migration(from: source.transfer(), to: target) { _ in })
  }

  private func run(_ sql: SQL) throws {
    _ = try PostgresConnection(to: storage, setup: sql)
  }

  /// The bodies of all entities in the order of their ids.
  private func bodies(_ store: any ServerStore) throws -> [String] {
    let key = CollectionKey(app: try store.app("kid"), name: "books")
    return try (0..<2_000).compactMap { number -> String? in
      do throws(ServerError) {
        let found = try store.entities.get("e\(number)", in: key, for: .principal(.master))
        return found.body.withBytes { String(decoding: $0, as: UTF8.self) }
      } catch {
        guard error.code == .entityNotFound else { throw error }
        return nil
      }
    }
  }

  private func expectTheSame() throws {
    let target = try PostgresStore(storage, .init(), log: Log(.error))
    defer { target.close() }
    #expect(try bodies(target) == bodies(source), "\(random)")
    #expect(target.epoch == source.epoch)
  }

  // MARK: Tests

  @Test("brings what is there byte for byte, and counts it")
  func everything() throws {
    try put(0..<700)
    try remove(stride(from: 0, to: 700, by: 9))
    try source.indexes.add(try IndexSpec(parsing: #"{"keys":{"n":1}}"#), to: books)
    while try source.indexes.buildNext() {}
    let counts = try migrating { target, migration in
      #expect(try migration.copy() == 622 + 78)
      return try migration.finish()
    }
    #expect(counts.first { $0.table == .entities && $0.collection == "books" }?.rows == 622)
    #expect(counts.first { $0.table == .deletions && $0.collection == "books" }?.rows == 78)
    try expectTheSame()
    let target = try PostgresStore(storage, .init(), log: Log(.error))
    defer { target.close() }
    let key = CollectionKey(app: try target.app("kid"), name: "books")
    #expect(try target.indexes.indexes(of: key).map(\.state) == [.ready])
  }

  @Test("copies in later runs only what has changed since, and removes what has gone")
  func again() throws {
    try put(0..<600)
    let first = try migrating { _, migration in (try migration.copy(), try migration.copy()) }
    #expect(first == (600, 0))
    try put([5, 17, 1_000])
    try remove([6, 7, 8, 9])
    // Deleted and made again: the row is another one, under the old id.
    try remove([300])
    try put([300])
    try migrating { _, migration in
      let deletions = 5
      #expect(try migration.copy() == 4 + deletions)
      _ = try migration.finish()
    }
    try expectTheSame()
  }

  @Test("can be broken off after any transaction, and begun again")
  func brokenOff() throws {
    try put(0..<1_300)
    try remove(stride(from: 0, to: 1_300, by: 4))
    var (failures, isComplete) = (0, false)
    while !isComplete, failures < 10 {
      try migrating { target, _ in
        let unreliable = UnreliableTarget(target, changes: 1)
        let migration = Migration(from: source.transfer(), to: unreliable) { _ in }
        do throws(TransferFailure) {
          try migration.copy()
          isComplete = true
        } catch {
          failures += 1
          #expect(error.description == "broken off")
        }
      }
      if !isComplete {
        #expect(throws: PostgresStore.Failure.self) {
          try PostgresStore(storage, .init(), log: Log(.error))
        }
      }
    }
    #expect((2...9).contains(failures), "each run got one transaction further")
    try migrating { _, migration in _ = try migration.finish() }
    try expectTheSame()
  }

  @Test(
    "names the first row that differs, and then nothing is taken for complete",
    arguments: [
      "UPDATE entity SET body = body || ' ' WHERE id = 'e3'",
      "UPDATE entity SET gr = true WHERE id = 'e3'", "DELETE FROM entity WHERE id = 'e3'",
    ])
  func differences(_ damage: String) throws {
    try put(0..<10)
    try migrating { target, migration in
      try migration.copy()
      try run("\(sql: damage)")
      let error = #expect(throws: TransferFailure.self) { try migration.finish() }
      #expect(error?.description == "kid/books: row 4 of entities differs")
    }
    #expect(throws: PostgresStore.Failure.self) {
      try PostgresStore(storage, .init(), log: Log(.error))
    }
    try migrating { _, migration in
      try migration.copy()
      _ = try migration.finish()
    }
    try expectTheSame()
  }

  @Test(
    "is refused where there is data, and to the second of two to the same tables at the same time")
  func refused() throws {
    try put(0..<3)
    try migrating { _, migration in
      #expect(throws: TransferFailure.self) { try PostgresTransfer(storage) }
      // Another schema of the database is somebody else's.
      try PostgresTransfer(try TestStorage.schema(for: Identifier.object())).close()
      try migration.copy()
      _ = try migration.finish()
    }
    for epoch in [nil, "another"] {
      let error = #expect(throws: TransferFailure.self) {
        try PostgresTransfer(storage, for: epoch)
      }
      #expect(error?.description == "the database has data already, or a server uses it")
    }
  }

  @Test("knows when an earlier run has finished, and when the source was written to since")
  func finished() throws {
    try put(0..<3)
    try migrating { _, migration in
      let isFinished = try migration.isFinished()
      #expect(!isFinished)
      try migration.copy()
      _ = try migration.finish()
    }
    let target = try PostgresStore(storage, .init(), log: Log(.error))
    defer { target.close() }
    let key = CollectionKey(app: try target.app("kid"), name: "books")
    _ = try target.entities.perform(
      .delete(id: "e1", if: .none), in: key, for: .principal(.master))
    try migrating { _, migration in
      let isFinished = try migration.isFinished()
      #expect(isFinished)
      #expect(throws: TransferFailure.self) { try migration.copy() }
    }
    try put([4])
    try migrating { _, migration in
      let error = #expect(throws: TransferFailure.self) { try migration.isFinished() }
      #expect(error?.description.contains("written to here since") == true)
    }
  }

  @Test("brings the tokens of writes along")
  func tokens() throws {
    let token = try WriteToken("t")
    var draft = try Service.draft(Payload(Array("{}".utf8)), id: "e1")
    draft.token = token
    try write([.put(draft, if: .none)])
    try migrating { _, migration in
      try migration.copy()
      _ = try migration.finish()
    }
    let target = try PostgresStore(storage, .init(), log: Log(.error))
    defer { target.close() }
    let key = CollectionKey(app: try target.app("kid"), name: "books")
    let again = try target.entities.perform(
      .put(draft, if: .isMissing), in: key, for: .principal(.master))
    #expect(again?.isNew == true)
  }
}

/// A target that ends after so many transactions, as if the program had been killed.
private final class UnreliableTarget: TransferTarget {
  private let target: PostgresTransfer
  private var changes: Int

  init(_ target: PostgresTransfer, changes: Int) {
    self.target = target
    self.changes = changes
  }

  var epoch: String { target.epoch }

  func apps() throws(TransferFailure) -> [String] { try target.apps() }

  func collections(of app: String) throws(TransferFailure) -> [TransferCollection] {
    try target.collections(of: app)
  }

  func clock(of app: String) throws(TransferFailure) -> TransferClock { try target.clock(of: app) }

  func rows(
    of table: TransferTable, in place: TransferPlace, after key: [TransferValue]?
  ) throws(TransferFailure) -> [TransferRow] {
    try target.rows(of: table, in: place, after: key)
  }

  func prepare(
    _ app: String, _ collections: [TransferCollection]
  ) throws(TransferFailure) { try target.prepare(app, collections) }

  func change(
    _ table: TransferTable, in place: TransferPlace, removing keys: [[TransferValue]],
    adding rows: [TransferRow]
  ) throws(TransferFailure) {
    guard changes > 0 else { throw TransferFailure("broken off") }
    changes -= 1
    try target.change(table, in: place, removing: keys, adding: rows)
  }

  func complete(
    _ app: String, _ collections: [TransferCollection], clock: TransferClock
  ) throws(TransferFailure) { try target.complete(app, collections, clock: clock) }

  func finish(epoch: String, latest: Int64) throws(TransferFailure) {
    try target.finish(epoch: epoch, latest: latest)
  }

  var movedUntil: Int64? { target.movedUntil }

  func lastWrite(to app: String) throws(TransferFailure) -> Int64 {
    try target.lastWrite(to: app)
  }
}
