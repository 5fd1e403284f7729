internal import KVBase
internal import KVSQLite
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

@Suite("Accounts and their sessions") struct AccountsTests {
  private let directory = TemporaryDirectory()
  private let database: Database
  private let accounts: UserAccounts
  private let app: Int64
  private var sessions: Sessions { accounts.sessions }

  init() throws {
    database = try Database(
      SQLiteSchema.configuration(directory.path + "/data.db"),
      migrations: SQLiteSchema.migrations)
    let collections = try CollectionRegistry(database, defaults: Permissions())
    app = try collections.app("kid")
    let entities = Entities(database, clock: ServerClock(after: 0), outbox: CommitOrderedQueue())
    accounts = UserAccounts(
      entities, collections, sessions: Sessions(database))
  }

  @Test("start no session once the password, that was right when it was looked at, has changed")
  func changedMeanwhile() throws {
    let account = try user("ana")
    _ = try accounts.update(
      try draft(account.id), of: account, change: .init(name: "ana", password: "new"), for: master,
      app: app
    )
    #expect(try accounts.begin(NewSession(nil), of: account, app: app) == nil)
    let now = try #require(try accounts.find(name: "ana", of: app))
    #expect(try accounts.begin(NewSession(nil), of: now, app: app) != nil)
  }

  @Test("start no session once they are disabled or gone", arguments: [false, true])
  func deletedMeanwhile(permanently: Bool) throws {
    let account = try user("ana")
    try accounts.delete(account.id, permanently: permanently, for: master, of: app)
    #expect(try accounts.begin(NewSession(nil), of: account, app: app) == nil)
  }

  @Test("are not changed by who has read them before somebody else changed them")
  func renamedMeanwhile() throws {
    let account = try user("ana")
    _ = try accounts.update(
      try draft(account.id), of: account, change: .init(name: "anna"), for: master, app: app)
    let late = try accounts.update(
      try draft(account.id), of: account, change: .init(name: "ana", password: nil), for: master,
      app: app)
    #expect(late == nil)
    #expect(try accounts.find(id: account.id, of: app)?.name == "anna")
  }

  @Test(
    "A session that ends while it is looked up is not found afterwards", arguments: [false, true])
  func endedWhileRead(endsAll: Bool) throws {
    let account = try user("ana")
    let session = NewSession(nil)
    _ = try accounts.begin(session, of: account, app: app)
    // What this look-up finds was good when it began.
    let found = try sessions.find(session.token) { (token) throws(ServerError) in
      let read = try sessions.load(token)
      if endsAll {
        try sessions.endAll(app: app, user: account.id)
      } else {
        try sessions.end(token)
      }
      return read
    }
    #expect(found?.user == account.id)
    #expect(try sessions.find(session.token) == nil)
  }

  @Test("A session that was kept in memory ends with its generation")
  func keptGeneration() throws {
    let account = try user("ana")
    let session = NewSession(nil)
    _ = try accounts.begin(session, of: account, app: app)
    #expect(try sessions.find(session.token)?.user == account.id)
    // A row of an older generation, as an insertion that came too late would have left it.
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      try connection.execute("UPDATE account SET generation = generation + 1")
    }
    sessions.forget(app: app, user: account.id)
    #expect(try sessions.find(session.token) == nil)
  }

  @Test("Sessions that have run out are taken out of the database by the next login")
  func purge() throws {
    let account = try user("ana")
    _ = try accounts.begin(
      NewSession(SessionLife(idleSeconds: -1, longestSeconds: 100)), of: account, app: app)
    _ = try accounts.begin(NewSession(nil), of: account, app: app)
    let count = try database.read { (connection: borrowing Connection) throws(SQLiteError) in
      try connection.integer("SELECT count(*) FROM session")
    }
    #expect(count == 1)
  }

  private let master = Principal.master

  private func user(_ name: String) throws -> Account {
    _ = try accounts.create(
      try draft(Identifier.object()), name: name, password: "hash", session: nil, of: app)
    return try #require(try accounts.find(name: name, of: app))
  }

  private func draft(_ id: String) throws -> EntityDraft {
    let body = Payload(Array("{}".utf8))
    return try Service.draft(body, id: id)
  }
}
