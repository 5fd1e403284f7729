internal import KVBase
internal import KVServerCore

/// A database of PostgreSQL, through a bounded number of connections that threads take turns to use. Safe from any
/// thread; callers wait.
///
/// The server may go at any time, and another one take its place: what was to be read is read again on a new connection,
/// what was to be written is written again unless it may have been committed.
final class PostgresDatabase: Sendable {
  /// How often something is tried before its caller is told.
  private static let maxAttempts = 4
  /// Seconds to wait for a connection that others use.
  private static let maxWait = 10.0
  /// Seconds for an answer where one has failed to come already.
  private static let laterSilence = 5.0
  /// The same for a question that waits for the locks of a lost connection: PostgreSQL lets go of them after ten seconds
  /// (`idle_in_transaction_session_timeout`).
  private static let lockedSilence = 12.0

  private struct State {
    /// Idle connections, the one used last at the end.
    var idle: [Idle] = []
    var open = 0
    /// How many threads wait for a connection.
    var waiting = 0
    var roundTrips = 0
    var isClosed = false
  }

  /// An idle connection: the thread that takes it out of the list is the only one to use it.
  private struct Idle: @unchecked Sendable {
    let connection: PostgresConnection
  }

  private let address: String
  private let setup: SQL
  private let maxConnections: Int
  /// Seconds for an answer; nothing is begun anew afterwards.
  private let silence: Double
  private let state = Monitor(State())

  /// `address`: a URI or a list of keywords, as libpq takes it. `isDurable`: whether a commit waits for the disk. `silence`:
  /// seconds after which a server that does not answer counts as gone.
  init(
    _ address: String, connections: Int, isDurable: Bool,
    silence: Double = PostgresConnection.maxSilence
  ) {
    self.address = address
    self.silence = silence
    maxConnections = connections
    setup = """
      SELECT set_config('lock_timeout', '10s', false),
        set_config('idle_in_transaction_session_timeout', '10s', false),
        set_config('default_transaction_isolation', 'read committed', false),
        set_config('synchronous_commit', \(sql: isDurable ? "current_setting('synchronous_commit')" : "'off'"), false)
      """
  }

  /// A connection of the caller's own.
  func connect() throws(PostgresError) -> PostgresConnection {
    try PostgresConnection(to: address, setup: setup, silence: silence)
  }

  var status: StoreStatus.Pool {
    state.withLock {
      StoreStatus.Pool(
        limit: maxConnections, open: $0.open, idle: $0.idle.count, waiting: $0.waiting,
        roundTrips: $0.roundTrips)
    }
  }

  func close() {
    state.withLockNotifyingAll { state in
      state.isClosed = true
      state.open -= state.idle.count
      state.idle = []
    }
  }

  // MARK: Reading

  /// Runs one statement, again on another connection if the first one is lost.
  func read(
    _ sql: SQL, within budget: WorkBudget = .unlimited
  ) throws(PostgresError) -> ResultRows {
    try repeating(silence: silence) { (connection) throws(PostgresError) in
      try connection.run(sql, within: budget)
    }
  }

  /// Runs statements that have nothing to do with each other, in one round trip; gives the rows of each.
  func readEach(_ statements: [SQL]) throws(PostgresError) -> [ResultRows] {
    try repeating(silence: silence) { (connection) throws(PostgresError) in
      try connection.runAll(statements)
    }
  }

  /// Runs statements that read one state of the database, in one round trip.
  func readTogether(_ statements: [SQL]) throws(PostgresError) -> [ResultRows] {
    try repeating(silence: silence) { (connection) throws(PostgresError) in
      connection.enqueue(Self.beginSnapshot)
      return try Self.together(statements, on: connection)
    }
  }

  private static let beginSnapshot: SQL = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

  /// Runs `body` in a transaction that reads one state of the database; `body` may run again.
  ///
  /// `body` may work on the rows for as long as its request may: the transaction locks nothing that others wait for. The
  /// longest time that a request can be given ends what a lost server leaves behind.
  func snapshot<R>(
    _ body: (PostgresConnection) throws(PostgresError) -> R
  ) throws(PostgresError) -> R {
    try repeating(silence: silence) { (connection) throws(PostgresError) in
      connection.enqueue(Self.beginSnapshot)
      connection.enqueue("SET LOCAL idle_in_transaction_session_timeout = '1h'")
      return try Self.ending(connection) { () throws(PostgresError) in try body(connection) }
    }
  }

  // MARK: Writing

  /// Runs statements that do no harm twice in a transaction, in one round trip.
  func run(_ statements: SQL...) throws(PostgresError) { try run(statements) }

  func run(_ statements: [SQL]) throws(PostgresError) {
    try repeating(silence: silence) { (connection) throws(PostgresError) in
      connection.enqueue("BEGIN")
      _ = try Self.together(statements, on: connection)
    }
  }

  /// Runs `body`, whose transaction it has begun, and commits; `body` may run again, on another connection.
  ///
  /// `isCommitted` is asked, on a new connection, if the answer to the commit was lost: it looks for what the
  /// transaction has written.
  func write<R>(
    _ body: (PostgresConnection) throws(PostgresError) -> R,
    isCommitted: (PostgresConnection) throws(PostgresError) -> Bool
  ) throws(PostgresError) -> R {
    try repeating(silence: silence) { (connection) throws(PostgresError) in
      connection.enqueue("BEGIN")
      let result: R
      do throws(PostgresError) { result = try body(connection) } catch {
        Self.rollBack(connection)
        throw error
      }
      do throws(PostgresError) {
        try connection.run(.commit)
      } catch {
        // A statement that was sent along with the end of the transaction has failed.
        guard connection.isBroken else {
          Self.rollBack(connection)
          throw error
        }
        guard try wasCommitted(isCommitted) else { throw PostgresError(.conflict, error.message) }
      }
      return result
    }
  }

  /// Finds out what became of a commit whose answer was lost.
  private func wasCommitted(
    _ isCommitted: (PostgresConnection) throws(PostgresError) -> Bool
  ) throws(PostgresError) -> Bool {
    do throws(PostgresError) {
      return try repeating(silence: min(silence, Self.lockedSilence)) {
        (connection) throws(PostgresError) in
        try isCommitted(connection)
      }
    } catch {
      throw PostgresError(.commitUnknown, error.message, state: error.state)
    }
  }

  // MARK: Parts

  private static func ending<R>(
    _ connection: PostgresConnection, _ body: () throws(PostgresError) -> R
  ) throws(PostgresError) -> R {
    do throws(PostgresError) {
      let result = try body()
      try connection.run(.commit)
      return result
    } catch {
      rollBack(connection)
      throw error
    }
  }

  /// Runs statements and the end of their transaction, which was begun.
  private static func together(
    _ statements: [SQL], on connection: PostgresConnection
  ) throws(PostgresError) -> [ResultRows] {
    do throws(PostgresError) {
      return try connection.runAll(statements + [.commit]).dropLast()
    } catch {
      rollBack(connection)
      throw error
    }
  }

  private static func rollBack(_ connection: PostgresConnection) {
    if !connection.isBroken { _ = try? connection.run("ROLLBACK") }
  }

  /// Runs `body` until it does not fail for what passes, but not again once a caller has waited for as long as an answer may
  /// take. `silence`: how long that is, in seconds; less after an answer has failed to come.
  private func repeating<R>(
    silence: Double, _ body: (PostgresConnection) throws(PostgresError) -> R
  ) throws(PostgresError) -> R {
    var silence = silence
    let end = Deadline.after(seconds: silence)
    var attempt = 1
    while true {
      do throws(PostgresError) {
        return try withConnection(isNew: attempt > 2, silence: silence, body)
      } catch {
        guard attempt < Self.maxAttempts, !end.hasPassed, Self.isWorthRepeating(error) else {
          throw error
        }
        if error.isSilence { silence = min(silence, Self.laterSilence) }
        attempt += 1
      }
    }
  }

  private static func isWorthRepeating(_ error: PostgresError) -> Bool {
    switch error.kind {
    case .unreachable, .conflict: true
    // A lock that was not to be had has been waited for already.
    case .unavailable: error.state != "55P03"
    case .refused, .commitUnknown, .full, .stopped, .noSession, .evaluation, .other: false
    }
  }

  /// `isNew`: not one that has been idle, which may be as lost as the one before. `silence`: seconds for each answer.
  private func withConnection<R>(
    isNew: Bool, silence: Double, _ body: (PostgresConnection) throws(PostgresError) -> R
  ) throws(PostgresError) -> R {
    let idle = try checkOut()
    let connection: PostgresConnection
    if let idle, !isNew {
      connection = idle.connection
    } else {
      do throws(PostgresError) {
        connection = try PostgresConnection(to: address, setup: setup, silence: silence)
      } catch {
        checkIn(nil, roundTrips: 0)
        throw error
      }
    }
    connection.silence = silence
    let before = connection.roundTrips
    defer {
      checkIn(
        connection.isBroken ? nil : Idle(connection: connection),
        roundTrips: connection.roundTrips - before)
    }
    return try body(connection)
  }

  /// An idle connection, or nil: the caller may open one.
  private func checkOut() throws(PostgresError) -> Idle? {
    var isWaiting = false
    let taken = state.wait(until: .after(seconds: Self.maxWait)) { state -> Idle?? in
      if isWaiting { state.waiting -= 1 }
      isWaiting = false
      if state.isClosed { return nil }
      if let idle = state.idle.popLast() { return .some(idle) }
      guard state.open < maxConnections else {
        state.waiting += 1
        isWaiting = true
        return nil
      }
      state.open += 1
      return .some(nil)
    }
    if isWaiting { state.withLock { $0.waiting -= 1 } }
    guard let taken else { throw PostgresError(.unavailable, "all connections are in use") }
    return taken
  }

  /// Nil: it is closed. `roundTrips`: how many it has made for its last user.
  private func checkIn(_ idle: Idle?, roundTrips: Int) {
    state.withLockNotifyingOne { state in
      state.roundTrips += roundTrips
      if let idle, !state.isClosed { state.idle.append(idle) } else { state.open -= 1 }
    }
  }
}
