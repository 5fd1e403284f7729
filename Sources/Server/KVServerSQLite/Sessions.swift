internal import KVBase
internal import KVSQLite
internal import KVServerCore

/// The sessions in the database, and those used lately in memory. Safe from any thread.
final class Sessions: SessionStore {
  /// More sessions than this are read again from the database when they are used.
  private static let maxKept = 10_000

  private let database: Database
  /// Sessions by token, so that a request needs no hash and no statement.
  private let kept = Monitor(Kept())

  private struct UserKey: Hashable {
    var app: Int64
    var user: RecordID

    init(_ app: Int64, _ user: String) { (self.app, self.user) = (app, RecordID(user)) }
  }

  private struct Kept {
    var sessions: [RecordID: Session] = [:]
    /// The generations of the accounts that these sessions are of. An account that changes is forgotten.
    var generations: [UserKey: Int64] = [:]
    /// How often sessions were ended: what was read from the database before the last time may be one
    /// of them, and is not kept.
    var endings = 0

    func session(_ token: String) -> Session? {
      guard let session = sessions[RecordID(token)],
        generations[UserKey(session.app, session.user)] == session.generation
      else { return nil }
      return session
    }
  }

  init(_ database: Database) { self.database = database }

  func find(_ token: String) throws(ServerError) -> Session? { try find(token, by: load) }

  /// `load` reads it from the database; the session may be ended meanwhile.
  func find(
    _ token: String, by load: (String) throws(ServerError) -> Session?
  ) throws(ServerError) -> Session? {
    let (known, endings) = kept.withLock { ($0.session(token), $0.endings) }
    var found = known
    if found == nil {
      found = try load(token)
      if let found { keep(found, token, since: endings) }
    }
    guard let found, found.isValid(at: .now()) else { return nil }
    return found
  }

  func end(_ token: String) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        try connection.run(SessionStatements.end(token))
      }
    }
    kept.withLock { kept in
      kept.endings += 1
      kept.sessions[RecordID(token)] = nil
    }
  }

  func end(named name: String, of user: String?, app: Int64) throws(ServerError) -> String? {
    let owner = try Entities.storage { () throws(SQLiteError) -> String? in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) -> String? in
        let owner = try Self.user(ofSessionNamed: name, of: user, app: app, on: connection)
        if owner != nil { try connection.run(SessionStatements.end(named: name, app: app)) }
        return owner
      }
    }
    if let owner { forget(app: app, user: owner) }
    return owner
  }

  private static func user(
    ofSessionNamed name: String, of user: String?, app: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) -> String? {
    let select = try connection.statement(
      SessionStatements.user(ofSessionNamed: name, of: user, app: app))
    return try select.step() ? select.text(0) : nil
  }

  func extend(_ token: String, _ life: SessionLife, at now: Timestamp) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        try connection.run(SessionStatements.extend(token, life, at: now))
      }
    }
    kept.withLock { kept in
      kept.endings += 1
      kept.sessions[RecordID(token)] = nil
    }
  }

  func endAll(app: Int64, user: String) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        try Self.endAll(app: app, user: user, on: connection)
      }
    }
    forget(app: app, user: user)
  }

  func list(
    app: Int64, user: String?, after: String?, limit: Int
  ) throws(ServerError) -> [SessionSummary] {
    return try Entities.storage { () throws(SQLiteError) -> [SessionSummary] in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(
          SessionStatements.list(app: app, of: user, after: after, at: .now(), limit: limit))
        var found: [SessionSummary] = []
        while try select.step() {
          found.append(
            SessionSummary(
              name: select.text(0) ?? "", user: select.text(1) ?? "",
              expires: select.isNull(2) ? nil : select.int64(2), device: select.text(3),
              address: select.text(4), began: select.int64(5),
              used: select.isNull(6) ? nil : select.int64(6)))
        }
        return found
      }
    }
  }

  // MARK: Inside transactions of others

  /// Starts a session of a user, unless the account is disabled or of another generation by now: then false.
  static func insert(
    _ session: NewSession, app: Int64, user: String, generation: Int64,
    on connection: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try connection.run(SessionStatements.removeExpired(of: user, app: app, at: .now()))
    try connection.run(
      SessionStatements.insert(session, of: user, app: app, generation: generation))
    return connection.changes == 1
  }

  /// Makes a new generation of a user's account: the user's sessions end, all but one of them if told to. `forget` must
  /// follow the commit.
  static func endAll(
    app: Int64, user: String, but token: String? = nil, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let ending: [SQLFragment] = SessionStatements.endAll(of: user, app: app, but: token)
    for statement in ending { try connection.run(statement) }
  }

  /// A user's sessions have ended in the database: they are removed from memory.
  func forget(app: Int64, user: String) {
    kept.withLock { kept in
      kept.endings += 1
      kept.generations[UserKey(app, user)] = nil
    }
  }

  // MARK: Parts

  /// Keeps what was read from the database, unless sessions were ended since then.
  private func keep(_ session: Session, _ token: String, since endings: Int) {
    kept.withLock { kept in
      guard kept.endings == endings else { return }
      if kept.sessions.count >= Self.maxKept { (kept.sessions, kept.generations) = ([:], [:]) }
      kept.sessions[RecordID(token)] = session
      kept.generations[UserKey(session.app, session.user)] = session.generation
    }
  }

  func load(_ token: String) throws(ServerError) -> Session? {
    try Entities.storage { () throws(SQLiteError) -> Session? in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(SessionStatements.find(token))
        guard try select.step() else { return nil }
        return Session(
          app: select.int64(0), user: select.text(1) ?? "", generation: select.int64(2),
          expires: select.isNull(3) ? nil : select.int64(3))
      }
    }
  }
}
