internal import KVBase
internal import KVSQLite

/// The server's data in one SQLite file, which no other server uses. Safe from any thread.
final class SQLiteStore: ServerStore {
  /// How the data is kept.
  struct Settings: Sendable {
    /// For collections without permissions of their own.
    var permissions = Permissions()
    /// How long collections without a setting of their own keep their history; 0: they keep none.
    var historyDays = 0
    /// The administrator says that the data is a copy that was put back.
    var isRestored = false
  }

  let entities: any EntityStore
  let accounts: any AccountStore
  let sessions: any SessionStore
  let groups: any UserGroupStore
  let registrations: any RegistrationStore
  let streams: any StreamStore
  let history: any LiveHistoryStore
  var collections: any CollectionStore { histories }
  var epoch: String { dataEpoch.text }
  private let database: Database
  private let registry: CollectionRegistry
  private let histories: Histories
  private let dataEpoch: DataEpoch
  private let outbox: CommitOrderedQueue
  private let log: Log

  init(
    _ database: Database, _ epochFile: EpochFile, _ settings: Settings, log: Log
  ) throws(ServerError) {
    self.database = database
    self.log = log
    let (registry, latest) = try Entities.storage { () throws(SQLiteError) in
      let registry = try CollectionRegistry(
        database, defaults: settings.permissions, historyDays: settings.historyDays)
      return (registry, try Self.latest(database, registry))
    }
    self.registry = registry
    dataEpoch = try DataEpoch(
      database, epochFile, latest: latest, isRestored: settings.isRestored, log: log)
    let journal = LiveJournal(database, epoch: dataEpoch.text)
    outbox = CommitOrderedQueue(journal)
    history = journal
    let rows = Entities(database, clock: dataEpoch.clock, outbox: outbox)
    histories = try Histories(rows, registry, defaultDays: settings.historyDays)
    entities = SQLiteEntityStore(rows, registry, histories)
    let sessions = Sessions(database)
    self.sessions = sessions
    accounts = UserAccounts(rows, registry, sessions: sessions)
    groups = UserGroups(rows, registry)
    registrations = LiveRegistrations(database)
    streams = LiveStreams(database)
  }

  func app(_ key: String) throws(ServerError) -> Int64 {
    try Entities.storage { () throws(SQLiteError) in try registry.app(key) }
  }

  func start(_ feed: any LiveFeed) {
    outbox.start(feed)
    histories.start(log)
    dataEpoch.start(log)
  }

  func publish(
    _ message: [UInt8], to topic: String, from user: String, audience: Audience, in app: Int64
  ) throws(ServerError) -> Int64 {
    try outbox.send(
      message, to: topic, from: user, audience: audience, in: app, by: database)
  }

  func check() throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        _ = try connection.integer("SELECT 1")
      }
    }
  }

  /// Remembers the time, so that it goes on from there, and that this is the data that was used last.
  func close() {
    histories.close()
    do throws(SQLiteError) {
      try dataEpoch.close(log)
      try database.checkpoint()
    } catch {
      log.error("while closing: \(error)")
    }
    database.close()
  }

  /// The latest time that the data holds, as far as it matters: where histories are kept, no later
  /// write may have an earlier time, even if the wall clock was set back while the server was down.
  private static func latest(
    _ database: Database, _ collections: CollectionRegistry
  ) throws(SQLiteError) -> Int64 {
    try database.read { (connection: borrowing Connection) throws(SQLiteError) -> Int64 in
      var latest = try connection.integer("SELECT latest FROM clock") ?? 0
      for collection in collections.all where collection.history != .off {
        let modified = try connection.integer("SELECT max(lmt) FROM \(collection.table)")
        let deleted = try connection.integer("SELECT max(at) FROM \(collection.tombstones)")
        latest = max(latest, modified ?? 0, deleted ?? 0)
      }
      return latest
    }
  }
}
