internal import Glibc
internal import KVBase

/// The database files that this process has open, or that were open in its parent when that made it by `fork()`.
///
/// SQLite keeps one table of the files that a process has open, by device and inode, together with the locks that the process
/// holds on them. A child inherits the table, and not the locks. A connection that the child opens to such a file would take no
/// lock at all, since the table says that it is held; the next process that closes the file would believe that it is the last
/// one, and delete the log with the child's transactions in it. The same goes for locks that another thread of the parent held:
/// the child would wait for them for ever. SQLite has no call that empties the table, so these files are refused.
enum OpenFiles {
  /// A file, whatever its path.
  struct Identity: Hashable {
    fileprivate let device: dev_t
    fileprivate let inode: ino_t
  }

  private struct Entry {
    /// The process that has the file open; that of an ancestor stays for ever.
    var process: ProcessGeneration
    var connections = 0
  }

  /// `@unchecked Sendable`: `entries` is only touched with `mutex` held.
  private final class Table: @unchecked Sendable {
    var entries: [Identity: Entry] = [:]
    let mutex: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)

    init() { pthread_mutex_init(mutex, nil) }

    func withLock<R>(_ body: (inout [Identity: Entry]) -> R) -> R {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return body(&entries)
    }
  }

  /// It is locked while the process forks, so that the child finds it whole and free.
  private static let table: Table = {
    let table = Table()
    pthread_atfork(
      { pthread_mutex_lock(OpenFiles.table.mutex) },
      { pthread_mutex_unlock(OpenFiles.table.mutex) },
      { pthread_mutex_unlock(OpenFiles.table.mutex) })
    return table
  }()

  /// Counts a connection that is about to be opened; `leave` must follow once it is closed. Nil if there is no such file.
  /// Throws `.misuse` if the file was open in the parent of this process.
  static func enter(_ path: String) throws(SQLiteError) -> Identity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let identity = Identity(device: status.st_dev, inode: status.st_ino)
    let process = ProcessGeneration.current
    let isOurs = table.withLock { entries in
      var entry = entries[identity] ?? Entry(process: process)
      guard entry.process == process else { return false }
      entry.connections += 1
      entries[identity] = entry
      return true
    }
    guard isOurs else { throw inherited(path) }
    return identity
  }

  /// Takes back what `enter` counted.
  static func leave(_ identity: Identity) {
    table.withLock { entries in
      guard var entry = entries[identity], entry.process.isCurrent else { return }
      entry.connections -= 1
      entries[identity] = entry.connections > 0 ? entry : nil
    }
  }

  private static func inherited(_ path: String) -> SQLiteError {
    SQLiteError(
      .misuse,
      """
      \(path) was open in the parent process at fork(), so a child process cannot open it. Start the child process with exec() \
      (in Python: multiprocessing's start method "spawn"), or open the data only after the fork.
      """)
  }
}
