internal import KVBase
package import KVCrypto
internal import KVQuery
internal import KVSQLite
package import KVServerCore

/// The server's data in one SQLite file, which no other server uses: so what is kept in memory of sessions, permissions
/// and settings is never out of date. Safe from any thread.
package final class SQLiteStore: ServerStore {
  /// How the data is kept.
  package struct Settings: Sendable {
    /// Has the key that the file is encrypted with; nil: it is not.
    package var vault: Vault?
    /// For collections without permissions of their own.
    package var permissions = Permissions()
    /// How long collections without a setting of their own keep their history; 0: they keep none.
    package var historyDays = 0
    /// Nil: indexes are only those that the administrator has added.
    package var automaticIndexes: AutomaticIndexes?
    /// The administrator says that the data is a copy that was put back.
    package var isRestored = false
    /// Whether the settings are not those of a server: then they change nothing of the collections that exist, and what is
    /// old is kept.
    package var isVisit = false
    /// Whether a write returns only when it is on the disk.
    package var isDurable = true
    /// SQLite's page cache for each connection to the file.
    package var cacheMiB = 16

    package init() {}
  }

  /// Why the data cannot be opened or copied: one sentence for the operator.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package let entities: any ServerEntityStore
  package let indexes: any IndexStore
  package let automaticIndexes: AutomaticIndexes?
  package let accounts: any AccountStore
  package let sessions: any SessionStore
  package let groups: any UserGroupStore
  package let registrations: any RegistrationStore
  package let streams: any StreamStore
  package let history: any LiveHistoryStore
  package var isLocal: Bool { true }
  package var collections: any CollectionStore { histories }
  package var epoch: String { dataEpoch.text }
  package var restored: Int64? { dataEpoch.restored }
  private let database: Database
  private let registry: CollectionRegistry
  private let histories: Histories
  private let dataEpoch: DataEpoch
  private let outbox: CommitOrderedQueue
  private let log: Log

  /// The file of the data in a directory.
  package static func file(in directory: String) -> String { directory + "/kvstored.db" }

  /// Opens the data in a directory, or makes it.
  package convenience init(
    in directory: String, _ settings: Settings, log: Log
  ) throws(Failure) {
    let file = Self.file(in: directory)
    var configuration = SQLiteSchema.configuration(file)
    configuration.vault = settings.vault
    configuration.durability = settings.isDurable ? .full : .normal
    configuration.cacheKiB = Int32(clamping: settings.cacheMiB * 1024)
    let database: Database
    do { database = try Database(configuration, migrations: SQLiteSchema.migrations) } catch {
      throw Failure(description: "\(file): \(error)")
    }
    do {
      try self.init(
        database, epochFile: EpochFile(in: directory, database: file), settings: settings, log: log)
    } catch {
      throw Failure(description: "cannot read the data: \(error.cause ?? error.debug)")
    }
  }

  /// Copies the data, as it is at one moment, into a new file, which is complete and on the disk when this returns. A
  /// server may use it meanwhile.
  /// `vault`: has its key if it is encrypted; so is the copy, with the same keys.
  package static func copy(
    _ file: String, with vault: Vault?, to copy: String
  ) throws(Failure) {
    do {
      try DatabaseCopy.make(
        [.init(file, to: copy, applicationId: SQLiteSchema.applicationId)], with: vault,
        within: .unlimited)
    } catch {
      throw Failure(description: "cannot copy \(file): \(error)")
    }
  }

  /// Encrypts the data in a directory anew, encrypts what was not, or decrypts it (`target` nil). No other connection may have it open.
  package static func changeEncryption(
    in directory: String, from vault: Vault?, to target: Vault?
  ) throws(Failure) {
    let file = file(in: directory)
    do {
      try Database.changeEncryption(of: file, from: vault, to: target, within: .unlimited)
    } catch {
      throw Failure(description: "\(file): \(error)")
    }
  }

  init(
    _ database: Database, epochFile: EpochFile, settings: Settings, log: Log
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
      database, epochFile, latest: latest, isRestored: settings.isRestored, log: log
    ) { () throws(SQLiteError) in try Self.newest(database, registry) }
    let journal = LiveJournal(database, epoch: dataEpoch.text)
    outbox = CommitOrderedQueue(journal)
    history = journal
    let rows = Entities(database, clock: dataEpoch.clock, outbox: outbox)
    histories = try Histories(
      rows, registry, defaultDays: settings.historyDays, isVisit: settings.isVisit)
    automaticIndexes = settings.automaticIndexes
    indexes = SQLiteIndexes(
      database, histories, collections: registry, rules: settings.automaticIndexes?.rules ?? .init()
    )
    let sessions = Sessions(database)
    self.sessions = sessions
    entities = SQLiteEntityStore(
      rows, collections: registry, histories: histories, sessions: sessions,
      automatic: settings.automaticIndexes)
    accounts = UserAccounts(rows, registry, sessions: sessions)
    groups = UserGroups(rows, registry)
    registrations = LiveRegistrations(database)
    streams = LiveStreams(database)
  }

  package func app(_ key: String) throws(ServerError) -> Int64 {
    try Entities.storage { () throws(SQLiteError) in try registry.app(key) }
  }

  package func appKeys() throws(ServerError) -> [String] {
    try Entities.storage { () throws(SQLiteError) -> [String] in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement("SELECT key FROM app ORDER BY key")
        var keys: [String] = []
        while try select.step() { keys.append(select.text(0) ?? "") }
        return keys
      }
    }
  }

  /// The data row by row, to be moved to another store. Only while this is open.
  package func transfer() -> any TransferReader { SQLiteTransfer(database, epoch: epoch) }

  /// Only this server commits, and brings all that it commits.
  package func follow(_: Int64) {}

  package func start(_ feed: any LivePublisher) {
    outbox.start(feed)
    histories.start(log)
    dataEpoch.start(log)
  }

  /// A commit that has returned has reached the feed, and no other process commits.
  package func catchUp() {}

  package func publish(
    _ message: [UInt8], to topic: String, from user: String, audience: Audience, in app: Int64
  ) throws(ServerError) -> Int64 {
    try outbox.send(
      message, to: topic, from: user, audience: audience, in: app, by: database)
  }

  package var status: StoreStatus {
    let feed = outbox.status
    return StoreStatus(feedWaiting: feed.waiting, feedAge: feed.age, bytes: database.fileBytes)
  }

  package func check() throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        _ = try connection.integer("SELECT 1")
      }
    }
  }

  /// Remembers the time, so that it goes on from there, and that this is the data that was used last.
  package func close() {
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

  /// The time of the last write or deletion that the data has. Reads all collections that have no history.
  private static func newest(
    _ database: Database, _ collections: CollectionRegistry
  ) throws(SQLiteError) -> Int64 {
    try database.read { (connection: borrowing Connection) throws(SQLiteError) -> Int64 in
      var newest: Int64 = 0
      for collection in collections.all {
        let modified = try connection.integer("SELECT max(lmt) FROM \(collection.table)")
        let deleted =
          try collection.history == .off
          ? nil : connection.integer("SELECT max(at) FROM \(collection.tombstones)")
        newest = max(newest, modified ?? 0, deleted ?? 0)
      }
      return newest
    }
  }
}
