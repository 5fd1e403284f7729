internal import KVBase
internal import KVServerCore

/// The users: an entity that clients see, and an account with what they must not see, written in one transaction. Safe
/// from any thread.
final class PostgresAccounts: AccountStore {
  private let writer: AppWriter
  private let collections: PostgresCollections

  init(_ writer: AppWriter, _ collections: PostgresCollections) {
    self.writer = writer
    self.collections = collections
  }

  // MARK: Reading

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
    try writer.write(app: app) { (transaction, _) throws(PostgresError) in
      try transaction.run(AccountStatements.link(identity, to: id, app: app)).changes == 1
    }
  }

  func ids(of app: Int64) throws(ServerError) -> [String] {
    let rows = try storage { () throws(PostgresError) in
      try writer.database.read(AccountStatements.ids(app: app))
    }
    return (0..<rows.count).map { rows.text($0, 0) }
  }

  private func find(_ select: SQL) throws(ServerError) -> Account? {
    let rows = try storage { () throws(PostgresError) in try writer.database.read(select) }
    guard !rows.isEmpty else { return nil }
    return Account(
      id: rows.text(0, 0), name: rows.text(0, 1), password: rows.text(0, 2),
      isDisabled: rows.flag(0, 3), generation: rows.int64(0, 4), ended: rows.int64(0, 5))
  }

  // MARK: Writing

  func create(
    _ draft: EntityDraft, name: String, password: String, session: NewSession?, of app: Int64
  ) throws(ServerError) -> [UInt8] {
    var acl = draft.acl ?? ACL()
    acl.creator = draft.id
    let body = try write(draft.id, of: app) {
      (users, _, transaction) throws(PostgresError) -> [UInt8]? in
      let added = try transaction.run(
        AccountStatements.insert(draft.id, name: name, password: password, app: app))
      guard added.changes == 1 else { return nil }
      if let session {
        _ = try PostgresSessions.insert(session, of: draft.id, generation: 0, in: transaction)
      }
      let now = transaction.now
      let record = draft.record(acl, created: now, modified: now)
      try users.insert(record)
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
    let rule = try viewer.rule(for: .update)
    let result = try write(account.id, of: app, for: .principal(principal)) {
      (users, row, transaction) throws(PostgresError) -> Result<[UInt8]?, ServerError> in
      guard try Self.isCurrent(account, in: transaction) else { return .success(nil) }
      guard let row else { return .failure(ServerError(.userNotFound)) }
      guard users.collection.access(rule, for: viewer, isWriting: true).allows(row) else {
        return .failure(.forbidden(account.id))
      }
      guard try Self.apply(change, to: account.id, in: transaction) else {
        return .failure(ServerError(.userAlreadyExists))
      }
      var draft = draft
      draft.metadata = UserMetadata(of: row.version.body).members
      return .success(try Self.rewrite(row, draft, in: &users, for: viewer))
    }
    return try result.get()
  }

  func delete(
    _ id: String, permanently: Bool, for principal: Principal, of app: Int64
  ) throws(ServerError) {
    let viewer = Self.viewer(principal)
    let problem = try write(id, of: app) {
      (users, row, transaction) throws(PostgresError) -> ServerError? in
      guard let row else { return ServerError(.userNotFound) }
      if permanently {
        Self.remove(id, in: transaction)
        try users.remove([row])
      } else {
        guard
          let draft = EntityDraft(
            id, stored: row.version, after: .disabling, at: transaction.now)
        else { return .damaged(id, in: "users") }
        transaction.enqueue(AccountStatements.setDisabled(true, of: id, app: app))
        _ = try Self.rewrite(row, draft, in: &users, for: viewer)
      }
      PostgresSessions.endAll(of: id, in: transaction)
      return nil
    }
    if let problem { throw problem }
  }

  func restore(_ id: String, for principal: Principal, of app: Int64) throws(ServerError) {
    let viewer = Self.viewer(principal)
    let problem = try write(id, of: app) {
      (users, row, transaction) throws(PostgresError) -> ServerError? in
      guard let row else { return ServerError(.userNotFound) }
      guard
        let draft = EntityDraft(id, stored: row.version, after: .restoring, at: transaction.now)
      else { return .damaged(id, in: "users") }
      transaction.enqueue(AccountStatements.setDisabled(false, of: id, app: app))
      _ = try Self.rewrite(row, draft, in: &users, for: viewer)
      return nil
    }
    if let problem { throw problem }
  }

  func setPassword(_ password: String, of id: String, app: Int64) throws(ServerError) -> Bool {
    try writer.write(app: app) { (transaction, _) throws(PostgresError) in
      let rows = try transaction.run(AccountStatements.setPassword(password, of: id, app: app))
      guard rows.changes == 1 else { return false }
      PostgresSessions.endAll(of: id, in: transaction)
      return true
    }
  }

  func begin(
    _ session: NewSession, of account: Account, app: Int64
  ) throws(ServerError) -> [UInt8]? {
    try write(account.id, of: app) { (users, row, transaction) throws(PostgresError) -> [UInt8]? in
      let isStarted = try PostgresSessions.insert(
        session, of: account.id, generation: account.generation, in: transaction)
      guard isStarted, let row else { return nil }
      return Self.record(.login, row, number: users.number, in: transaction)
    }
  }

  func recordVerification(of account: Account, app: Int64) throws(ServerError) {
    try write(account.id, of: app) { (users, row, transaction) in
      if let row { _ = Self.record(.verification, row, number: users.number, in: transaction) }
    }
  }

  // MARK: Parts

  /// Runs `body` in a transaction with what writes users, and the one of an id. `claim`: whose groups count.
  private func write<R>(
    _ id: String, of app: Int64, for claim: Claim = .principal(.master),
    _ body: (inout EntityWriter, StoredRow?, AppWriter.Transaction) throws(PostgresError) -> R
  ) throws(ServerError) -> R {
    let key = CollectionKey.users(of: app)
    let reading = [CollectionState.select(key, for: claim), StoredRow.select([id], in: key)]
    return try writer.write(app: app, reading: reading) {
      (transaction, rows) throws(PostgresError) in
      let state = try collections.make(collections.state(key, rows[0], for: claim), in: transaction)
      guard let number = state.number else { throw PostgresError(.other, "there are no users") }
      var users = EntityWriter(transaction, state, number: number, stored: rows[1])
      let row = rows[1].isEmpty ? nil : StoredRow(rows[1], 0)
      let result = try body(&users, row, transaction)
      users.announce()
      return result
    }
  }

  private static func viewer(_ principal: Principal) -> Viewer {
    Viewer(principal: principal, permissions: .sharedByACL)
  }

  private static func isCurrent(
    _ account: Account, in transaction: AppWriter.Transaction
  ) throws(PostgresError) -> Bool {
    try !transaction.run(AccountStatements.isCurrent(account, app: transaction.app)).isEmpty
  }

  /// False: another user has the name. No other takes it meanwhile: writers wait for the app.
  private static func apply(
    _ change: AccountChange, to id: String, in transaction: AppWriter.Transaction
  ) throws(PostgresError) -> Bool {
    let rows = try transaction.run(
      AccountStatements.apply(change, to: id, app: transaction.app))
    guard rows.changes == 1 else { return false }
    if change.password != nil {
      PostgresSessions.endAll(of: id, but: change.keptToken, in: transaction)
    }
    return true
  }

  private static func remove(_ id: String, in transaction: AppWriter.Transaction) {
    let removing: [SQL] = AccountStatements.remove(id, app: transaction.app)
    for statement in removing { transaction.enqueue(statement) }
  }

  /// Stores the next version of a user; gives its body.
  private static func rewrite(
    _ row: StoredRow, _ draft: EntityDraft, in users: inout EntityWriter, for viewer: Viewer
  ) throws(PostgresError) -> [UInt8] {
    let record = draft.record(
      replacing: row.version, for: viewer, at: users.transaction.now)
    try users.update(record, changesAccess: draft.acl != nil)
    return record.body
  }

  /// Records an event that does not change the user's entity: its `lmt` stays. Gives what is stored then.
  private static func record(
    _ event: UserEvent, _ row: StoredRow, number: Int64, in transaction: AppWriter.Transaction
  ) -> [UInt8] {
    guard
      let draft = EntityDraft(row.id, stored: row.version, after: event, at: transaction.now)
    else { return row.version.body }
    let body = draft.body(keeping: row.version)
    transaction.enqueue(
      """
      UPDATE entity SET body = \(bind: body)
      WHERE collection = \(bind: number) AND id = \(bind: row.id)
      """)
    return body
  }
}
