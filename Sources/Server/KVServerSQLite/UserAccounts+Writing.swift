internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVServerCore

/// Making, changing and deleting users. What ends sessions ends them in the same transaction.
extension UserAccounts {
  func create(
    _ draft: EntityDraft, name: String, password: String, session: NewSession?,
    of app: Int64
  ) throws(ServerError) -> [UInt8] {
    let users = try users(of: app)
    var acl = draft.acl ?? ACL()
    acl.creator = draft.id
    let body = try entities.write { (connection, now) throws(SQLiteError) -> [UInt8]? in
      try connection.run(
        AccountStatements.insert(draft.id, name: name, password: password, app: app))
      guard connection.changes == 1 else { return nil }
      if let session {
        _ = try Sessions.insert(session, app: app, user: draft.id, generation: 0, on: connection)
      }
      let record = draft.record(acl, created: now, modified: now)
      // An entity without an account is left over from nothing we do; refuse the whole.
      guard try Entities.insert(record, collection: users, on: connection) else {
        throw SQLiteError.rollback
      }
      return record.body
    }
    guard let body else { throw ServerError(.userAlreadyExists) }
    return body
  }

  func update(
    _ draft: EntityDraft, of account: Account, change: AccountChange, for principal: Principal,
    app: Int64
  ) throws(ServerError) -> [UInt8]? {
    let viewer = Self.viewer(principal)
    let users = try users(of: app)
    let rule = try viewer.rule(for: .update)
    let result = try entities.write {
      (connection, now) throws(SQLiteError) -> Result<[UInt8]?, ServerError> in
      guard try Self.isCurrent(account, app, on: connection) else { return .success(nil) }
      let look = try connection.statement(
        users.look(account.id, RowAccess(rule: rule, isWriting: true, user: viewer.user)))
      guard try look.step() else { return .failure(ServerError(.userNotFound)) }
      guard look.int64(0) != 0 else { return .failure(.forbidden(account.id)) }
      let stored = try StoredUser(look)
      look.reset()
      guard try Self.apply(change, to: account.id, app: app, on: connection) else {
        return .failure(ServerError(.userAlreadyExists))
      }
      var draft = draft
      draft.metadata = UserMetadata(of: stored.version.body).members
      return .success(
        try rewrite(stored, draft, in: users, for: viewer, on: connection, at: now))
    }
    if change.password != nil { sessions.forget(app: app, user: account.id) }
    return try result.get()
  }

  func delete(
    _ id: String, permanently: Bool, for principal: Principal, of app: Int64
  ) throws(ServerError) {
    let viewer = Self.viewer(principal)
    let users = try users(of: app)
    let problem = try entities.write { (connection, now) throws(SQLiteError) -> ServerError? in
      guard let stored = try Self.look(id, in: users, on: connection) else {
        return ServerError(.userNotFound)
      }
      if permanently {
        try Self.remove(stored, id, users: users, app: app, on: connection)
      } else {
        try connection.run(AccountStatements.setDisabled(true, of: id, app: app))
        try record(
          .disabling, in: stored, id, users: users, for: viewer, on: connection, at: now)
      }
      try Sessions.endAll(app: app, user: id, on: connection)
      return nil
    }
    sessions.forget(app: app, user: id)
    if let problem { throw problem }
  }

  func restore(_ id: String, for principal: Principal, of app: Int64) throws(ServerError) {
    let viewer = Self.viewer(principal)
    let users = try users(of: app)
    let isFound = try entities.write { (connection, now) throws(SQLiteError) -> Bool in
      guard let stored = try Self.look(id, in: users, on: connection) else { return false }
      try connection.run(AccountStatements.setDisabled(false, of: id, app: app))
      try record(
        .restoring, in: stored, id, users: users, for: viewer, on: connection, at: now)
      return true
    }
    guard isFound else { throw ServerError(.userNotFound) }
  }

  func setPassword(_ password: String, of id: String, app: Int64) throws(ServerError) -> Bool {
    let isFound = try entities.write { (connection, _) throws(SQLiteError) -> Bool in
      try connection.run(AccountStatements.setPassword(password, of: id, app: app))
      guard connection.changes == 1 else { return false }
      try Sessions.endAll(app: app, user: id, on: connection)
      return true
    }
    sessions.forget(app: app, user: id)
    return isFound
  }

  private static func viewer(_ principal: Principal) -> Viewer {
    Viewer(principal: principal, permissions: .sharedByACL)
  }

  // MARK: Inside transactions

  private static func isCurrent(
    _ account: Account, _ app: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try connection.statement(AccountStatements.isCurrent(account, app: app)).step()
  }

  /// False: another user has the name.
  private static func apply(
    _ change: AccountChange, to id: String, app: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try connection.run(AccountStatements.apply(change, to: id, app: app))
    guard connection.changes == 1 else { return false }
    if change.password != nil {
      try Sessions.endAll(app: app, user: id, but: change.keptToken, on: connection)
    }
    return true
  }

  private static func remove(
    _ stored: StoredUser, _ id: String, users: EntityCollection, app: Int64,
    on connection: borrowing Connection
  ) throws(SQLiteError) {
    let removing: [SQLFragment] = AccountStatements.remove(id, app: app)
    for statement in removing { try connection.run(statement) }
    try Entities.run(users.deleteRow, with: stored.row, on: connection)
  }

  /// Records what happened to a user's account in the user's entity.
  private func record(
    _ event: UserEvent, in stored: StoredUser, _ id: String, users: EntityCollection,
    for viewer: Viewer,
    on connection: borrowing Connection, at now: Timestamp
  ) throws(SQLiteError) {
    guard stored.version.isIntact else { throw SQLiteError.damaged(id, in: "users") }
    guard let draft = EntityDraft(id, stored: stored.version, after: event, at: now) else {
      throw SQLiteError.rollback
    }
    _ = try rewrite(stored, draft, in: users, for: viewer, on: connection, at: now)
  }

  /// Stores the next version of a user; gives its body.
  private func rewrite(
    _ stored: StoredUser, _ draft: EntityDraft, in users: EntityCollection, for viewer: Viewer,
    on connection: borrowing Connection, at now: Timestamp
  ) throws(SQLiteError) -> [UInt8] {
    let time = entities.clock.time(now, after: stored.version.modified)
    let record = draft.record(replacing: stored.version, for: viewer, at: time)
    try Entities.update(
      stored.row, record, changesAccess: draft.acl != nil, collection: users, on: connection)
    return record.body
  }
}
