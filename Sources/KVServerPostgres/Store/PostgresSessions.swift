internal import KVBase
internal import KVServerCore

/// The sessions: looked up each time, so that one that has ended on any server is none on all. Safe from any thread.
final class PostgresSessions: SessionStore {
  private let writer: AppWriter

  init(_ writer: AppWriter) { self.writer = writer }

  func find(_ token: String) throws(ServerError) -> Session? {
    let rows = try storage { () throws(PostgresError) in
      try writer.database.read(Self.select(token))
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
      transaction.enqueue("DELETE FROM session WHERE token = \(bind: NewSession.hash(token))")
      PostgresRegistrations.recordChange(of: session.user, in: transaction)
    }
  }

  func endAll(app: Int64, user: String) throws(ServerError) {
    try writer.write(app: app) { (transaction, _) in Self.endAll(of: user, in: transaction) }
  }

  func list(
    app: Int64, user: String?, after: String?, limit: Int
  ) throws(ServerError) -> [SessionSummary] {
    let whose: SQL = user.map { "AND s.usr = \(bind: $0)" } ?? ""
    let rows = try storage { () throws(PostgresError) in
      try writer.database.read(
        """
        SELECT s.token, s.usr, s.expires FROM session AS s
        JOIN account AS a ON a.app = s.app AND a.id = s.usr AND a.generation = s.generation
        WHERE s.app = \(bind: app) AND s.token > \(bind: after ?? "") \(whose)
          AND (s.expires IS NULL OR s.expires > \(bind: Timestamp.now().milliseconds))
        ORDER BY s.token LIMIT \(bind: limit)
        """)
    }
    return (0..<rows.count).map { row in
      SessionSummary(
        name: rows.text(row, 0), user: rows.text(row, 1), expires: rows.optionalInt64(row, 2))
    }
  }

  static func select(_ token: String) -> SQL {
    """
    SELECT s.app, s.usr, s.generation, s.expires FROM session AS s
    JOIN account AS a ON a.app = s.app AND a.id = s.usr AND a.generation = s.generation
    WHERE s.token = \(bind: NewSession.hash(token))
    """
  }

  // MARK: Inside transactions of others

  /// Starts a session of a user, unless his account is disabled or of another generation by now: then false.
  static func insert(
    _ session: NewSession, of user: String, generation: Int64, in transaction: AppWriter.Transaction
  ) throws(PostgresError) -> Bool {
    transaction.enqueue(
      """
      DELETE FROM session WHERE app = \(bind: transaction.app) AND usr = \(bind: user)
        AND expires <= \(bind: Timestamp.now().milliseconds)
      """)
    let rows = try transaction.run(
      """
      INSERT INTO session (token, app, usr, expires, generation)
      SELECT \(bind: NewSession.hash(session.token)), app, id, \(bind: session.expires), generation
      FROM account WHERE app = \(bind: transaction.app) AND id = \(bind: user)
        AND generation = \(bind: generation) AND NOT disabled
      """)
    return rows.changes == 1
  }

  /// Makes a new generation of a user's account: his sessions end, all but one of them if told to.
  static func endAll(
    of user: String, but token: String? = nil, in transaction: AppWriter.Transaction
  ) {
    let app = transaction.app
    let kept = NewSession.hash(token ?? "")
    transaction.enqueue(
      """
      UPDATE account SET generation = generation + 1 WHERE app = \(bind: app) AND id = \(bind: user)
      """)
    transaction.enqueue(
      """
      DELETE FROM session
      WHERE app = \(bind: app) AND usr = \(bind: user) AND token <> \(bind: kept)
      """)
    transaction.enqueue(
      """
      UPDATE session SET generation =
        (SELECT generation FROM account WHERE app = \(bind: app) AND id = \(bind: user))
      WHERE token = \(bind: kept) AND app = \(bind: app) AND usr = \(bind: user)
      """)
    PostgresRegistrations.recordChange(of: user, in: transaction)
  }
}
