internal import KVBase
internal import KVSQLite

/// Who is logged in. Tokens are random; the database knows only their hashes. Safe from any thread.
final class Sessions: Sendable {
  struct Session: Sendable, Equatable {
    var app: Int64
    var user: String
    /// In milliseconds; nil: it does not end by itself.
    var expires: Int64?

    func isValid(at now: Timestamp) -> Bool { expires.map { now.milliseconds < $0 } ?? true }
  }

  /// More sessions than this are read again from the database when they are used.
  private static let mostKept = 10_000

  private let database: Database
  private let lifetime: Int64?
  /// Sessions by token, so that a request needs no hash and no statement.
  private let kept = Monitor(Kept())

  private struct Kept {
    var sessions: [String: Session] = [:]
    /// How often sessions were ended: what was read from the database before the last time may be one
    /// of them, and is not kept.
    var ends = 0
  }

  /// `lifetimeSeconds` nil: sessions last until they are ended.
  init(_ database: Database, lifetimeSeconds: Int64?) {
    self.database = database
    lifetime = lifetimeSeconds
  }

  /// Starts a session; gives its token, which cannot be had again.
  func start(app: Int64, user: String) throws(ServerError) -> String {
    let token = hexText(randomBytes(32))
    let expires = lifetime.map { Timestamp.now().milliseconds &+ $0 &* 1000 }
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        let insert = try connection.statement(Self.insert)
        try Self.bind(token, to: insert)
        try insert.bind(app, at: 2)
        try insert.bind(user, at: 3)
        if let expires { try insert.bind(expires, at: 4) }
        try insert.run()
      }
    }
    return token
  }

  /// The session of a token; nil if there is none any more.
  func find(_ token: String) throws(ServerError) -> Session? {
    let (known, ends) = kept.peek { ($0.sessions[token], $0.ends) }
    var found = known
    if found == nil {
      found = try load(token)
      if let found { keep(found, token, since: ends) }
    }
    guard let found, found.isValid(at: .now()) else { return nil }
    return found
  }

  /// Ends one session.
  func end(_ token: String) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        let delete = try connection.statement(Self.delete)
        try Self.bind(token, to: delete)
        try delete.run()
      }
    }
    kept.peek { kept in
      kept.ends += 1
      kept.sessions[token] = nil
    }
  }

  /// Ends the sessions of a user, all but one of them if told to.
  func endAll(app: Int64, user: String, but token: String? = nil) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        let delete = try connection.statement(Self.deleteAll)
        try Self.bind(token ?? "", to: delete)
        try delete.bind(app, at: 2)
        try delete.bind(user, at: 3)
        try delete.run()
      }
    }
    kept.peek { kept in
      kept.ends += 1
      kept.sessions = kept.sessions.filter {
        $0.key == token || $0.value.app != app || $0.value.user != user
      }
    }
  }

  private func keep(_ session: Session, _ token: String, since ends: Int) {
    kept.peek { kept in
      guard kept.ends == ends else { return }
      if kept.sessions.count >= Self.mostKept { kept.sessions = [:] }
      kept.sessions[token] = session
    }
  }

  private func load(_ token: String) throws(ServerError) -> Session? {
    try Entities.storage { () throws(SQLiteError) -> Session? in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(Self.select)
        try Self.bind(token, to: select)
        guard try select.step() else { return nil }
        return Session(
          app: select.int64(0), user: select.text(1) ?? "",
          expires: select.isNull(2) ? nil : select.int64(2))
      }
    }
  }

  private static func bind(
    _ token: String, to statement: borrowing Statement
  ) throws(SQLiteError) {
    try statement.bind(hexText(SHA256.hash(token.utf8)), at: 1)
  }

  private static let insert = SQL(
    "INSERT INTO session (token, app, user, expires) VALUES (?1, ?2, ?3, ?4)")
  private static let select = SQL("SELECT app, user, expires FROM session WHERE token = ?1")
  private static let delete = SQL("DELETE FROM session WHERE token = ?1")
  private static let deleteAll = SQL(
    "DELETE FROM session WHERE app = ?2 AND user = ?3 AND token <> ?1")
}
