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
      try connection.execute(Self.deleteEnded)
      try connection.execute(
        "UPDATE live SET seen = \(now) WHERE collection = '' AND seen IS NULL")
    }
  }

  /// Forgets the devices of all apps that were seen before a moment.
  func forget(seenBefore moment: Int64) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        let statement = try connection.statement(Self.deleteOld)
        try statement.bind(moment, at: 1)
        try statement.run()
      }
    }
  }

  /// Records a subscription.
  func add(_ row: Row) throws(ServerError) {
    try run(Self.insert, row.app, texts: [row.user, row.device, row.collection])
  }

  /// Records a registration, or that it belongs to another session now.
  func register(
    _ device: String, of user: String, app: Int64, session token: String, at now: Int64
  ) throws(ServerError) {
    try run(Self.upsert, app, texts: [user, device, "", Sessions.hash(token)], number: now)
  }

  /// Records that something came from a device.
  func recordActivity(_ device: String, of user: String, app: Int64, seen now: Int64)
    throws(ServerError)
  {
    try run(Self.updateSeen, app, texts: [user, device], number: now)
  }

  /// The devices of a user that were registered in these sessions.
  func devices(
    of user: String, app: Int64, in sessions: Sessions.Subset
  ) throws(ServerError) -> [String] {
    let sql: SQL
    let token: String?
    switch sessions {
    case .one(let one): (sql, token) = (Self.selectOfSession, one)
    case .allBut(let kept): (sql, token) = (Self.selectOfOthers, kept)
    }
    return try texts(sql, app, keys: [user, token.map(Sessions.hash)])
  }

  func remove(_ row: Row) throws(ServerError) {
    try run(Self.delete, row.app, texts: [row.user, row.device, row.collection])
  }

  func remove(device: String, of user: String, app: Int64) throws(ServerError) {
    try run(Self.deleteDevice, app, texts: [user, device])
  }

  /// Takes all devices of a user out of a collection or a stream.
  func removeAll(of user: String, app: Int64, collection: String) throws(ServerError) {
    try run(Self.deleteCollection, app, texts: [user, collection])
  }

  /// The users who have subscribed to a collection or a stream.
  func users(of collection: String, app: Int64) throws(ServerError) -> [String] {
    try texts(Self.selectUsers, app, keys: [collection])
  }

  func removeAll(of user: String, app: Int64) throws(ServerError) {
    try run(Self.deleteUser, app, texts: [user])
  }

  private func texts(
    _ sql: SQL, _ app: Int64, keys: [String?]
  ) throws(ServerError) -> [String] {
    try Entities.storage { () throws(SQLiteError) -> [String] in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(sql)
        try select.bind(app, at: 1)
        for (index, key) in keys.enumerated() { try select.bind(key, at: Int32(index + 2)) }
        var texts: [String] = []
        while try select.step() { texts.append(select.text(0) ?? "") }
        return texts
      }
    }
  }

  /// Runs a statement with the app, the texts and, after them, a number as its parameters.
  private func run(
    _ sql: SQL, _ app: Int64, texts: [String], number: Int64? = nil
  ) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        let statement = try connection.statement(sql)
        try statement.bind(app, at: 1)
        for (index, text) in texts.enumerated() { try statement.bind(text, at: Int32(index + 2)) }
        if let number { try statement.bind(number, at: Int32(texts.count + 2)) }
        try statement.run()
      }
    }
  }

  private static let insert = SQL(
    "INSERT INTO live (app, user, device, collection) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING"
  )
  private static let upsert = SQL(
    "INSERT INTO live (app, user, device, collection, session, seen) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
      + " ON CONFLICT DO UPDATE SET session = excluded.session, seen = excluded.seen")
  private static let updateSeen = SQL(
    "UPDATE live SET seen = ?4 WHERE app = ?1 AND user = ?2 AND device = ?3 AND collection = ''")
  private static let deleteOld = SQL(
    """
    DELETE FROM live WHERE EXISTS (
      SELECT 1 FROM live AS own
      WHERE own.app = live.app AND own.user = live.user AND own.device = live.device
        AND own.collection = '' AND own.seen < ?1)
    """)
  private static let selectOfSession = SQL(
    "SELECT device FROM live WHERE app = ?1 AND user = ?2 AND collection = '' AND session = ?3")
  private static let selectOfOthers = SQL(
    "SELECT device FROM live WHERE app = ?1 AND user = ?2 AND collection = ''"
      + " AND (session <> ?3 OR ?3 IS NULL)"
  )
  private static let deleteEnded = """
    DELETE FROM live WHERE EXISTS (
      SELECT 1 FROM live AS own
      WHERE own.app = live.app AND own.user = live.user AND own.device = live.device
        AND own.collection = '' AND own.session NOT NULL
        AND NOT EXISTS (SELECT 1 FROM session WHERE token = own.session))
    """
  private static let delete = SQL(
    "DELETE FROM live WHERE app = ?1 AND user = ?2 AND device = ?3 AND collection = ?4")
  private static let deleteDevice = SQL(
    "DELETE FROM live WHERE app = ?1 AND user = ?2 AND device = ?3")
  private static let deleteCollection = SQL(
    "DELETE FROM live WHERE app = ?1 AND user = ?2 AND collection = ?3")
  private static let selectUsers = SQL(
    "SELECT DISTINCT user FROM live WHERE app = ?1 AND collection = ?2")
  private static let deleteUser = SQL("DELETE FROM live WHERE app = ?1 AND user = ?2")
}
