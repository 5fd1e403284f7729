package import KVBase

/// The statements on who is in which group of users.
package enum MemberStatements<Piece: SQLPiece> {
  private static var user: Piece { .user }

  /// The ids of the users in a group.
  package static func users(in group: String, app: Int64) -> Piece {
    "SELECT \(user) FROM group_member WHERE app = \(bind: app) AND grp = \(bind: group)"
  }

  /// The groups and the ids of their users, of some groups.
  package static func users(inAny groups: [String], app: Int64) -> Piece {
    """
    SELECT grp, \(user) FROM group_member
    WHERE app = \(bind: app) AND \(Piece.isAny("grp", of: groups))
    """
  }

  /// Selects a row if a group of this id was deleted. The ids of former groups are among those of former users, with the
  /// mark that access lists have for groups in front.
  package static func isFormer(_ group: String, app: Int64) -> Piece {
    "SELECT 1 FROM former_user WHERE app = \(bind: app) AND id = \(bind: ACL.groupMark + group)"
  }

  /// Keeps the id of a deleted group, so that access lists that name it never open anything to another one.
  package static func keepID(of group: String, app: Int64) -> Piece {
    """
    INSERT INTO former_user (app, id) VALUES (\(bind: app), \(bind: ACL.groupMark + group))
    ON CONFLICT DO NOTHING
    """
  }

  package static func remove(_ users: [String], from group: String, app: Int64) -> Piece {
    """
    DELETE FROM group_member WHERE app = \(bind: app) AND grp = \(bind: group)
      AND \(Piece.isAny(user, of: users))
    """
  }

  /// Notes that the rights of those who have joined or left a group are others.
  package static func noteRights(
    of change: MembershipChange, app: Int64, at now: Timestamp
  ) -> Piece {
    """
    UPDATE account SET rights_since = \(bind: MembershipChange.rightsSince(now).milliseconds)
    WHERE app = \(bind: app) AND \(Piece.isAny("id", of: change.joined + change.left))
    """
  }
}
