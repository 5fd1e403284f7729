internal import KVBase
internal import KVServerCore

/// Runs the transactions that write to the data of apps. Safe from any thread.
///
/// Each begins by taking the app's row, and with it the next time of the app's clock: so an app's writes follow one
/// another, on all servers, and their times have the order of their commits. Other apps' do not wait.
final class AppWriter: Sendable {
  let database: PostgresDatabase
  private let clocks: AppClocks
  /// Called after each commit, by the thread that has written.
  private let didCommit: @Sendable () -> Void

  init(
    _ database: PostgresDatabase, _ clocks: AppClocks, didCommit: @escaping @Sendable () -> Void
  ) {
    self.database = database
    self.clocks = clocks
    self.didCommit = didCommit
  }

  /// A transaction with its time, which is later than that of every other write to the app that has committed.
  struct Transaction {
    let connection: PostgresConnection
    let app: Int64
    let now: Timestamp
    /// How many messages of Live Service it has already: no two have the same time.
    var messages = 0

    /// Has a statement run before the commit.
    func enqueue(_ sql: SQL) { connection.enqueue(sql) }

    func run(_ sql: SQL) throws(PostgresError) -> ResultRows { try connection.run(sql) }
  }

  /// Runs `body` in a transaction; it may run again. `reading`: statements that run in the same round trip that takes the
  /// time, after it; `body` is given their rows. `claim`: in whose name; for a session that is none nothing is done. A store that need not survive a power failure is not durable.
  func write<R>(
    app: Int64, for claim: Claim = .principal(.master), reading: [SQL] = [], durably: Bool = true,
    _ body: (Transaction, [ResultRows]) throws(PostgresError) -> R
  ) throws(ServerError) -> R {
    try storage { () throws(PostgresError) in
      try transact(app: app, for: claim, reading: reading, durably: durably, body)
    }
  }

  /// The same for those who want to know what went wrong.
  func transact<R>(
    app: Int64, for claim: Claim, reading: [SQL], durably: Bool = true,
    _ body: (Transaction, [ResultRows]) throws(PostgresError) -> R
  ) throws(PostgresError) -> R {
    var (mark, time): ([UInt8], Int64) = ([], 0)
    let result = try database.write { (connection) throws(PostgresError) in
      mark = randomBytes(16)
      if !durably { connection.enqueue("SET LOCAL synchronous_commit = off") }
      let rows = try connection.runAll(
        [Self.begin(app, for: claim, mark: mark)] + reading)
      guard let first = rows.first, !first.isEmpty else {
        if case .session = claim { throw PostgresError(.noSession, "the session has ended") }
        throw PostgresError(.other, "there is no such app")
      }
      time = first.int64(0, 0)
      let transaction = Transaction(
        connection: connection, app: app, now: Timestamp(milliseconds: time))
      return try body(transaction, Array(rows.dropFirst()))
    } isCommitted: { (connection) throws(PostgresError) in
      try Self.has(mark, at: time, of: app, on: connection)
    }
    clocks.saw(time, of: app)
    didCommit()
    return result
  }

  private static func begin(
    _ app: Int64, for claim: Claim, mark: [UInt8]
  ) -> SQL {
    let hasSession: SQL =
      if case .session(let token) = claim {
        "EXISTS (\(SessionStatements.find(token) as SQL))"
      } else {
        "true"
      }
    return """
      WITH taken AS (
        UPDATE app
        SET clock = greatest(clock + 1, (extract(epoch FROM clock_timestamp()) * 1000)::int8)
        WHERE number = \(bind: app) AND \(hasSession) RETURNING clock)
      INSERT INTO write_mark (app, at, mark) SELECT \(bind: app), clock, \(bind: mark) FROM taken
      RETURNING at
      """
  }

  /// Whether a transaction has committed. Taking the app's row waits until that is decided.
  private static func has(
    _ mark: [UInt8], at time: Int64, of app: Int64, on connection: PostgresConnection
  ) throws(PostgresError) -> Bool {
    let rows = try connection.runAll([
      "SELECT clock FROM app WHERE number = \(bind: app) FOR UPDATE",
      """
      SELECT 1 FROM write_mark
      WHERE app = \(bind: app) AND at = \(bind: time) AND mark = \(bind: mark)
      """,
    ])
    return rows.last?.isEmpty == false
  }
}

/// Runs `body` and turns what goes wrong in PostgreSQL into what a client may know.
func storage<R>(_ body: () throws(PostgresError) -> R) throws(ServerError) -> R {
  do throws(PostgresError) { return try body() } catch { throw ServerError(error) }
}
