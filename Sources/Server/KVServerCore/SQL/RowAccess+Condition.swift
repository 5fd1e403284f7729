/// The caller, as the conditions of a statement name it.
package protocol SQLUser: Sendable {
  associatedtype Piece: SQLPiece
  /// His id.
  var id: Piece { get }
  /// Tells whether a column with an access list, which may be NULL, names the caller or one of their groups.
  func isNamed(in column: String) -> Piece
}

extension RowAccess {
  /// Tells whether a row may be read or written; never NULL. `table`: what stands before the names of its columns.
  package func condition<User: SQLUser>(for user: User, of table: String = "") -> User.Piece {
    guard let ways else { return "true" }
    guard let first = ways.first else { return "false" }
    let any = ways.dropFirst().reduce(Self.condition(first, for: user, of: table)) {
      "\($0) OR \(Self.condition($1, for: user, of: table))"
    }
    return "(\(any))"
  }

  private static func condition<User: SQLUser>(
    _ way: Way, for user: User, of table: String
  ) -> User.Piece {
    switch way {
    case .isCreator: "\(sql: table)creator = \(user.id)"
    case .everybodyReads: "\(sql: table)gr IS TRUE"
    case .nobodySaysNo: "\(sql: table)gr IS NOT FALSE"
    case .everybodyWrites: "\(sql: table)gw IS TRUE"
    case .isReader: user.isNamed(in: "\(table)readers")
    case .isWriter: user.isNamed(in: "\(table)writers")
    }
  }
}
