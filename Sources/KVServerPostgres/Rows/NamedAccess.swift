internal import KVServerCore

/// What a rule lets a user do with entities, and the groups that he is in.
struct NamedAccess: Sendable {
  let access: RowAccess
  var user: String { access.user }
  /// The user and his groups, as access lists name them.
  private let names: [String]
  /// The same in SQL, and the user alone.
  private let listedNames: SQL
  private let listedUser: SQL

  init(access: RowAccess, groups: [String]) {
    self.access = access
    names = [access.user] + groups.map { ACL.groupMark + $0 }
    listedNames = "\(bind: names)"
    listedUser = "\(bind: access.user)"
  }

  /// For reading, in the name of whoever a statement finds out, of which `CollectionState.part` is a part.
  init(rule: Permissions.Rule) {
    access = RowAccess(rule: rule, user: "")
    names = []
    listedNames = "(SELECT names FROM state)"
    listedUser = "(SELECT usr FROM state)"
  }

  /// Tells whether a row may be read or written; never NULL.
  var condition: SQL { condition(of: "") }

  /// `table`: what stands before the names of the columns.
  func condition(of table: String) -> SQL {
    guard let ways = access.ways else { return "true" }
    let condition = ways.reduce(nil as SQL?) { condition, way in
      let next = self.condition(way, table)
      return condition.map { "\($0) OR \(next)" } ?? next
    }
    return condition.map { "(\($0))" } ?? "false"
  }

  private func condition(_ way: RowAccess.Way, _ table: String) -> SQL {
    switch way {
    case .isCreator: "\(sql: table)creator = \(listedUser)"
    case .everybodyReads: "\(sql: table)gr IS TRUE"
    case .nobodySaysNo: "\(sql: table)gr IS NOT FALSE"
    case .everybodyWrites: "\(sql: table)gw IS TRUE"
    case .isReader: "\(sql: table)readers && \(listedNames)"
    case .isWriter: "\(sql: table)writers && \(listedNames)"
    }
  }

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
