internal import CSQLite

/// Writes the log of a database back into its file before it grows too long. Belongs to the connection that writes,
/// and is used by the same thread.
///
/// Usually that is done every 16 MB rather than every 4, SQLite's default: of the pages that a bulk load touches again and
/// again, one copy goes into the file instead of four. But a commit that makes the log's file longer and waits for the disk
/// waits about twice as long as one that writes over what is there. So small commits that wait do not make it longer than
/// 4 MB. On a disk that is nearly full it is done every megabyte, in the end with
/// every commit, and the log is cut: the copies need room in the file, which the log itself would have taken, and nothing could
/// ever be written back.
final class LogKeeper {
  /// How long the log may become, in pages.
  static let limit: Int32 = 4000
  /// How long small commits that wait for the disk make it.
  private static let limitOfSmallCommits: Int32 = 1000
  /// How many pages a small commit writes at the most.
  private static let smallCommit: Int32 = 64
  private static let limitOnTightDisk: Int32 = 256
  /// Below so many free bytes a disk is tight; below the second number every page counts.
  private static let tightSpace: Int64 = 64 << 20
  private static let lastSpace: Int64 = 4 << 20
  /// Below so many the file may not grow any more: what is left is for the log, without which nothing can be deleted.
  private static let logSpace: Int64 = 1 << 20

  private let path: String
  private let reserve: DiskReserve
  /// How many pages the log has since it was last begun anew. Set by SQLite with each commit.
  private var pages: Int32 = 0
  /// At how many pages the disk is looked at next.
  private var nextLook = limitOnTightDisk
  /// How many pages the log had after the previous commit.
  private var lastPages: Int32 = 0
  /// How many there have been at the most: so long is the log's file, or it was cut since.
  private var longest: Int32 = 0
  /// Whether the file may not grow.
  private var isCapped = false

  init(_ path: String) {
    self.path = path
    reserve = DiskReserve(of: path)
  }

  /// Follows the commits of a connection, in place of SQLite's own automatic checkpoints. It must live as long as the
  /// connection does.
  func follow(_ raw: OpaquePointer) {
    let me = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_wal_hook(
      raw,
      { keeper, _, _, pages in
        guard let keeper else { return SQLITE_OK }
        Unmanaged<LogKeeper>.fromOpaque(keeper).takeUnretainedValue().pages = pages
        return SQLITE_OK
      }, me)
  }

  /// Called after each commit; `isDurable`: it waited for the disk.
  func afterCommit(_ connection: borrowing Connection, isDurable: Bool) {
    let isBegunAnew = pages < lastPages
    let isSmall = isDurable && pages - (isBegunAnew ? 0 : lastPages) <= Self.smallCommit
    lastPages = pages
    longest = max(longest, pages)
    guard isBegunAnew || pages >= nextLook else { return }
    // One look before the file would become longer.
    let limitOfSmall = min(
      max(Self.limitOfSmallCommits, longest - Self.limitOnTightDisk), Self.limit)
    look(at: connection, limit: isSmall ? limitOfSmall : Self.limit)
  }

  /// Looks how much room the disk has, and does what that asks for.
  func look(at connection: borrowing Connection, limit: Int32 = LogKeeper.limit) {
    let free = DiskReserve.freeSpace(at: path) ?? .max
    cap(free < (isCapped ? Self.lastSpace : Self.logSpace), connection)
    if free < Self.tightSpace {
      reserve.allocate()
      let isUrgent = free < Self.lastSpace
      if isUrgent || pages >= Self.limitOnTightDisk {
        try? connection.checkpoint(truncating: true)
        longest = 0
      }
      nextLook = isUrgent ? 0 : pages - pages % Self.limitOnTightDisk + Self.limitOnTightDisk
    } else {
      if pages >= limit { try? connection.checkpoint() }
      nextLook = pages + Self.limitOnTightDisk
    }
  }

  /// Lets the file grow again, for what makes room in the end but has to write something first. `look` takes that back.
  func lift(_ connection: borrowing Connection) { cap(false, connection) }

  private func cap(_ isWanted: Bool, _ connection: borrowing Connection) {
    guard isWanted != isCapped else { return }
    isCapped = isWanted
    let limit = isWanted ? try? connection.integer("PRAGMA page_count") : Self.maximumPageCount
    guard let limit else { return }
    _ = try? connection.integer("PRAGMA max_page_count = \(limit)")
  }

  /// The largest number of pages that SQLite allows.
  private static let maximumPageCount: Int64? = 4_294_967_294
}
