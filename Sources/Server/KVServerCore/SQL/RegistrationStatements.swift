/// The statements on registrations and subscriptions of live data.
package enum RegistrationStatements<Piece: SQLPiece> {
  private static var user: Piece { .user }

  /// All columns that `LiveRegistration` has, in its order.
  package static var select: Piece {
    "SELECT app, \(user), device, collection, session, seen FROM live"
  }

  package static func isOf(_ id: String, _ app: Int64) -> Piece {
    "app = \(bind: app) AND \(user) = \(bind: id)"
  }

  /// Deletes what belongs to devices whose registration, `own`, was made in a session that has ended.
  package static var removeEnded: Piece {
    removeDevices(
      where: """
        own.session IS NOT NULL AND NOT EXISTS (SELECT 1 FROM session WHERE token = own.session)
        """)
  }

  /// Notes a time for the registrations that have none.
  package static func setSeen(_ now: Int64) -> Piece {
    "UPDATE live SET seen = \(bind: now) WHERE collection = '' AND seen IS NULL"
  }

  package static func remove(seenBefore moment: Int64) -> Piece {
    removeDevices(where: "own.seen < \(bind: moment)")
  }

  private static func removeDevices(where condition: Piece) -> Piece {
    """
    DELETE FROM live WHERE EXISTS (SELECT 1 FROM live AS own
      WHERE own.app = live.app AND own.\(user) = live.\(user) AND own.device = live.device
        AND own.collection = '' AND \(condition))
    """
  }

  package static func add(_ row: LiveRegistration) -> Piece {
    """
    INSERT INTO live (app, \(user), device, collection)
    VALUES (\(bind: row.app), \(bind: row.user), \(bind: row.device), \(bind: row.collection))
    ON CONFLICT DO NOTHING
    """
  }

  package static func register(
    _ device: String, of id: String, app: Int64, session token: String, at now: Int64
  ) -> Piece {
    """
    INSERT INTO live (app, \(user), device, collection, session, seen)
    VALUES (\(bind: app), \(bind: id), \(bind: device), '', \(bind: SessionToken.hash(token)),
      \(bind: now))
    ON CONFLICT (app, \(user), device, collection)
    DO UPDATE SET session = excluded.session, seen = excluded.seen
    """
  }

  package static func recordActivity(
    _ device: String, of id: String, app: Int64, seen now: Int64
  ) -> Piece {
    """
    UPDATE live SET seen = \(bind: now)
    WHERE \(isOf(id, app)) AND device = \(bind: device) AND collection = ''
    """
  }

  /// The devices that a user has registered in some sessions.
  package static func devices(of id: String, app: Int64, in sessions: SessionSubset) -> Piece {
    let isWanted: Piece =
      switch sessions {
      case .one(let token): "session = \(bind: SessionToken.hash(token))"
      case .named(let name): "session = \(bind: name)"
      case .allBut(let token?): "session <> \(bind: SessionToken.hash(token))"
      case .allBut(nil): "true"
      }
    return """
      SELECT device FROM live WHERE \(isOf(id, app)) AND collection = '' AND \(isWanted)
      """
  }

  package static func remove(_ row: LiveRegistration) -> Piece {
    """
    DELETE FROM live WHERE \(isOf(row.user, row.app)) AND device = \(bind: row.device)
      AND collection = \(bind: row.collection)
    """
  }

  package static func remove(device: String, of id: String, app: Int64) -> Piece {
    "DELETE FROM live WHERE \(isOf(id, app)) AND device = \(bind: device)"
  }

  package static func removeAll(of id: String, app: Int64, collection: String) -> Piece {
    "DELETE FROM live WHERE \(isOf(id, app)) AND collection = \(bind: collection)"
  }

  package static func removeAll(of id: String, app: Int64) -> Piece {
    "DELETE FROM live WHERE \(isOf(id, app))"
  }

  /// The users who subscribe to a collection.
  package static func users(of collection: String, app: Int64) -> Piece {
    "SELECT DISTINCT \(user) FROM live WHERE app = \(bind: app) AND collection = \(bind: collection)"
  }
}
