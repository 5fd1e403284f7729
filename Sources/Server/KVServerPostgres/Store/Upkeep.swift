internal import KVBase
internal import KVServerCore

/// Deletes what is too old, each ten minutes, until `close`. Several servers may do it at the same time. Safe from any
/// thread.
final class Upkeep: Sendable {
  private static let seconds = 600.0
  /// Milliseconds for which it can be found out whether a write was committed.
  private static let markAge: Int64 = 3_600_000

  private let database: PostgresDatabase
  private let collections: PostgresCollections
  private let log: Log
  private let isClosed = Monitor(false)
  private let bytes = Monitor<Int?>(nil)

  init(_ database: PostgresDatabase, _ collections: PostgresCollections, log: Log) {
    self.database = database
    self.collections = collections
    self.log = log
  }

  func start() {
    _ = Worker("kv-upkeep") { [self] in
      repeat {
        do throws(PostgresError) { try run() } catch { log.error("upkeep: \(error.message)") }
      } while isClosed.wait(until: .after(seconds: Self.seconds), for: { $0 ? true : nil }) == nil
    }
  }

  /// How much the tables and indexes took when that was last looked at; nil: it has not been yet.
  var storedBytes: Int? { bytes.withLock { $0 } }

  func close() { isClosed.withLockNotifyingAll { $0 = true } }

  private func measure() throws(PostgresError) {
    let rows = try database.read(
      """
      SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::int8 FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      """)
    let count = Int(clamping: rows.int64(0, 0))
    bytes.withLock { $0 = count }
  }

  private func run() throws(PostgresError) {
    try collections.forgetOld()
    try database.run(
      """
      DELETE FROM write_mark USING app WHERE app.number = write_mark.app
        AND at < least(app.clock, (extract(epoch FROM clock_timestamp()) * 1000)::int8)
          - \(bind: Self.markAge)
      """)
    try collections.forgetTokens()
    try measure()
  }
}
