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
      Self.registrations(try database.read("\(RegistrationStatements<SQL>.select) ORDER BY n"))
    }
  }

  func forgetEnded(at now: Int64) throws(ServerError) {
    try storage { () throws(PostgresError) in
      try database.run(RegistrationStatements.removeEnded, RegistrationStatements.setSeen(now))
    }
  }

  func forget(seenBefore moment: Int64) throws(ServerError) {
    try storage { () throws(PostgresError) in
      try database.run(RegistrationStatements.remove(seenBefore: moment))
    }
  }

  func add(_ row: LiveRegistration) throws(ServerError) {
    try change(row.user, of: row.app, by: RegistrationStatements.add(row))
  }

  func register(
    _ device: String, of user: String, app: Int64, session token: String, at now: Int64
  ) throws(ServerError) {
    try change(
      user, of: app,
      by: RegistrationStatements.register(device, of: user, app: app, session: token, at: now))
  }

  func recordActivity(
    _ device: String, of user: String, app: Int64, seen now: Int64
  ) throws(ServerError) {
    try change(
      user, of: app,
      by: RegistrationStatements.recordActivity(device, of: user, app: app, seen: now))
  }

  func devices(
    of user: String, app: Int64, in sessions: SessionSubset
  ) throws(ServerError) -> [String] {
    try texts(RegistrationStatements.devices(of: user, app: app, in: sessions))
  }

  func remove(_ row: LiveRegistration) throws(ServerError) {
    try change(row.user, of: row.app, by: RegistrationStatements.remove(row))
  }

  func remove(device: String, of user: String, app: Int64) throws(ServerError) {
    try change(
      user, of: app, by: RegistrationStatements.remove(device: device, of: user, app: app))
  }

  func removeAll(of user: String, app: Int64, collection: String) throws(ServerError) {
    try change(
      user, of: app,
      by: RegistrationStatements.removeAll(of: user, app: app, collection: collection))
  }

  func users(of collection: String, app: Int64) throws(ServerError) -> [String] {
    try texts(RegistrationStatements.users(of: collection, app: app))
  }

  func removeAll(of user: String, app: Int64) throws(ServerError) {
    try change(user, of: app, by: RegistrationStatements.removeAll(of: user, app: app))
  }

  // MARK: What others need

  /// The registrations and subscriptions of a user, in the order in which they were made.
  static func select(of user: String, app: Int64) -> SQL {
    """
    \(RegistrationStatements<SQL>.select) WHERE \(RegistrationStatements<SQL>.isOf(user, app))
    ORDER BY n
    """
  }

  /// Notes that a user's subscriptions or sessions have changed.
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

  private func texts(_ sql: SQL) throws(ServerError) -> [String] {
    let rows = try storage { () throws(PostgresError) in try database.read(sql) }
    return (0..<rows.count).map { rows.text($0, 0) }
  }

  private func change(_ user: String, of app: Int64, by sql: SQL) throws(ServerError) {
    try writer.write(app: app) { (transaction, _) in
      transaction.enqueue(sql)
      Self.recordChange(of: user, in: transaction)
    }
  }
}
