package import KVBase

/// The statements on sessions.
package enum SessionStatements<Piece: SQLPiece> {
  private static var user: Piece { .user }

  /// Those whose account is still of the generation in which they began, `s`.
  private static var valid: Piece {
    """
    session AS s
      JOIN account AS a ON a.app = s.app AND a.id = s.\(user) AND a.generation = s.generation
    """
  }

  /// The app, the user, the generation and the end of the session of a token.
  package static func find(_ token: String) -> Piece {
    """
    SELECT s.app, s.\(user), s.generation, s.expires FROM \(valid)
    WHERE s.token = \(bind: SessionToken.hash(token))
    """
  }

  /// The name, the user, the end, the device, the address, the beginning and the last use of some sessions, by names. `of`: one user's
  /// only.
  package static func list(
    app: Int64, of one: String?, after name: String?, at now: Timestamp, limit: Int
  ) -> Piece {
    let whose: Piece = one.map { "AND s.\(user) = \(bind: $0)" } ?? ""
    return """
      SELECT s.token, s.\(user), s.expires, s.device, s.address, s.began, s.used FROM \(valid)
      WHERE s.app = \(bind: app) AND s.token > \(bind: name ?? "") \(whose)
        AND (s.expires IS NULL OR s.expires > \(bind: now.milliseconds))
      ORDER BY s.token LIMIT \(bind: limit)
      """
  }

  /// The user of the session of a name. `of`: only if it is this one.
  package static func user(ofSessionNamed name: String, of one: String?, app: Int64) -> Piece {
    let whose: Piece = one.map { "AND s.\(user) = \(bind: $0)" } ?? ""
    return """
      SELECT s.\(user) FROM \(valid) WHERE s.app = \(bind: app) AND s.token = \(bind: name) \(whose)
      """
  }

  package static func end(named name: String, app: Int64) -> Piece {
    "DELETE FROM session WHERE token = \(bind: name) AND app = \(bind: app)"
  }

  package static func end(_ token: String) -> Piece {
    "DELETE FROM session WHERE token = \(bind: SessionToken.hash(token))"
  }

  /// Notes the use of a session, and lets it end later, if that is later at all, but not after the longest that it may last.
  package static func extend(_ token: String, _ life: SessionLife, at now: Timestamp) -> Piece {
    let idle = now.milliseconds &+ life.idleMilliseconds
    let end: Piece = """
      CASE WHEN began + \(bind: life.longestMilliseconds) < \(bind: idle)
        THEN began + \(bind: life.longestMilliseconds) ELSE \(bind: idle) END
      """
    return """
      UPDATE session SET used = \(bind: now.milliseconds),
        expires = CASE WHEN expires < \(end) THEN \(end) ELSE expires END
      WHERE token = \(bind: SessionToken.hash(token))
        AND (expires IS NULL OR expires > \(bind: now.milliseconds))
      """
  }

  /// Deletes those of a user that are over.
  package static func removeExpired(of id: String, app: Int64, at now: Timestamp) -> Piece {
    """
    DELETE FROM session
    WHERE app = \(bind: app) AND \(user) = \(bind: id) AND expires <= \(bind: now.milliseconds)
    """
  }

  /// Changes no row if the user's account is disabled, or of another generation by now.
  package static func insert(
    _ session: NewSession, of id: String, app: Int64, generation: Int64
  ) -> Piece {
    """
    INSERT INTO session (token, app, \(user), expires, generation, began, device, address, used)
    SELECT \(bind: SessionToken.hash(session.token)), app, id, \(bind: session.expires), generation,
      \(bind: session.began), \(bind: session.device), \(bind: session.address), \(bind: session.began)
    FROM account WHERE app = \(bind: app) AND id = \(bind: id)
      AND generation = \(bind: generation) AND NOT disabled
    """
  }

  /// Makes a new generation of a user's account, in which no session is left, or only that of a token.
  package static func endAll(of id: String, app: Int64, but token: String?) -> [Piece] {
    let account: Piece = "app = \(bind: app) AND id = \(bind: id)"
    let own: Piece = "app = \(bind: app) AND \(user) = \(bind: id)"
    let kept = SessionToken.hash(token ?? "")
    return [
      """
      UPDATE account SET generation = generation + 1, ended = \(bind: Timestamp.now().milliseconds)
      WHERE \(account)
      """,
      "DELETE FROM session WHERE \(own) AND token <> \(bind: kept)",
      """
      UPDATE session SET generation = (SELECT generation FROM account WHERE \(account))
      WHERE token = \(bind: kept) AND \(own)
      """,
    ]
  }
}
