internal import KVSQLite

/// Keeps who listens to what, so that polls go on after a restart. Safe from any thread.
final class LiveRegistrations: Sendable {
  struct Row: Sendable {
    var app: Int64
    var user: String
    var device: String
    /// The collection, or the topic of a stream. Empty: the registration itself.
    var collection: String
    /// The session that a registration was made in, as its token is stored.
    var session: String?
    /// For a registration, when something came from the device last, in milliseconds since 1970, to the hour; nil: not
    /// known.
    var seen: Int64?
  }

  private let database: Database

  init(_ database: Database) { self.database = database }

  /// Reads all registrations and subscriptions, in the order in which they were made.
  func all() throws(SQLiteError) -> [Row] {
    try database.read { (connection: borrowing Connection) throws(SQLiteError) -> [Row] in
      let select = try connection.prepare(
        "SELECT app, user, device, collection, session, seen FROM live ORDER BY rowid")
      var rows: [Row] = []
      while try select.step() {
        rows.append(
          Row(
            app: select.int64(0), user: select.text(1) ?? "", device: select.text(2) ?? "",
            collection: select.text(3) ?? "", session: select.text(4),
            seen: select.isNull(5) ? nil : select.int64(5)))
      }
      return rows
    }
  }

  /// Forgets the devices that were registered in sessions which have ended since: where the server ended in between.
  /// Those of which nobody knows when they were seen – of an older version – are seen now.
  func forgetEnded(at now: Int64) throws(SQLiteError) {
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      let isOver: SQLFragment = """
        own.session NOT NULL AND NOT EXISTS (SELECT 1 FROM session WHERE token = own.session)
        """
      try connection.run("DELETE FROM live WHERE \(Self.isOfDevice(where: isOver))")
      try connection.run(
        "UPDATE live SET seen = \(bind: now) WHERE collection = '' AND seen IS NULL")
    }
  }

  /// Forgets the devices of all apps that were seen before a moment.
  func forget(seenBefore moment: Int64) throws(ServerError) {
    try run("DELETE FROM live WHERE \(Self.isOfDevice(where: "own.seen < \(bind: moment)"))")
  }

  /// Records a subscription.
  func add(_ row: Row) throws(ServerError) {
    try run(
      """
      INSERT INTO live (app, user, device, collection)
      VALUES (\(bind: row.app), \(bind: row.user), \(bind: row.device), \(bind: row.collection))
      ON CONFLICT DO NOTHING
      """)
  }

  /// Records a registration, or that it belongs to another session now.
  func register(
    _ device: String, of user: String, app: Int64, session token: String, at now: Int64
  ) throws(ServerError) {
    try run(
      """
      INSERT INTO live (app, user, device, collection, session, seen)
      VALUES (\(bind: app), \(bind: user), \(bind: device), '', \(bind: Sessions.hash(token)),
        \(bind: now))
      ON CONFLICT DO UPDATE SET session = excluded.session, seen = excluded.seen
      """)
  }

  /// Records that something came from a device.
  func recordActivity(_ device: String, of user: String, app: Int64, seen now: Int64)
    throws(ServerError)
  {
    try run(
      """
      UPDATE live SET seen = \(bind: now)
      WHERE \(Self.isOf(user, app)) AND device = \(bind: device) AND collection = ''
      """)
  }

  /// The devices of a user that were registered in these sessions.
  func devices(
    of user: String, app: Int64, in sessions: Sessions.Subset
  ) throws(ServerError) -> [String] {
    let isWanted: SQLFragment =
      switch sessions {
      case .one(let token): "session = \(bind: Sessions.hash(token))"
      case .allBut(let token?): "session <> \(bind: Sessions.hash(token))"
      case .allBut(nil): "1"
      }
    return try texts(
      """
      SELECT device FROM live WHERE \(Self.isOf(user, app)) AND collection = '' AND \(isWanted)
      """)
  }

  func remove(_ row: Row) throws(ServerError) {
    try run(
      """
      DELETE FROM live WHERE \(Self.isOf(row.user, row.app)) AND device = \(bind: row.device)
        AND collection = \(bind: row.collection)
      """)
  }

  func remove(device: String, of user: String, app: Int64) throws(ServerError) {
    try run("DELETE FROM live WHERE \(Self.isOf(user, app)) AND device = \(bind: device)")
  }

  /// Takes all devices of a user out of a collection or a stream.
  func removeAll(of user: String, app: Int64, collection: String) throws(ServerError) {
    try run("DELETE FROM live WHERE \(Self.isOf(user, app)) AND collection = \(bind: collection)")
  }

  /// The users who have subscribed to a collection or a stream.
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
