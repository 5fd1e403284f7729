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
      return try Self.changeMetadata(stored, of: account.id, in: users, on: connection) {
        $0["llt"] = .string(now.description)
      }
    }
  }

  func recordVerification(of account: Account, app: Int64) throws(ServerError) {
    let users = try users(of: app)
    _ = try entities.write { (connection, now) throws(SQLiteError) in
      guard let stored = try Self.look(account.id, in: users, on: connection),
        let user = try? JSONValue(parsing: stored.body), let address = user["email"]?.stringValue
      else { return }
      _ = try Self.changeMetadata(stored, of: account.id, in: users, on: connection) {
        $0["emailVerification"] = [
          "status": "sent", "lastStateChangeAt": .string(now.description),
          "emailAddress": .string(address),
        ]
      }
    }
  }

  /// Changes what `_kmd` says of a user. That is no change of the user himself: his `lmt` stays.
  static func changeMetadata(
    _ stored: Entities.StoredRow, of id: String, in users: EntityCollection,
    on connection: borrowing Connection, change: (inout UserMetadata) -> Void
  ) throws(SQLiteError) -> [UInt8] {
    var draft = try draft(of: stored, id: id)
    var metadata = UserMetadata(of: stored.body)
    change(&metadata)
    draft.metadata = metadata.text
    let body = draft.body(
      ACL(of: stored.body), created: stored.created, modified: stored.modified)
    try Entities.run(users.rewrite(stored.row), with: body, on: connection)
    return body
  }

  /// A user as he is stored, whoever looks.
  static func look(
    _ id: String, in users: EntityCollection, on connection: borrowing Connection
  ) throws(SQLiteError) -> Entities.StoredRow? {
    let look = try connection.statement(users.look(id, .unrestricted))
    return try look.step() ? Entities.StoredRow(look) : nil
  }

  /// A stored user, to be written again.
  static func draft(
    of stored: Entities.StoredRow, id: String
  ) throws(SQLiteError) -> EntityDraft {
    guard stored.isIntact else { throw .damaged(id, in: "users") }
    let draft = stored.body.withUnsafeBytes { bytes -> EntityDraft? in
      guard let outline = try? EntityScanner.outline(of: bytes) else { return nil }
      return try? EntityDraft(stored: bytes, outline, id: id)
    }
    guard let draft else { throw SQLiteError.rollback }
    return draft
  }
}
