internal import CSQLite
internal import KVBase

/// A connection in an object of its own, so that it can wait in a list, with the snapshot that it keeps for its next reader.
///
/// To begin a snapshot and to end it costs two calls to the system, a third of what a find by id takes. So a connection that is
/// used again and again while nobody commits keeps its transaction open from one use to the next. Whether anybody has
/// committed, in whatever process, is seen from the head of the log's index, which is shared memory; if so, the transaction ends
/// and the next reader has one of its own. What is read is the same either way: the newest state when the connection is taken.
///
/// `@unchecked Sendable`: whoever took it out of the list is the only one to use it.
final class PooledConnection: @unchecked Sendable {
  /// How often it must have been used while nobody committed before it keeps a snapshot.
  private static let usesBeforeKeeping = 8

  let connection: Connection
  /// Whether a transaction is open that was not begun by its user, who therefore begins and ends none.
  private(set) var isKeeping = false
  /// The longest pause between two of these uses, in nanoseconds.
  private let longestPause: Int64
  private lazy var logIndex = connection.logIndex
  /// The log's head when `uses` was 1.
  private var head = kv_sqlite_log_head()
  /// How often it was used while nobody committed, with short pauses.
  private var uses = 0
  private var lastUse: Int64 = 0

  /// `keepingFor`: how long a snapshot may wait for the next reader, in milliseconds; 0 for a connection that keeps none.
  init(_ connection: consuming Connection, keepingFor milliseconds: Int = 0) {
    self.connection = connection
    longestPause = Int64(milliseconds) * 1_000_000
  }

  /// Prepares it for its next reader, who then sees the newest state.
  func beginUse() {
    if isKeeping {
      if isNewest { return }
      endKeeping()
    }
    let now = monotonicNanoseconds()
    let pause = now &- lastUse
    lastUse = now
    // It has read something before: there is an index.
    guard pause < longestPause, let logIndex else { return uses = 0 }
    if uses == 0 {
      uses = kv_sqlite_read_log_head(logIndex, &head) == 0 ? 0 : 1
    } else if !isNewest {
      uses = 0
    } else {
      uses += 1
      if uses >= Self.usesBeforeKeeping, isLogShort(logIndex) { keep() }
    }
  }

  /// Ends what its reader left open, but not the snapshot that it keeps, if nobody has committed since.
  /// Throws if a transaction cannot be ended.
  func endUse() throws(SQLiteError) {
    if isKeeping {
      if connection.isInTransaction, isNewest { return }
      endKeeping()
    }
    // An error may have left a transaction open.
    if connection.isInTransaction { try connection.run(Connection.Control.rollback) }
  }

  /// Ends the snapshot that it keeps, if it keeps one.
  func endKeeping() {
    guard isKeeping else { return }
    isKeeping = false
    uses = 0
    if connection.isInTransaction { try? connection.run(Connection.Control.commit) }
  }

  /// Leaves the transaction that it keeps to its user; false: it keeps none.
  func giveTransaction() -> Bool {
    guard isKeeping else { return false }
    isKeeping = false
    uses = 0
    return true
  }

  /// Whether nobody has committed since `head` was read.
  private var isNewest: Bool {
    guard let logIndex else { return false }
    return kv_sqlite_has_log_head(logIndex, &head) != 0
  }

  /// Whether a snapshot may be kept: while one is there, other processes cannot begin the log anew, unless all of it is in the
  /// file. So it is not kept where the log should have been begun anew.
  private func isLogShort(_ logIndex: UnsafeRawPointer) -> Bool {
    let pages = kv_sqlite_log_pages(&head)
    return pages <= LogKeeper.limit || kv_sqlite_copied_pages(logIndex) == pages
  }

  /// Begins a transaction. Its snapshot is that of the first statement, so not older than `head`.
  private func keep() {
    isKeeping = (try? connection.run(Connection.Control.beginRead)) != nil
  }
}

/// Keeps something for ever: what a child process inherited through `fork()` must never be closed.
func leak(_ object: AnyObject) { _ = Unmanaged.passRetained(object) }
