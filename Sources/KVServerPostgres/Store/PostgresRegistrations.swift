internal import KVBase
internal import KVServerCore

/// The registrations and subscriptions of live data. Every change is noted with the time of its commit, so that the other
/// servers hear of it. Safe from any thread.
final class PostgresRegistrations: RegistrationStore {
  private let writer: AppWriter
  private var database: PostgresDatabase { writer.database }

  init(_ writer: AppWriter) { self.writer = writer }

  func all() throws(ServerError) -> [LiveRegistration] {
    try storage { () throws(PostgresError) in
      Self.registrations(try database.read("\(Self.select) ORDER BY n"))
    }
  }

  func forgetEnded(at now: Int64) throws(ServerError) {
    try storage { () throws(PostgresError) in
      try database.run(
        "\(Self.delete("own.session IS NOT NULL AND NOT EXISTS (SELECT 1 FROM session WHERE token = own.session)"))",
        "UPDATE live SET seen = \(bind: now) WHERE collection = '' AND seen IS NULL")
    }
  }

  func forget(seenBefore moment: Int64) throws(ServerError) {
    try storage { () throws(PostgresError) in
      try database.run(Self.delete("own.seen < \(bind: moment)"))
    }
  }

  func add(_ row: LiveRegistration) throws(ServerError) {
    try change(row.user, of: row.app) {
      """
      INSERT INTO live (app, usr, device, collection)
      VALUES (\(bind: row.app), \(bind: row.user), \(bind: row.device), \(bind: row.collection))
      ON CONFLICT DO NOTHING
      """
    }
  }

  func register(
    _ device: String, of user: String, app: Int64, session token: String, at now: Int64
  ) throws(ServerError) {
    try change(user, of: app) {
      """
      INSERT INTO live (app, usr, device, collection, session, seen)
      VALUES (\(bind: app), \(bind: user), \(bind: device), '', \(bind: NewSession.hash(token)),
        \(bind: now))
      ON CONFLICT (app, usr, device, collection)
      DO UPDATE SET session = excluded.session, seen = excluded.seen
      """
    }
  }

  func recordActivity(
    _ device: String, of user: String, app: Int64, seen now: Int64
  ) throws(ServerError) {
    try change(user, of: app) {
      """
      UPDATE live SET seen = \(bind: now)
      WHERE \(Self.isOf(user, app)) AND device = \(bind: device) AND collection = ''
      """
    }
  }

  func devices(
    of user: String, app: Int64, in sessions: SessionSubset
  ) throws(ServerError) -> [String] {
    let isWanted: SQL =
      switch sessions {
      case .one(let token): "session = \(bind: NewSession.hash(token))"
      case .allBut(let token?): "session <> \(bind: NewSession.hash(token))"
      case .allBut(nil): "true"
      }
    return try texts(
      """
      SELECT device FROM live WHERE \(Self.isOf(user, app)) AND collection = '' AND \(isWanted)
      """)
  }

  func remove(_ row: LiveRegistration) throws(ServerError) {
    try change(row.user, of: row.app) {
      """
      DELETE FROM live WHERE \(Self.isOf(row.user, row.app)) AND device = \(bind: row.device)
        AND collection = \(bind: row.collection)
      """
    }
  }

  func remove(device: String, of user: String, app: Int64) throws(ServerError) {
    try change(user, of: app) {
      "DELETE FROM live WHERE \(Self.isOf(user, app)) AND device = \(bind: device)"
    }
  }

  func removeAll(of user: String, app: Int64, collection: String) throws(ServerError) {
    try change(user, of: app) {
      "DELETE FROM live WHERE \(Self.isOf(user, app)) AND collection = \(bind: collection)"
    }
  }

  func users(of collection: String, app: Int64) throws(ServerError) -> [String] {
    try texts(
      """
      SELECT DISTINCT usr FROM live WHERE app = \(bind: app) AND collection = \(bind: collection)
      """)
  }

  func removeAll(of user: String, app: Int64) throws(ServerError) {
    try change(user, of: app) { "DELETE FROM live WHERE \(Self.isOf(user, app))" }
  }

  // MARK: What others need

  /// The registrations and subscriptions of a user, in the order in which they were made.
  static func select(of user: String, app: Int64) -> SQL {
    "\(select) WHERE \(isOf(user, app)) ORDER BY n"
  }

  /// Notes that something has changed of what a user listens to, or of his sessions.
  static func recordChange(of user: String, in transaction: AppWriter.Transaction) {
    transaction.enqueue(
      """
      INSERT INTO live_change (app, usr, at)
      VALUES (\(bind: transaction.app), \(bind: user), \(bind: transaction.now.milliseconds))
      ON CONFLICT (app, usr) DO UPDATE SET at = excluded.at
      """)
  }

  static func registrations(_ rows: ResultRows) -> [LiveRegistration] {
    (0..<rows.count).map { row in
      LiveRegistration(
        app: rows.int64(row, 0), user: rows.text(row, 1), device: rows.text(row, 2),
        collection: rows.text(row, 3), session: rows.optionalText(row, 4),
        seen: rows.optionalInt64(row, 5))
    }
  }

  // MARK: Parts

  private static let select: SQL = "SELECT app, usr, device, collection, session, seen FROM live"

  private static func isOf(_ user: String, _ app: Int64) -> SQL {
    "app = \(bind: app) AND usr = \(bind: user)"
  }

  /// Deletes what belongs to devices for whose registration, `own`, a condition holds.
  private static func delete(_ condition: SQL) -> SQL {
    """
    DELETE FROM live USING live AS own
    WHERE own.app = live.app AND own.usr = live.usr AND own.device = live.device
      AND own.collection = '' AND \(condition)
    """
  }

  private func texts(_ sql: SQL) throws(ServerError) -> [String] {
    let rows = try storage { () throws(PostgresError) in try database.read(sql) }
    return (0..<rows.count).map { rows.text($0, 0) }
  }

  private func change(_ user: String, of app: Int64, by sql: () -> SQL) throws(ServerError) {
    let sql = sql()
    try writer.write(app: app) { (transaction, _) in
      transaction.enqueue(sql)
      Self.recordChange(of: user, in: transaction)
    }
  }
}
