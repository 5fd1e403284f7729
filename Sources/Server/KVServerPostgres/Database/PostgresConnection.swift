internal import CPostgres
internal import Glibc
internal import KVBase

/// A connection to PostgreSQL. One thread at a time.
///
/// Statements without a waiter are sent along with the next one that has a waiter, in one round trip
/// (libpq's pipeline). Each is prepared in the round trip that first uses it. All values travel in binary format.
final class PostgresConnection {
  /// Seconds after which a server that does not answer counts as gone.
  static let maxSilence = 15.0
  /// The same for this connection.
  var silence: Double
  /// How often it is asked, while waiting, whether anybody still wants the answer, in milliseconds.
  private static let probeMilliseconds: Int32 = 50

  private let connection: OpaquePointer
  private var queued: [SQL] = []
  private var prepared = PreparedStatements()
  /// How often it has waited for the server's answers.
  private(set) var roundTrips = 0
  /// Whether it is of no use any more.
  private(set) var isBroken = false

  /// Connects. `setup`: a statement to begin with.
  init(
    to address: String, setup: SQL, silence: Double = maxSilence
  ) throws(PostgresError) {
    self.silence = silence
    // What the address says goes over what stands before it.
    let options = [
      ("application_name", "kvstored"), ("connect_timeout", "5"), ("tcp_user_timeout", "15000"),
      ("keepalives_idle", "15"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
      ("target_session_attrs", "read-write"), ("dbname", address),
    ]
    var names: [UnsafePointer<CChar>?] = options.map { UnsafePointer(strdup($0.0)) } + [nil]
    var values: [UnsafePointer<CChar>?] = options.map { UnsafePointer(strdup($0.1)) } + [nil]
    defer { for word in names + values { free(UnsafeMutableRawPointer(mutating: word)) } }
    guard let connection = PQconnectdbParams(&names, &values, 1) else {
      throw PostgresError(.other, "there is no memory left")
    }
    self.connection = connection
    // Else they go to standard error.
    _ = PQsetNoticeProcessor(connection, { _, _ in }, nil)
    guard PQstatus(connection) == CONNECTION_OK, PQsetnonblocking(connection, 1) == 0,
      PQenterPipelineMode(connection) == 1
    else {
      throw PostgresError(.refused, Self.message(of: connection))
    }
    try run(setup)
    try watchForItsEnd()
  }

  /// Has the server look, while it runs a statement, whether this connection still exists, and end the statement if not.
  ///
  /// So a statement without a waiter is ended by closing its connection. `PQcancel`, which asks for that, waits for
  /// the server without a limit: it hangs where packets vanish. Servers that cannot look (on Windows, say) run it to its end; a
  /// commit that waits for a standby goes on in any case.
  private func watchForItsEnd() throws(PostgresError) {
    do throws(PostgresError) {
      try run(("SET client_connection_check_interval = '500ms'" as SQL).plannedEachTime)
    } catch {
      if isBroken { throw error }
    }
  }

  deinit { PQfinish(connection) }

  /// Has a statement sent with the next one. What goes wrong with it is thrown there.
  func enqueue(_ sql: SQL) { queued.append(sql) }

  /// Sends a statement, and those that were enqueued before it; gives the rows of this one.
  @discardableResult
  func run(_ sql: SQL, within budget: WorkBudget = .unlimited) throws(PostgresError) -> ResultRows {
    let rows = try runAll([sql], within: budget)
    guard let last = rows.last else { throw PostgresError(.other, "there was no result") }
    return last
  }

  /// The same for several statements; gives the rows of each.
  func runAll(
    _ statements: [SQL], within budget: WorkBudget = .unlimited
  ) throws(PostgresError) -> [ResultRows] {
    let all = queued + statements
    queued = []
    if isBroken { throw PostgresError(.unreachable, "the connection is lost") }
    let known = prepared.count
    do throws(PostgresError) {
      var isWanted: [Bool] = []
      for sql in all { try send(sql, &isWanted) }
      guard PQpipelineSync(connection) == 1 else { throw lost() }
      roundTrips += 1
      let rows = try receive(isWanted, within: budget)
      return Array(rows.suffix(statements.count))
    } catch {
      prepared.forget(after: known)
      if error.endsConnection { isBroken = true }
      throw error
    }
  }

  /// Waits for notifications of channels that are listened to, for so many milliseconds at the most. Gives what they
  /// say.
  func notifications(within milliseconds: Int32) throws(PostgresError) -> [String] {
    var entry = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
    _ = poll(&entry, 1, milliseconds)
    guard PQconsumeInput(connection) == 1 else { throw lost() }
    var texts: [String] = []
    while let notification = PQnotifies(connection) {
      texts.append(String(cString: notification.pointee.extra))
      PQfreemem(notification)
    }
    return texts
  }

  // MARK: Parts

  /// Sends a statement, and before it, if that is new here, what prepares it. Adds to `isWanted` whether the result of each is
  /// wanted by the caller.
  private func send(_ sql: SQL, _ isWanted: inout [Bool]) throws(PostgresError) {
    isWanted.append(true)
    guard sql.isPrepared else { return try execute(sql, name: nil) }
    switch prepared.use(sql) {
    case .known(let name): try execute(sql, name: name)
    case .new(let name, let replacesAll):
      let others = [Bool](repeating: false, count: replacesAll ? 2 : 1)
      isWanted.insert(contentsOf: others, at: isWanted.count - 1)
      if replacesAll { try execute(("DEALLOCATE ALL" as SQL).plannedEachTime, name: nil) }
      let types = sql.values.map(\.type)
      guard PQsendPrepare(connection, name, sql.text, Int32(types.count), types) == 1 else {
        throw lost()
      }
      try execute(sql, name: name)
    }
  }

  /// `name`: that of the prepared statement; nil: it is parsed as well.
  private func execute(_ sql: SQL, name: String?) throws(PostgresError) {
    let count = Int32(sql.values.count)
    var block: [UInt8] = []
    var offsets: [Int?] = []
    var lengths: [Int32] = []
    // The values lie in one block, each at its offset; an empty one needs an address of its own as well.
    for value in sql.values {
      let start = block.count
      offsets.append(value.append(to: &block) ? start : nil)
      lengths.append(Int32(clamping: block.count - start))
      block.append(0)
    }
    let formats = [Int32](repeating: 1, count: sql.values.count)
    let isSent = block.withUnsafeBytes { bytes in
      let pointers = offsets.map { offset in
        offset.flatMap { bytes.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
      }
      if let name {
        return PQsendQueryPrepared(connection, name, count, pointers, lengths, formats, 1) == 1
      }
      return PQsendQueryParams(
        connection, sql.text, count, sql.values.map(\.type), pointers, lengths, formats, 1) == 1
    }
    guard isSent else { throw lost() }
  }

  /// Reads the results of what was sent and of the end of the pipeline, and gives those that are wanted. Throws the first
  /// error, when all is read.
  private func receive(
    _ isWanted: [Bool], within budget: WorkBudget
  ) throws(PostgresError) -> [ResultRows] {
    var rows: [ResultRows] = []
    var received = 0
    var problem: PostgresError?
    while true {
      try wait(within: budget)
      guard let result = PQgetResult(connection) else { continue }
      switch PQresultStatus(result) {
      case PGRES_PIPELINE_SYNC:
        PQclear(result)
        if let problem { throw problem }
        guard received == isWanted.count else { throw PostgresError(.other, "a result is missing") }
        return rows
      case PGRES_FATAL_ERROR:
        let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
        let error =
          state.map { PostgresError(state: $0, message: Self.line(PQresultErrorMessage(result))) }
          ?? lost()
        PQclear(result)
        problem = problem ?? error
        if PQstatus(connection) != CONNECTION_OK || state == nil {
          isBroken = true
          throw problem ?? error
        }
      default:
        let result = ResultRows(result)
        if received < isWanted.count, isWanted[received] { rows.append(result) }
        received += 1
      }
    }
  }

  /// Waits until a result can be read without waiting.
  private func wait(within budget: WorkBudget) throws(PostgresError) {
    let limit = Deadline.after(seconds: budget === WorkBudget.unlimited ? silence : 3600)
    while true {
      let unsent = PQflush(connection)
      guard unsent >= 0 else { throw lost() }
      if unsent == 0, PQisBusy(connection) == 0 { return }
      var entry = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
      if unsent > 0 { entry.events |= Int16(POLLOUT) }
      let ready = poll(&entry, 1, Self.probeMilliseconds)
      if ready > 0, entry.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
        guard PQconsumeInput(connection) == 1 else { throw lost() }
      } else if budget.exhaustion != nil {
        hangUp()
        throw PostgresError(.stopped, "the request has ended")
      } else if limit.hasPassed {
        hangUp()
        throw PostgresError(.unreachable, "the server does not answer", isSilence: true)
      }
    }
  }

  /// Tells the server, without waiting, that the client is gone, even if this is still referenced.
  private func hangUp() { shutdown(PQsocket(connection), Int32(SHUT_RDWR)) }

  private func lost() -> PostgresError {
    isBroken = true
    return PostgresError(.unreachable, Self.message(of: connection))
  }

  private static func message(of connection: OpaquePointer) -> String {
    line(PQerrorMessage(connection))
  }

  private static func line(_ text: UnsafeMutablePointer<CChar>?) -> String {
    let text = text.map { String(cString: $0) } ?? ""
    return text.split(separator: "\n").joined(separator: "; ")
  }
}
