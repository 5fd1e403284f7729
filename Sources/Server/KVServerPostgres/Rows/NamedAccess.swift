internal import KVServerCore

/// A user as conditions name it: by the id, and by the names that access lists may have for it.
private struct ListedUser: SQLUser {
  let id: SQL
  let names: SQL

  func isNamed(in column: String) -> SQL { "\(sql: column) && \(names)" }
}

/// What a rule lets a user do with entities, and the user's groups.
struct NamedAccess: Sendable {
  let access: RowAccess
  var user: String { access.user }
  /// The user and their groups, as access lists name them.
  private let names: [String]
  /// The same in SQL.
  private let listed: ListedUser

  init(access: RowAccess, groups: [String]) {
    self.access = access
    names = [access.user] + groups.map { ACL.groupMark + $0 }
    listed = ListedUser(id: "\(bind: access.user)", names: "\(bind: names)")
  }

  /// For reading, as the caller whom a statement with `CollectionState.part` finds out.
  init(rule: Permissions.Rule) {
    access = RowAccess(rule: rule, user: "")
    names = []
    listed = ListedUser(id: "(SELECT usr FROM state)", names: "(SELECT names FROM state)")
  }

  /// Tells whether a row may be read or written; never NULL. `table`: what stands before the names of the columns.
  func condition(of table: String = "") -> SQL { access.condition(for: listed, of: table) }

  /// The same for a row that was read.
  func allows(_ row: StoredRow) -> Bool {
    guard let ways = access.ways else { return true }
    return ways.contains { way in
      switch way {
      case .isCreator: row.version.creator.utf8.elementsEqual(access.user.utf8)
      case .everybodyReads: row.acl.everybodyReads == true
      case .nobodySaysNo: row.acl.everybodyReads != false
      case .everybodyWrites: row.acl.everybodyWrites == true
      case .isReader: names(anyOf: row.acl.readers)
      case .isWriter: names(anyOf: row.acl.writers)
      }
    }
  }

  private func names(anyOf list: [String]) -> Bool {
    list.contains { listed in names.contains { $0.utf8.elementsEqual(listed.utf8) } }
  }
}
