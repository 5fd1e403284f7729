internal import KVSQLite
internal import KVTestSupport

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

/// What a store publishes by, for brokers by the numbers of their apps.
func testOutbox(
  _ brokers: [Int64: LiveBroker], _ journal: LiveJournal? = nil
) -> CommitOrderedQueue {
  let outbox = CommitOrderedQueue(journal)
  let apps = ServedApps()
  for (number, broker) in brokers {
    let credentials = AppCredentials(key: "\(number)", secret: "")
    apps.add(.init(app: App(credentials, number: number), broker: broker))
  }
  outbox.start(apps)
  return outbox
}

/// A database of the server's in a directory, with the app 1, `kid`.
func testDatabase(in directory: TemporaryDirectory) throws -> Database {
  let database = try Database(
    SQLiteSchema.configuration(directory.path + "/data.db"),
    migrations: SQLiteSchema.migrations)
  try database.write { (connection: borrowing Connection) throws(SQLiteError) in
    try connection.execute("INSERT OR IGNORE INTO app (number, key) VALUES (1, 'kid')")
  }
  return database
}
