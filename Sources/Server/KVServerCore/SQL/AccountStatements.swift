/// The statements on the accounts of users.
package enum AccountStatements<Piece: SQLPiece> {
  private static var user: Piece { .user }

  private static func isOf(_ id: String, _ app: Int64) -> Piece {
    "app = \(bind: app) AND id = \(bind: id)"
  }

  /// The id, the name, the password, whether it is disabled, and the generation of the account of a name.
  package static func find(name: String, app: Int64) -> Piece {
    find("app = \(bind: app) AND name = \(bind: name)")
  }

  /// The same of the account of an id.
  package static func find(id: String, app: Int64) -> Piece { find(isOf(id, app)) }

  /// The same of the account that is linked with an identity of a provider.
  package static func find(identity: String, app: Int64) -> Piece {
    find("app = \(bind: app) AND identity = \(bind: identity)")
  }

  private static func find(_ condition: Piece) -> Piece {
    "SELECT id, name, password, disabled, generation, ended FROM account WHERE \(condition)"
  }

  /// Links an account with an identity, or with none. Changes no row if another account has it.
  package static func link(_ identity: String?, to id: String, app: Int64) -> Piece {
    """
    UPDATE account SET identity = \(bind: identity)
    WHERE \(isOf(id, app)) AND NOT EXISTS
      (SELECT 1 FROM account WHERE app = \(bind: app) AND identity = \(bind: identity)
        AND id <> \(bind: id))
    """
  }

  package static func ids(app: Int64) -> Piece {
    "SELECT id FROM account WHERE app = \(bind: app)"
  }

  /// Changes no row if the name is taken, or the id was used before.
  package static func insert(_ id: String, name: String, password: String, app: Int64) -> Piece {
    """
    INSERT INTO account (app, id, name, password)
    SELECT \(bind: app), \(bind: id), \(bind: name), \(bind: password)
    WHERE NOT EXISTS (SELECT 1 FROM former_user WHERE \(isOf(id, app)))
    ON CONFLICT DO NOTHING
    """
  }

  /// Selects a row if an account is still what was read, and not disabled.
  package static func isCurrent(_ account: Account, app: Int64) -> Piece {
    """
    SELECT 1 FROM account
    WHERE \(isOf(account.id, app)) AND name = \(bind: account.name)
      AND generation = \(bind: account.generation) AND NOT disabled
    """
  }

  /// Changes no row if another user has the name.
  package static func apply(_ change: AccountChange, to id: String, app: Int64) -> Piece {
    """
    UPDATE account SET name = \(bind: change.name),
      password = coalesce(\(bind: change.password), password)
    WHERE \(isOf(id, app)) AND NOT EXISTS
      (SELECT 1 FROM account WHERE app = \(bind: app) AND name = \(bind: change.name)
        AND id <> \(bind: id))
    """
  }

  package static func setPassword(_ password: String, of id: String, app: Int64) -> Piece {
    "UPDATE account SET password = \(bind: password) WHERE \(isOf(id, app))"
  }

  package static func setDisabled(_ isDisabled: Bool, of id: String, app: Int64) -> Piece {
    "UPDATE account SET disabled = \(sql: isDisabled ? "true" : "false") WHERE \(isOf(id, app))"
  }

  /// Removes an account and its user from all groups; the id is never used again.
  package static func remove(_ id: String, app: Int64) -> [Piece] {
    [
      "INSERT INTO former_user (app, id) VALUES (\(bind: app), \(bind: id)) ON CONFLICT DO NOTHING",
      "DELETE FROM account WHERE \(isOf(id, app))",
      "DELETE FROM group_member WHERE app = \(bind: app) AND \(user) = \(bind: id)",
    ]
  }
}
