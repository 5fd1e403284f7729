internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVServerCore

/// The groups of users of apps, which access lists can name: an entity that clients see, and rows that say who is in it.
/// Both are written in one transaction. Safe from any thread.
///
/// Who joins or leaves a group may read other entities than before, whatever has changed in them. So a user's next
/// request for changes is answered like one that reaches back too far, and the client reads everything.
final class UserGroups: UserGroupStore {
  private let entities: Entities
  private let collections: CollectionRegistry

  init(_ entities: Entities, _ collections: CollectionRegistry) {
    self.entities = entities
    self.collections = collections
  }

  func perform(
    _ write: EntityWrite, members: [String], for principal: Principal, app: Int64
  ) throws(ServerError) -> WrittenEntity? {
    let viewer = Viewer(principal: principal, permissions: .sharedByACL)
    let groups = try Entities.storage { () throws(SQLiteError) in
      try collections.make(.groups(of: app))
    }
    let result = try entities.write(to: groups, isDeletion: write.isDelete) {
      (connection, now) throws(SQLiteError) -> Result<WrittenEntity?, ServerError> in
      if !write.isDelete, try Self.isFormer(write.id, app: app, on: connection) {
        return .failure(.formerGroup)
      }
      // No device can subscribe to groups.
      var unheard = LiveChanges(rule: .never)
      let result = try entities.perform(
        write, in: groups, for: viewer, on: connection, at: now, changes: &unheard)
      if case .success = result {
        try Self.set(members, of: write.id, app: app, on: connection, at: now)
        if write.isDelete { try connection.run(MemberStatements.keepID(of: write.id, app: app)) }
      }
      return result
    }
    return try result.get()
  }

  /// When a user's rights changed last by joining or leaving a group. What was read earlier was read with other rights.
  static func rightsChanged(
    of user: String, app: Int64, in database: Database
  ) throws(ServerError) -> Timestamp {
    try Entities.storage { () throws(SQLiteError) -> Timestamp in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(
          "SELECT rights_since FROM account WHERE app = \(bind: app) AND id = \(bind: user)")
        return Timestamp(milliseconds: try select.step() ? select.int64(0) : 0)
      }
    }
  }

  // MARK: Inside transactions

  private static func isFormer(
    _ group: String, app: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try connection.statement(MemberStatements.isFormer(group, app: app)).step()
  }

  private static func set(
    _ members: [String], of group: String, app: Int64, on connection: borrowing Connection,
    at now: Timestamp
  ) throws(SQLiteError) {
    let select = try connection.statement(MemberStatements.users(in: group, app: app))
    var former: [String] = []
    while try select.step() { former.append(select.text(0) ?? "") }
    let change = MembershipChange(from: former, to: members)
    guard !change.isEmpty else { return }
    for user in change.joined {
      try connection.run(
        """
        INSERT INTO group_member (app, user, grp)
        VALUES (\(bind: app), \(bind: user), \(bind: group))
        """)
    }
    try connection.run(MemberStatements.remove(change.left, from: group, app: app))
    try connection.run(MemberStatements.noteRights(of: change, app: app, at: now))
  }
}
