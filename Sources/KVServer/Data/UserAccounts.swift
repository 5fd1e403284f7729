internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite

/// The users of apps: an entity that clients see, and an account with what they must not see. Both are
/// written in one transaction. Safe from any thread.
final class UserAccounts: Sendable {
  struct Account: Sendable {
    var id: String
    var name: String
    var password: String
    var isDisabled: Bool
    /// Sessions of another one are none.
    var generation: Int64
  }

  let entities: Entities
  let sessions: Sessions
  private let collections: CollectionRegistry

  init(_ entities: Entities, _ collections: CollectionRegistry, sessions: Sessions) {
    self.entities = entities
    self.collections = collections
    self.sessions = sessions
  }

  /// The collection of an app's users.
  func users(of app: Int64) throws(ServerError) -> EntityCollection {
    try Entities.storage { () throws(SQLiteError) in
      try collections.make(ServerSchema.users, of: app)
    }
  }

  func find(name: String, of app: Int64) throws(ServerError) -> Account? {
    try find("name = \(bind: name)", app)
  }

  func find(id: String, of app: Int64) throws(ServerError) -> Account? {
    try find("id = \(bind: id)", app)
  }

  /// The ids of all users.
  func ids(of app: Int64) throws(ServerError) -> [String] {
    try Entities.storage { () throws(SQLiteError) -> [String] in
      try entities.database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement("SELECT id FROM account WHERE app = \(bind: app)")
        var ids: [String] = []
        while try select.step() { ids.append(select.text(0) ?? "") }
        return ids
      }
    }
  }

  /// The entities of the users that match and are not disabled, whoever asks: for discovery, which
  /// shows little of them.
  func discover(
    _ query: Query, of app: Int64, within budget: WorkBudget
  ) throws(ServerError) -> [JSONValue] {
    let viewer = Viewer(principal: .master, permissions: .sharedByACL)
    let finding = try Finding(
      query, in: try users(of: app), of: entities.database, for: viewer, within: budget,
      pieceBytes: .max)
    guard let piece = try finding.nextPiece() else { return [] }
    do throws(JSONError) {
      return try piece.withBytes { (bytes) throws(JSONError) in
        try JSONValue(parsing: bytes).arrayValue ?? []
      }
    } catch {
      throw ServerError(.internalErrorStop, cause: "a stored user is not JSON: \(error.message)")
    }
  }

  private func find(_ condition: SQLFragment, _ app: Int64) throws(ServerError) -> Account? {
    try Entities.storage { () throws(SQLiteError) -> Account? in
      try entities.database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(
          """
          SELECT id, name, password, disabled, generation FROM account
          WHERE app = \(bind: app) AND \(condition)
          """)
        guard try select.step() else { return nil }
        return Account(
          id: select.text(0) ?? "", name: select.text(1) ?? "", password: select.text(2) ?? "",
          isDisabled: select.int64(3) != 0, generation: select.int64(4))
      }
    }
  }
}
