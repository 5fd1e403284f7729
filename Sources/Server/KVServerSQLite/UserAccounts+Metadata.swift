internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVServerCore

/// Logging in, and other changes of a user's metadata that are no change of the user.
extension UserAccounts {
  func begin(
    _ session: NewSession, of account: Account, app: Int64
  ) throws(ServerError) -> [UInt8]? {
    let users = try users(of: app)
    return try entities.write { (connection, now) throws(SQLiteError) -> [UInt8]? in
      let isStarted = try Sessions.insert(
        session, app: app, user: account.id, generation: account.generation, on: connection)
      guard isStarted, let stored = try Self.look(account.id, in: users, on: connection) else {
        return nil
      }
      return try Self.record(.login, stored, id: account.id, in: users, on: connection, at: now)
    }
  }

  func recordVerification(of account: Account, app: Int64) throws(ServerError) {
    let users = try users(of: app)
    _ = try entities.write { (connection, now) throws(SQLiteError) in
      guard let stored = try Self.look(account.id, in: users, on: connection) else { return }
      _ = try Self.record(.verification, stored, id: account.id, in: users, on: connection, at: now)
    }
  }

  /// Records an event that does not change the user's entity: its `lmt` stays. Gives what is stored then.
  private static func record(
    _ event: UserEvent, _ stored: StoredUser, id: String, in users: EntityCollection,
    on connection: borrowing Connection, at now: Timestamp
  ) throws(SQLiteError) -> [UInt8] {
    guard stored.version.isIntact else { throw .damaged(id, in: "users") }
    guard let draft = EntityDraft(id, stored: stored.version, after: event, at: now) else {
      return stored.version.body
    }
    let body = draft.body(keeping: stored.version)
    try Entities.run(users.rewrite(stored.row), with: body, on: connection)
    return body
  }

  /// A user as stored, without regard to permissions.
  static func look(
    _ id: String, in users: EntityCollection, on connection: borrowing Connection
  ) throws(SQLiteError) -> StoredUser? {
    let look = try connection.statement(users.look(id, .unrestricted))
    return try look.step() ? try StoredUser(look) : nil
  }
}

/// A user as stored.
struct StoredUser {
  let row: Int64
  let version: StoredVersion

  init(_ look: borrowing Statement) throws(SQLiteError) {
    row = look.int64(1)
    version = try StoredVersion(look)
  }
}
