internal import KVBase
internal import KVServerCore

/// Hears of the commits of other servers, from PostgreSQL's NOTIFY, until `close`. Safe from any thread.
///
/// This is only a hint, so that the feed asks at once and not some moments later: what is lost here costs that delay. No
/// write has it in its transaction, because such transactions commit one after another on the whole instance: the feed
/// sends it afterwards, once for several commits.
final class CommitListener: Sendable {
  /// Seconds to wait after a failure.
  private static let pause = 1.0
  private static let pollMilliseconds: Int32 = 500

  private let database: PostgresDatabase
  /// What tells this server's notifications from others'.
  private let name = hexText(randomBytes(8))
  private let isClosed = Monitor(false)

  init(_ database: PostgresDatabase) { self.database = database }

  /// The statement that tells the others.
  var notification: SQL { "SELECT pg_notify('kvstored_commit', '\(sql: name)')" }

  /// Calls `body` on a thread of its own whenever another server has committed.
  func start(_ body: @escaping @Sendable () -> Void) {
    _ = Worker("kv-listener") { [self] in
      repeat {
        do throws(PostgresError) { try listen(body) } catch {}
      } while isClosed.wait(until: .after(seconds: Self.pause), for: { $0 ? true : nil }) == nil
    }
  }

  func close() { isClosed.withLockNotifyingAll { $0 = true } }

  private func listen(_ body: () -> Void) throws(PostgresError) {
    let connection = try database.connect()
    try connection.run("LISTEN kvstored_commit")
    while !isClosed.withLock({ $0 }) {
      let senders = try connection.notifications(within: Self.pollMilliseconds)
      if senders.contains(where: { !$0.hasSameBytes(as: name) }) { body() }
    }
  }
}
