internal import KVBase
internal import KVServerCore

/// The sessions: looked up each time, so that one that has ended on any server is none on all. Safe from any thread.
final class PostgresSessions: SessionStore {
  private let writer: AppWriter

  init(_ writer: AppWriter) { self.writer = writer }

  func find(_ token: String) throws(ServerError) -> Session? {
    let rows = try storage { () throws(PostgresError) in
      try writer.database.read(SessionStatements.find(token))
    }
    guard !rows.isEmpty else { return nil }
    let session = Session(
      app: rows.int64(0, 0), user: rows.text(0, 1), generation: rows.int64(0, 2),
      expires: rows.optionalInt64(0, 3))
    return session.isValid(at: .now()) ? session : nil
  }

  func end(_ token: String) throws(ServerError) {
    guard let session = try find(token) else { return }
    try writer.write(app: session.app) { (transaction, _) in
      transaction.enqueue(SessionStatements.end(token))
      PostgresRegistrations.recordChange(of: session.user, in: transaction)
    }
  }

  func end(named name: String, of user: String?, app: Int64) throws(ServerError) -> String? {
    let rows = try storage { () throws(PostgresError) in
      try writer.database.read(SessionStatements.user(ofSessionNamed: name, of: user, app: app))
    }
    guard !rows.isEmpty else { return nil }
    let owner = rows.text(0, 0)
    try writer.write(app: app) { (transaction, _) in
      transaction.enqueue(SessionStatements.end(named: name, app: app))
      PostgresRegistrations.recordChange(of: owner, in: transaction)
    }
    return owner
  }

  func extend(_ token: String, _ life: SessionLife, at now: Timestamp) throws(ServerError) {
    guard let session = try find(token) else { return }
    try writer.write(app: session.app) { (transaction, _) in
      transaction.enqueue(SessionStatements.extend(token, life, at: now))
    }
  }

  func endAll(app: Int64, user: String) throws(ServerError) {
    try writer.write(app: app) { (transaction, _) in Self.endAll(of: user, in: transaction) }
  }

  func list(
    app: Int64, user: String?, after: String?, limit: Int
  ) throws(ServerError) -> [SessionSummary] {
    let rows = try storage { () throws(PostgresError) in
      try writer.database.read(
        SessionStatements.list(app: app, of: user, after: after, at: .now(), limit: limit))
    }
    return (0..<rows.count).map { row in
      SessionSummary(
        name: rows.text(row, 0), user: rows.text(row, 1), expires: rows.optionalInt64(row, 2),
        device: rows.optionalText(row, 3), address: rows.optionalText(row, 4),
        began: rows.int64(row, 5), used: rows.optionalInt64(row, 6))
    }
  }

  // MARK: Inside transactions of others

  /// Starts a session of a user, unless the account is disabled or of another generation by now: then false.
  static func insert(
    _ session: NewSession, of user: String, generation: Int64, in transaction: AppWriter.Transaction
  ) throws(PostgresError) -> Bool {
    transaction.enqueue(
      SessionStatements.removeExpired(of: user, app: transaction.app, at: .now()))
    let rows = try transaction.run(
      SessionStatements.insert(session, of: user, app: transaction.app, generation: generation))
    return rows.changes == 1
  }

  /// Makes a new generation of a user's account: the user's sessions end, all but one of them if told to.
  static func endAll(
    of user: String, but token: String? = nil, in transaction: AppWriter.Transaction
  ) {
    let ending: [SQL] = SessionStatements.endAll(of: user, app: transaction.app, but: token)
    for statement in ending { transaction.enqueue(statement) }
    PostgresRegistrations.recordChange(of: user, in: transaction)
  }
}
