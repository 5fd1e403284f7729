internal import KVSQLite
internal import KVServerCore

/// The registrations and subscriptions of live data, in the database. Safe from any thread.
final class LiveRegistrations: RegistrationStore {
  private let database: Database

  init(_ database: Database) { self.database = database }

  func all() throws(ServerError) -> [LiveRegistration] {
    try Entities.storage { () throws(SQLiteError) in try database.read(Self.all) }
  }

  private static func all(
    _ connection: borrowing Connection
  ) throws(SQLiteError) -> [LiveRegistration] {
    let select = try connection.prepare(
      "SELECT app, user, device, collection, session, seen FROM live ORDER BY rowid")
    var rows: [LiveRegistration] = []
    while try select.step() {
      rows.append(
        LiveRegistration(
          app: select.int64(0), user: select.text(1) ?? "", device: select.text(2) ?? "",
          collection: select.text(3) ?? "", session: select.text(4),
          seen: select.isNull(5) ? nil : select.int64(5)))
    }
    return rows
  }

  func forgetEnded(at now: Int64) throws(ServerError) {
    let isOver: SQLFragment = """
      own.session NOT NULL AND NOT EXISTS (SELECT 1 FROM session WHERE token = own.session)
      """
    try run("DELETE FROM live WHERE \(Self.isOfDevice(where: isOver))")
    try run("UPDATE live SET seen = \(bind: now) WHERE collection = '' AND seen IS NULL")
  }

  func forget(seenBefore moment: Int64) throws(ServerError) {
    try run("DELETE FROM live WHERE \(Self.isOfDevice(where: "own.seen < \(bind: moment)"))")
  }

  func add(_ row: LiveRegistration) throws(ServerError) {
    try run(
      """
      INSERT INTO live (app, user, device, collection)
      VALUES (\(bind: row.app), \(bind: row.user), \(bind: row.device), \(bind: row.collection))
      ON CONFLICT DO NOTHING
      """)
  }

  func register(
    _ device: String, of user: String, app: Int64, session token: String, at now: Int64
  ) throws(ServerError) {
    try run(
      """
      INSERT INTO live (app, user, device, collection, session, seen)
      VALUES (\(bind: app), \(bind: user), \(bind: device), '', \(bind: NewSession.hash(token)),
        \(bind: now))
      ON CONFLICT DO UPDATE SET session = excluded.session, seen = excluded.seen
      """)
  }

  func recordActivity(_ device: String, of user: String, app: Int64, seen now: Int64)
    throws(ServerError)
  {
    try run(
      """
      UPDATE live SET seen = \(bind: now)
      WHERE \(Self.isOf(user, app)) AND device = \(bind: device) AND collection = ''
      """)
  }

  func devices(
    of user: String, app: Int64, in sessions: SessionSubset
  ) throws(ServerError) -> [String] {
    let isWanted: SQLFragment =
      switch sessions {
      case .one(let token): "session = \(bind: NewSession.hash(token))"
      case .allBut(let token?): "session <> \(bind: NewSession.hash(token))"
      case .allBut(nil): "1"
      }
    return try texts(
      """
      SELECT device FROM live WHERE \(Self.isOf(user, app)) AND collection = '' AND \(isWanted)
      """)
  }

  func remove(_ row: LiveRegistration) throws(ServerError) {
    try run(
      """
      DELETE FROM live WHERE \(Self.isOf(row.user, row.app)) AND device = \(bind: row.device)
        AND collection = \(bind: row.collection)
      """)
  }

  func remove(device: String, of user: String, app: Int64) throws(ServerError) {
    try run("DELETE FROM live WHERE \(Self.isOf(user, app)) AND device = \(bind: device)")
  }

  func removeAll(of user: String, app: Int64, collection: String) throws(ServerError) {
    try run("DELETE FROM live WHERE \(Self.isOf(user, app)) AND collection = \(bind: collection)")
  }

  func users(of collection: String, app: Int64) throws(ServerError) -> [String] {
    try texts(
      """
      SELECT DISTINCT user FROM live WHERE app = \(bind: app) AND collection = \(bind: collection)
      """)
  }

  func removeAll(of user: String, app: Int64) throws(ServerError) {
    try run("DELETE FROM live WHERE \(Self.isOf(user, app))")
  }

  // MARK: Parts

  private static func isOf(_ user: String, _ app: Int64) -> SQLFragment {
    "app = \(bind: app) AND user = \(bind: user)"
  }

  /// Tells whether a condition holds for `own`, the registration of a row's device.
  private static func isOfDevice(where condition: SQLFragment) -> SQLFragment {
    """
    EXISTS (SELECT 1 FROM live AS own
      WHERE own.app = live.app AND own.user = live.user AND own.device = live.device
        AND own.collection = '' AND \(condition))
    """
  }

  private func texts(_ sql: SQLFragment) throws(ServerError) -> [String] {
    try Entities.storage { () throws(SQLiteError) -> [String] in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(sql)
        var texts: [String] = []
        while try select.step() { texts.append(select.text(0) ?? "") }
        return texts
      }
    }
  }

  private func run(_ sql: SQLFragment) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        try connection.run(sql)
      }
    }
  }
}
