internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import KVServerCore

/// The users of apps: an entity that clients see, and an account with what they must not see. Both are
/// written in one transaction. Safe from any thread.
final class UserAccounts: AccountStore {
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
    try Entities.storage { () throws(SQLiteError) in try collections.make(.users(of: app)) }
  }

  func find(name: String, of app: Int64) throws(ServerError) -> Account? {
    try find(AccountStatements.find(name: name, app: app))
  }

  func find(id: String, of app: Int64) throws(ServerError) -> Account? {
    try find(AccountStatements.find(id: id, app: app))
  }

  func find(identity: String, of app: Int64) throws(ServerError) -> Account? {
    try find(AccountStatements.find(identity: identity, app: app))
  }

  func link(_ identity: String?, to id: String, of app: Int64) throws(ServerError) -> Bool {
    try entities.write { (connection, _) throws(SQLiteError) -> Bool in
      try connection.run(AccountStatements.link(identity, to: id, app: app))
      return connection.changes == 1
    }
  }

  /// The ids of all users.
  func ids(of app: Int64) throws(ServerError) -> [String] {
    try Entities.storage { () throws(SQLiteError) -> [String] in
      try entities.database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(AccountStatements.ids(app: app))
        var ids: [String] = []
        while try select.step() { ids.append(select.text(0) ?? "") }
        return ids
      }
    }
  }

  private func find(_ account: SQLFragment) throws(ServerError) -> Account? {
    try Entities.storage { () throws(SQLiteError) -> Account? in
      try entities.database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(account)
        guard try select.step() else { return nil }
        return Account(
          id: select.text(0) ?? "", name: select.text(1) ?? "", password: select.text(2) ?? "",
          isDisabled: select.int64(3) != 0, generation: select.int64(4), ended: select.int64(5))
      }
    }
  }
}
