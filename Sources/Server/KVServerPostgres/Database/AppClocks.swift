internal import KVBase
internal import KVServerCore

/// The clocks of apps, which stand still while there are no writes. Safe from any thread.
///
/// A read has the time of the app's last commit: a write that it has not seen has a later one. If that was long ago the
/// clock is set before, so that a client that reads now does not ask some day for changes since a time that no
/// history reaches back to.
final class AppClocks: Sendable {
  /// How many milliseconds a clock may be behind: little, measured by the days of a history, and enough that hardly a read
  /// has to wait for this.
  private static let maxLag: Int64 = 60_000

  private let database: PostgresDatabase
  /// The latest times that were seen, by app.
  private let seen = Monitor([Int64: Int64]())

  init(_ database: PostgresDatabase) { self.database = database }

  /// Notes a time that was read or written.
  func saw(_ clock: Int64, of app: Int64) {
    seen.withLock { $0[app] = max($0[app] ?? 0, clock) }
  }

  /// Sets an app's clock if it is far behind, as far as is known here, and no other thread is about to. If that fails the read
  /// gets an earlier time, which is as good.
  func refresh(_ app: Int64) {
    let now = Timestamp.now().milliseconds
    guard seen.withLock({ ($0[app] ?? 0) + Self.maxLag < now }) else { return }
    let rows = try? database.read(
      """
      UPDATE app SET clock = greatest(clock, (extract(epoch FROM clock_timestamp()) * 1000)::int8)
      WHERE number = (SELECT number FROM app WHERE number = \(bind: app)
        FOR NO KEY UPDATE SKIP LOCKED)
      RETURNING clock
      """)
    // By this server's own clock: the database's may differ.
    if let rows, !rows.isEmpty { saw(max(rows.int64(0, 0), now), of: app) }
  }

  /// The time of a read that begins now.
  func read(_ app: Int64) throws(PostgresError) -> Timestamp {
    let rows = try database.read("SELECT clock FROM app WHERE number = \(bind: app)")
    return Timestamp(milliseconds: rows.isEmpty ? 0 : rows.int64(0, 0) + 1)
  }
}
