internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite

/// The users of apps: an entity that clients see, and an account with what they must not see. Both are
/// written in one transaction. Safe from any thread.
final class Accounts: Sendable {
  struct Account: Sendable {
    var id: String
    var name: String
    var password: String
    var isDisabled: Bool
  }

  let entities: Entities
  private let catalog: Catalog

  init(_ entities: Entities, _ catalog: Catalog) {
    self.entities = entities
    self.catalog = catalog
  }

  /// What users may do with users: each is the creator of himself, and shares by his `_acl`.
  static let permissions: Permissions = {
    var permissions = Permissions()
    permissions.read = .acl
    return permissions
  }()

  /// The collection of an app's users.
  func users(of app: Int64) throws(ServerError) -> EntityCollection {
    try Entities.storage { () throws(SQLiteError) in try catalog.make(Schema.users, of: app) }
  }

  // MARK: Finding

  func find(name: String, of app: Int64) throws(ServerError) -> Account? {
    try find(Self.selectByName, name, app)
  }

  func find(id: String, of app: Int64) throws(ServerError) -> Account? {
    try find(Self.selectById, id, app)
  }

  /// The entities of the users that match and are not disabled, whoever asks: for discovery, which
  /// shows little of them.
  func discover(_ query: Query, of app: Int64) throws(ServerError) -> [JSONValue] {
    let viewer = Viewer(principal: .master, permissions: Self.permissions)
    let finding = try Finding(
      query, in: try users(of: app), of: entities.database, for: viewer, pieceBytes: .max)
    guard let piece = try finding.nextPiece() else { return [] }
    do throws(JSONError) {
      return try piece.withBytes { (bytes) throws(JSONError) in
        try JSONValue(parsing: bytes).arrayValue ?? []
      }
    } catch {
      throw ServerError(.internalErrorStop, cause: "a stored user is not JSON: \(error.message)")
    }
  }

  // MARK: Changing

  /// Makes a user. Throws `.userAlreadyExists` if the name is taken, or the id is or ever was.
  func create(
    _ draft: EntityDraft, name: String, password: String, of app: Int64
  ) throws(ServerError) -> [UInt8] {
    let users = try users(of: app)
    var acl = draft.acl ?? ACL()
    acl.creator = draft.id
    let body = try entities.write { (connection, now) throws(SQLiteError) -> [UInt8]? in
      let insert = try connection.statement(Self.insert)
      try insert.bind(app, at: 1)
      try insert.bind(draft.id, at: 2)
      try insert.bind(name, at: 3)
      try insert.bind(password, at: 4)
      try insert.run()
      guard connection.changes == 1 else { return nil }
      let written = try Entities.insert(draft, acl, users, connection, now)
      if case .success(let written) = written { return written.body }
      // An entity without an account is left over from nothing we do; refuse the whole.
      throw SQLiteError.rollback
    }
    guard let body else { throw ServerError(.userAlreadyExists) }
    return body
  }

  /// Replaces a user's entity, and his name and password if given.
  func update(
    _ draft: EntityDraft, name: String, password: String?, for viewer: Viewer, of app: Int64
  ) throws(ServerError) -> [UInt8] {
    let users = try users(of: app)
    let rule = try viewer.rule(for: .update)
    let result = try entities.write {
      (connection, now) throws(SQLiteError) -> Result<[UInt8], ServerError> in
      let look = try connection.statement(users.sql(.look(rule)))
      try look.bind(viewer.user, at: 1)
      try look.bind(draft.id, at: 2)
      guard try look.step() else { return .failure(ServerError(.userNotFound)) }
      guard look.int64(0) != 0 else { return .failure(Entities.forbidden(draft.id)) }
      let stored = Entities.StoredRow(look)
      let change = try connection.statement(Self.change)
      try change.bind(app, at: 1)
      try change.bind(draft.id, at: 2)
      try change.bind(name, at: 3)
      try change.bind(password, at: 4)
      try change.run()
      guard connection.changes == 1 else { return .failure(ServerError(.userAlreadyExists)) }
      let written = try entities.update(stored, draft, users, viewer, connection, now)
      return .success(written.body)
    }
    return try result.get()
  }

  /// Deletes a user for good, or only keeps him from logging in. His sessions are not ended here.
  func delete(
    _ id: String, permanently: Bool, for viewer: Viewer, of app: Int64
  ) throws(ServerError) {
    let users = try users(of: app)
    let rule = try viewer.rule(for: .delete)
    let problem = try entities.write { (connection, now) throws(SQLiteError) -> ServerError? in
      let look = try connection.statement(users.sql(.look(rule)))
      try look.bind(viewer.user, at: 1)
      try look.bind(id, at: 2)
      guard try look.step() else { return ServerError(.userNotFound) }
      guard look.int64(0) != 0 else { return Entities.forbidden(id) }
      let stored = Entities.StoredRow(look)
      let account = try connection.statement(permanently ? Self.remove : Self.disable)
      try account.bind(app, at: 1)
      try account.bind(id, at: 2)
      try account.run()
      if permanently {
        let remember = try connection.statement(Self.remember)
        try remember.bind(app, at: 1)
        try remember.bind(id, at: 2)
        try remember.run()
        let delete = try connection.statement(users.sql(.deleteRow))
        try delete.bind(stored.row, at: 1)
        try delete.run()
      } else {
        try markDisabled(stored, id, users, viewer, connection, now)
      }
      return nil
    }
    if let problem { throw problem }
  }

  private func markDisabled(
    _ stored: Entities.StoredRow, _ id: String, _ users: EntityCollection, _ viewer: Viewer,
    _ connection: borrowing Connection, _ now: Timestamp
  ) throws(SQLiteError) {
    let draft = stored.body.withUnsafeBytes { bytes -> EntityDraft? in
      guard let outline = try? EntityScanner.outline(of: bytes) else { return nil }
      return try? EntityDraft(bytes, outline, id: id)
    }
    guard var draft else { throw SQLiteError.rollback }
    draft.metadata = ",\"status\":{\"val\":\"disabled\",\"lastChange\":\"\(now)\"}"
    _ = try entities.update(stored, draft, users, viewer, connection, now)
  }

  private func find(_ sql: SQL, _ key: String, _ app: Int64) throws(ServerError) -> Account? {
    try Entities.storage { () throws(SQLiteError) -> Account? in
      try entities.database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(sql)
        try select.bind(app, at: 1)
        try select.bind(key, at: 2)
        guard try select.step() else { return nil }
        return Account(
          id: select.text(0) ?? "", name: select.text(1) ?? "", password: select.text(2) ?? "",
          isDisabled: select.int64(3) != 0)
      }
    }
  }

  private static let selectByName = SQL(
    "SELECT id, name, password, disabled FROM account WHERE app = ?1 AND name = ?2")
  private static let selectById = SQL(
    "SELECT id, name, password, disabled FROM account WHERE app = ?1 AND id = ?2")
  private static let insert = SQL(
    """
    INSERT INTO account (app, id, name, password) SELECT ?1, ?2, ?3, ?4
    WHERE NOT EXISTS (SELECT 1 FROM former_user WHERE app = ?1 AND id = ?2) ON CONFLICT DO NOTHING
    """)
  private static let change = SQL(
    """
    UPDATE OR IGNORE account SET name = ?3, password = coalesce(?4, password)
    WHERE app = ?1 AND id = ?2
    """)
  private static let disable = SQL("UPDATE account SET disabled = 1 WHERE app = ?1 AND id = ?2")
  private static let remember = SQL(
    "INSERT INTO former_user (app, id) VALUES (?1, ?2) ON CONFLICT DO NOTHING")
  private static let remove = SQL("DELETE FROM account WHERE app = ?1 AND id = ?2")
}
