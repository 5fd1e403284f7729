internal import KVBase
internal import KVTestSupport
internal import Synchronization
import Testing

@testable import KVServerCore
@testable import KVServerPostgres

@Suite("Reading for many at once") struct SharedReaderTests {
  private let database: PostgresDatabase
  private let reader: SharedReader

  init() throws {
    let storage = try TestStorage.schema(for: Identifier.object())
    database = PostgresDatabase(storage, connections: 4, isDurable: true)
    reader = SharedReader(database)
  }

  /// The answers to statements, each asked once; nil where the reader has refused it.
  private func answers(
    _ statements: [SQL], of reader: SharedReader? = nil
  ) -> [Result<Int64, PostgresError>?] {
    let reader = reader ?? self.reader
    return asked(statements, of: reader)()
  }

  /// Asks for all of them, and gives what waits for the answers.
  private func asked(
    _ statements: [SQL], of reader: SharedReader
  ) -> () -> [Result<Int64, PostgresError>?] {
    let answers = Monitor([Int: Result<Int64, PostgresError>]())
    var refused: Set<Int> = []
    for (index, sql) in statements.enumerated() {
      let isAccepted = reader.read(sql) { rows in
        answers.withLockNotifyingAll { $0[index] = rows.map { $0.int64(0, 0) } }
      }
      if !isAccepted { refused.insert(index) }
    }
    let count = statements.count - refused.count
    return {
      answers.wait(until: .after(seconds: 60)) { answers in
        answers.count == count ? statements.indices.map { answers[$0] } : nil
      } ?? []
    }
  }

  /// Statements that go ahead of others in `answersTogether`: one more than go together, so that each thread takes one of them.
  private static let held = 33

  /// The answers to `held` statements and to these, all of which have come before one is answered: the first ones wait for a
  /// lock until then.
  private func answersTogether(_ statements: [SQL]) throws -> [Result<Int64, PostgresError>?] {
    let key = Int64.random(in: .min...(.max))
    let other = try PostgresConnection(
      to: try TestStorage.schema(for: Identifier.object()),
      setup: "SELECT pg_advisory_lock(\(bind: key))")
    let waiting: SQL = "SELECT 0::int8 FROM pg_advisory_xact_lock_shared(\(bind: key))"
    let answers = asked([SQL](repeating: waiting, count: Self.held) + statements, of: reader)
    try other.run("SELECT pg_advisory_unlock(\(bind: key))")
    return answers()
  }

  @Test("Each is given its own rows, in far fewer round trips than there are statements")
  func ownRows() throws {
    let before = database.status.roundTrips
    let found = try answersTogether((0..<200).map { "SELECT \(bind: $0)::int8" })
    #expect(try found.dropFirst(Self.held).map { try $0?.get() } == Array(0..<200))
    #expect(database.status.roundTrips - before < 100)
  }

  @Test("A statement that fails takes no other along")
  func failure() throws {
    let found = answers((0..<30).map { "SELECT 10 / (\(bind: $0)::int8 - 7)" })
    for (divisor, answer) in found.enumerated() {
      if divisor == 7 {
        #expect(throws: PostgresError.self) { _ = try answer?.get() }
      } else {
        #expect(try answer?.get() == Int64(10 / (divisor - 7)))
      }
    }
  }

  @Test("One thread, where the system gives no more, answers as well, and goes on")
  func oneThread() throws {
    let reader = SharedReader(database, threads: 1)
    defer { reader.close() }
    let first: SQL = "SELECT 0::int8 FROM pg_sleep(0.2)"
    let found = answers([first] + (1..<60).map { "SELECT \(bind: $0)::int8" }, of: reader)
    #expect(try found.map { try $0?.get() } == Array(0..<60))
    #expect(try answers(["SELECT 60::int8"], of: reader).map { try $0?.get() } == [60])
  }

  @Test("More than may wait are refused, and those that were not are answered")
  func tooMany() throws {
    let found = try answersTogether((0..<2000).map { "SELECT \(bind: $0)::int8" })
    let answered = found.compactMap { try? $0?.get() }
    #expect(answered.count >= 256)
    #expect(answered.count < 2000)
  }

  @Test("While there is no answer, those who wait behind the first ones are told with them")
  func outage() throws {
    let storage = try TestStorage.schema(for: Identifier.object())
    let database = PostgresDatabase(storage, connections: 4, isDurable: true, silence: 5)
    let reader = SharedReader(database)
    defer { reader.close() }
    let key = Int64.random(in: .min...(.max))
    let other = try PostgresConnection(
      to: storage, setup: "SELECT pg_advisory_lock(\(bind: key))")
    let waiting: SQL = "SELECT 1::int8 FROM pg_advisory_xact_lock_shared(\(bind: key))"
    let found = answers([SQL](repeating: waiting, count: 250), of: reader)
    #expect(found.count == 250)
    for answer in found { #expect(answer.flatMap { $0.failure }?.kind == .unreachable) }
    // They would be eight at least.
    #expect(database.status.roundTrips < 6)
    try other.run("SELECT pg_advisory_unlock(\(bind: key))")
    #expect(try answers([waiting], of: reader).first??.get() == 1)
  }

  @Test("What waits when it is closed is answered; afterwards nothing is taken")
  func closing() {
    let count = Atomic(0)
    for _ in 0..<20 {
      _ = reader.read("SELECT 1") { _ in count.add(1, ordering: .relaxed) }
    }
    reader.close()
    #expect(count.load(ordering: .relaxed) == 20)
    #expect(!reader.read("SELECT 1") { _ in })
  }

  @Test("A connection that is lost is replaced, and nobody is told")
  func lostConnection() throws {
    #expect(try answers(["SELECT 1::int8"]).first??.get() == 1)
    let others: SQL = """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE application_name = 'kvstored' AND pid <> pg_backend_pid() AND query LIKE 'SELECT 1::int8%'
      """
    let other = PostgresDatabase(
      try TestStorage.schema(for: Identifier.object()), connections: 1, isDurable: true)
    _ = try other.read(others)
    #expect(try answers(["SELECT 2::int8"]).first??.get() == 2)
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
