internal import KVBase
internal import KVQuery
package import KVServerCore

/// The server's data in a database of PostgreSQL, which any number of servers share: each is a stateless replica. Safe
/// from any thread.
///
/// Nothing is kept in memory of sessions, permissions and settings. What is – who listens, and the last live messages –
/// `CommitFeed` brings up to date.
package final class PostgresStore: ServerStore {
  /// How the data is kept.
  package struct Settings: Sendable {
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
    /// How many connections to the server there are at the most, besides those of the feed and of what reads for many.
    package var connections = 20

    package init() {}
  }

  /// Why the data cannot be opened: one sentence for the operator.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package let entities: any ServerEntityStore
  package let indexes: any IndexStore
  package let automaticIndexes: AutomaticIndexes?
  package var collections: any CollectionStore { ownCollections }
  package let accounts: any AccountStore
  package let sessions: any SessionStore
  package let groups: any UserGroupStore
  package let registrations: any RegistrationStore
  package let streams: any StreamStore
  package var history: any LiveHistoryStore { journal }
  package let epoch: String
  package let restored: Int64?
  package var isLocal: Bool { false }
  private let database: PostgresDatabase
  private let writer: AppWriter
  private let reader: SharedReader
  private let ownCollections: PostgresCollections
  private let journal: LiveJournal
  private let feed: CommitFeed
  private let upkeep: Upkeep
  private let isVisit: Bool
  /// The times that the data of apps had when these were opened.
  private let apps = Monitor([Int64: Int64]())

  /// Whether a `--storage` names a database of PostgreSQL.
  package static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
  }

  /// Opens a database, whose tables are made if there are none. `address`: a URI, as libpq takes it.
  package init(_ address: String, _ settings: Settings, log: Log) throws(Failure) {
    database = PostgresDatabase(
      address, connections: settings.connections + SharedReader.threads,
      isDurable: settings.isDurable)
    do throws(PostgresError) {
      let connection = try database.connect()
      try PostgresSchema.migrate(connection)
      guard try connection.run("SELECT 1 FROM migration").isEmpty else {
        throw PostgresError(
          .other, "not all data is here yet: run kvstored admin migrate again, until it succeeds")
      }
      if settings.isRestored { try Self.renewEpoch(connection) }
      let rows = try connection.run("SELECT epoch, restored FROM kvstored")
      epoch = rows.text(0, 0)
      restored = rows.isNull(0, 1) ? nil : rows.int64(0, 1)
    } catch {
      throw Failure(description: "cannot use the PostgreSQL database: \(error.message)")
    }
    isVisit = settings.isVisit
    let feed = CommitFeed(database, epoch: epoch, log: log)
    self.feed = feed
    let clocks = AppClocks(database)
    writer = AppWriter(database, clocks) { feed.wake() }
    let defaults = CollectionDefaults(
      permissions: settings.permissions, historyDays: settings.historyDays)
    ownCollections = PostgresCollections(writer, defaults)
    reader = SharedReader(database)
    automaticIndexes = settings.automaticIndexes
    entities = PostgresEntities(
      writer, ownCollections, reader: reader, clocks: clocks, automatic: settings.automaticIndexes)
    indexes = PostgresIndexes(
      writer, ownCollections, rules: settings.automaticIndexes?.rules ?? .init())
    accounts = PostgresAccounts(writer, ownCollections)
    sessions = PostgresSessions(writer)
    groups = PostgresGroups(writer, ownCollections)
    registrations = PostgresRegistrations(writer)
    streams = PostgresStreams(writer)
    journal = LiveJournal(database, clocks)
    upkeep = Upkeep(database, ownCollections, log: log)
  }

  /// Everything that clients remember of the data is void from now on.
  private static func renewEpoch(_ connection: PostgresConnection) throws(PostgresError) {
    connection.enqueue("BEGIN")
    // An app's clock is the time of its last commit.
    connection.enqueue(
      """
      UPDATE kvstored SET epoch = \(bind: hexText(randomBytes(8))),
        restored = least(restored, (SELECT min(clock) FROM app))
      """)
    connection.enqueue("DELETE FROM live_message")
    connection.enqueue("UPDATE app SET live_floor = 0")
    try connection.run("COMMIT")
  }

  package func app(_ key: String) throws(ServerError) -> Int64 {
    let rows = try storage { () throws(PostgresError) in
      // Does nothing where there is one, without using up a number.
      try database.run(
        """
        INSERT INTO app (key) SELECT \(bind: key)
        WHERE NOT EXISTS (SELECT 1 FROM app WHERE key = \(bind: key)) ON CONFLICT DO NOTHING
        """)
      return try database.read("SELECT number, clock FROM app WHERE key = \(bind: key)")
    }
    let app = rows.int64(0, 0)
    apps.withLock { $0[app] = rows.int64(0, 1) }
    if !isVisit { try ownCollections.applyDefaults(app: app) }
    return app
  }

  package func appKeys() throws(ServerError) -> [String] {
    let rows = try storage { () throws(PostgresError) in
      try database.read("SELECT key FROM app ORDER BY key")
    }
    return (0..<rows.count).map { rows.text($0, 0) }
  }

  package func follow(_ app: Int64) {
    if let clock = apps.withLock({ $0[app] }) { feed.follow(app, from: clock) }
  }

  package func start(_ feed: any LivePublisher) {
    self.feed.start(feed)
    if !isVisit { upkeep.start() }
  }

  package func catchUp() { feed.catchUp() }

  package func publish(
    _ message: [UInt8], to topic: String, from user: String, audience: Audience, in app: Int64
  ) throws(ServerError) -> Int64 {
    let listeners: SQL = """
      SELECT EXISTS(SELECT 1 FROM live WHERE app = \(bind: app) AND collection = \(bind: topic))
      """
    return try writer.write(app: app, reading: [listeners], durably: false) { (transaction, rows) in
      let content: LiveAnnouncement.Content =
        rows[0].flag(0, 0) ? .payload(message, from: user, audience) : .changes(.init(rule: .never))
      return LiveJournal.add(content, of: topic, in: transaction)
    }
  }

  package var status: StoreStatus {
    let feed = feed.status
    return StoreStatus(
      feedWaiting: feed.waiting, feedAge: feed.age, pool: database.status,
      bytes: upkeep.storedBytes.map { [("database", $0)] } ?? [])
  }

  package func check() throws(ServerError) {
    try storage { () throws(PostgresError) in
      try feed.check()
      _ = try database.read("SELECT 1")
    }
  }

  package func close() {
    upkeep.close()
    feed.close()
    reader.close()
    database.close()
  }
}
