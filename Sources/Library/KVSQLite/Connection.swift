internal import CSQLite
internal import Glibc
package import KVBase
internal import KVCrypto

/// One connection to a database file. It cannot be copied, so it is closed exactly once.
///
/// One thread at a time: SQLite's own mutex is switched off. `Database` hands it out, borrowed.
package struct Connection: ~Copyable {
  let raw: OpaquePointer
  private let statements = StatementCache()
  private let history = History()
  /// Nil: SQLite looks after the log by itself.
  private let log: LogKeeper?
  /// Nil: there was no such file.
  private let file: OpenFiles.Identity?

  /// How a file is opened.
  enum Access {
    /// For reading and writing, where the system allows it; else for reading.
    case any
    /// For reading, and for writing with a log that we keep short.
    case writing
    /// For reading.
    case reading
    /// For reading a file that is known never to change: not even locks are taken.
    case immutable
  }

  /// Opens an existing file; `vault` has the key of an encrypted one. Nothing of it is read yet, beyond what SQLite does to open it.
  /// Throws `.misuse` if the file was open in the parent of this process when that forked, and `.key` if it is encrypted with another
  /// key, or one of file and vault is there without the other.
  init(
    opening path: String, for access: Access = .any, with vault: Vault? = nil
  ) throws(SQLiteError) {
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    switch access {
    case .any, .writing: flags |= SQLITE_OPEN_READWRITE
    case .reading, .immutable: flags |= SQLITE_OPEN_READONLY
    }
    log = access == .writing ? LogKeeper(path) : nil
    let parameters = access == .immutable ? ["immutable=1"] : []
    let file = try OpenFiles.enter(path)
    do throws(SQLiteError) {
      raw = try Self.open(path, flags, parameters: parameters, with: vault)
    } catch {
      if let file { OpenFiles.leave(file) }
      throw error
    }
    self.file = file
    log?.follow(raw)
    distrustFile()
  }

  private static func open(
    _ path: String, _ flags: Int32, parameters: [String], with vault: Vault?
  ) throws(SQLiteError) -> OpaquePointer {
    guard let vault else {
      let raw = try open(path, flags, parameters: parameters)
      guard isEncrypted(raw) else { return raw }
      sqlite3_close_v2(raw)
      throw SQLiteError(EncryptionError.missingKey)
    }
    let opening = EncryptedVFS.Opening(vault)
    do throws(SQLiteError) {
      let raw = try EncryptedVFS.with(opening) { (encryption) throws(SQLiteError) in
        try open(path, flags, parameters: parameters + [encryption])
      }
      // Of a file that has no page yet; others have what they were made with.
      var reserved = Int32(EncryptedPages.reservedPerPage)
      sqlite3_file_control(raw, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
      return raw
    } catch {
      throw opening.error.map { SQLiteError($0) } ?? error
    }
  }

  private static func open(
    _ path: String, _ flags: Int32, parameters: [String]
  ) throws(SQLiteError) -> OpaquePointer {
    var opened: OpaquePointer?
    let name =
      parameters.isEmpty
      ? path : "file:\(escaped(path))?\(parameters.joined(separator: "&"))"
    let status = sqlite3_open_v2(
      name, &opened, parameters.isEmpty ? flags : flags | SQLITE_OPEN_URI, nil)
    guard status == SQLITE_OK, let opened else {
      let error = SQLiteError(status: status, on: opened)
      sqlite3_close_v2(opened)
      throw error
    }
    return opened
  }

  /// Whether the file that was opened begins as an encrypted one does.
  private static func isEncrypted(_ raw: OpaquePointer) -> Bool {
    var beginning = [UInt8](repeating: 0, count: FileHeader.magic.count)
    var size: Int64 = 0
    let status = kv_sqlite_read_header(raw, &beginning, Int32(beginning.count), &size)
    return status == SQLITE_OK && FileHeader.isEncrypted(beginning)
  }

  /// Lets the file run nothing of its own. `Database` lifts parts of that once it has looked at the schema.
  private func distrustFile() {
    kv_sqlite_configure(raw, SQLITE_DBCONFIG_DEFENSIVE, 1)
    for option in [
      SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
    ] {
      kv_sqlite_configure(raw, option, 0)
    }
  }

  /// A path as a part of a URI.
  static func escaped(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#"):
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
      default: out.append(byte)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Whether the system allows no writes to the file.
  var isReadOnly: Bool { sqlite3_db_readonly(raw, "main") == 1 }

  deinit {
    statements.removeAll()
    sqlite3_close_v2(raw)
    if let file { OpenFiles.leave(file) }
  }

  // MARK: Statements

  /// A kept statement: prepared the first time, afterwards found.
  package func statement(_ sql: SQL) throws(SQLiteError) -> Statement {
    try statements.statement(sql, on: raw)
  }

  /// A statement for one use.
  package func prepare(_ text: String) throws(SQLiteError) -> Statement {
    Statement(try StatementCache.prepare(text, on: raw, keeping: false), slot: nil)
  }

  /// Runs one or several statements without parameters; rows are ignored.
  package func execute(_ text: String) throws(SQLiteError) {
    let status = sqlite3_exec(raw, text, nil, nil, nil)
    guard status == SQLITE_OK else { throw SQLiteError(status: status, on: raw) }
  }

  /// Runs a kept statement without parameters.
  package func run(_ sql: SQL) throws(SQLiteError) { try statement(sql).run() }

  /// The integer that the first row of a query has in its first column; nil if there is no row.
  package func integer(_ text: String) throws(SQLiteError) -> Int64? {
    let statement = try prepare(text)
    return try statement.step() ? statement.int64(0) : nil
  }

  /// How many bytes of the file are in use, what this transaction has written included.
  package func usedBytes() throws(SQLiteError) -> Int {
    let pages =
      (try integer("PRAGMA page_count") ?? 0) - (try integer("PRAGMA freelist_count") ?? 0)
    return Int(pages * (try integer("PRAGMA page_size") ?? 0))
  }

  /// Runs `body`, whose statements fail with `.interrupted` once the budget is exhausted. Not for writing: that
  /// would undo the transaction as a whole.
  package func within<R>(
    _ budget: WorkBudget, _ body: () throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    guard budget !== WorkBudget.unlimited else { return try body() }
    let kept = Unmanaged.passUnretained(budget)
    sqlite3_progress_handler(
      raw, Self.operationsPerQuestion,
      { budget in
        guard let budget else { return 0 }
        return Unmanaged<WorkBudget>.fromOpaque(budget).takeUnretainedValue().isExhausted ? 1 : 0
      }, kept.toOpaque())
    defer { sqlite3_progress_handler(raw, 0, nil, nil) }
    return try withExtendedLifetime(budget) { () throws(SQLiteError) in try body() }
  }

  /// Some ten rows: what is done with each may take long.
  private static let operationsPerQuestion: Int32 = 100

  // MARK: State

  /// Rows changed by the last INSERT, UPDATE or DELETE.
  package var changes: Int { Int(sqlite3_changes64(raw)) }

  /// Rows changed since the connection was opened, those that triggers changed included.
  package var totalChanges: Int { Int(sqlite3_total_changes64(raw)) }

  /// The row number of the last INSERT.
  package var lastInsertRow: Int64 { sqlite3_last_insert_rowid(raw) }

  /// The state of the log, in memory that all processes share; nil if it is being written at this moment. For connections that have
  /// read something, in WAL mode.
  var logState: kv_sqlite_log_state? {
    var state = kv_sqlite_log_state()
    return kv_sqlite_read_log_state(raw, &state) != 0 ? state : nil
  }

  /// Whether a transaction is open. Some errors end it on their own.
  package var isInTransaction: Bool { sqlite3_get_autocommit(raw) == 0 }

  /// Changes whenever something read in an earlier write transaction may no longer hold: another
  /// connection has written, or changes were undone. What is kept in memory can be checked for the
  /// price of a comparison. For use in write transactions.
  package var epoch: Int { history.epoch }

  /// Whether something that was verified on this connection still holds, as far as what was read last can tell: it
  /// is verified anew only if another connection has committed since. There is room for one such thing.
  package func isVerified(
    _ verify: (borrowing Connection) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) -> Bool {
    if history.verified == dataVersion { return true }
    guard try verify(self) else { return false }
    history.verified = dataVersion
    return true
  }

  /// A number that `read` gives, of the state that was read last; read anew only if another connection has committed
  /// since. There is room for one number; `name` tells it from others. For connections that do not write themselves.
  package func remembered(
    _ name: Int64, _ read: () throws(SQLiteError) -> Int64
  ) throws(SQLiteError) -> Int64 {
    if let kept = history.remembered, kept.name == name, kept.version == dataVersion {
      return kept.number
    }
    let number = try read()
    history.remembered = (name, number, dataVersion)
    return number
  }

  /// Begins a transaction that reads the state of now.
  func beginSnapshot() throws(SQLiteError) {
    try run(Control.beginRead)
    try run(Control.readAnything)
  }

  /// BEGIN IMMEDIATE … COMMIT, or ROLLBACK if anything throws.
  func transaction<R>(
    _ durability: Database.Durability,
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    try set(durability)
    let before = dataVersion
    try run(Control.beginWrite)
    // It moves with our own commits too, but not between two transactions of ours.
    if dataVersion != before { history.epoch &+= 1 }
    do {
      let result = try body(self)
      try checkFile()
      try run(Control.commit)
      log?.afterCommit(self, isDurable: durability == .full)
      return result
    } catch {
      history.epoch &+= 1
      if isInTransaction { try? run(Control.rollback) }
      // The log may be what fills the disk: written back, its space serves the next transaction.
      if error.kind == .full { try? checkpoint(truncating: true) }
      throw error
    }
  }

  /// Copies the log into the file as far as readers allow, without waiting. `truncating`: gives the space of
  /// the log back, if there are no readers.
  func checkpoint(truncating: Bool = false) throws(SQLiteError) {
    let mode = truncating ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
    let timeout = history.busyTimeout
    if truncating { history.busyTimeout = 0 }
    defer { history.busyTimeout = timeout }
    let status = sqlite3_wal_checkpoint_v2(raw, nil, mode, nil, nil)
    guard status == SQLITE_OK else { throw SQLiteError(status: status, on: raw) }
  }

  /// Looks how much room the disk has: see `LogKeeper`.
  func lookAtDisk() { log?.look(at: self) }

  /// Lets the file grow on a disk that is nearly full, until the disk is looked at again.
  func liftSizeLimit() { log?.lift(self) }

  /// How long it waits for another process, in milliseconds. It looks for the lock twice a millisecond: SQLite's own timeout soon
  /// looks ten times a second only, and so hardly ever comes in between the transactions of a process that fills an index.
  func setBusyTimeout(_ milliseconds: Int32) {
    history.busyTimeout = milliseconds
    sqlite3_busy_handler(
      raw,
      { context, count in
        guard let context else { return 0 }
        // It lives as long as the connection does.
        let history = Unmanaged<History>.fromOpaque(context).takeUnretainedValue()
        let now = monotonicNanoseconds()
        if count == 0 { history.waitsSince = now }
        guard now - history.waitsSince < Int64(history.busyTimeout) * 1_000_000 else { return 0 }
        usleep(500)
        return 1
      }, Unmanaged.passUnretained(history).toOpaque())
  }

  /// Whether the file is not where it was opened any more.
  var hasMoved: Bool {
    var hasMoved: Int32 = 0
    sqlite3_file_control(raw, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    return hasMoved != 0
  }

  /// Throws if the file is not where it was opened any more: what is written to it then would be lost. The system is asked
  /// every 5 milliseconds at the most.
  private func checkFile() throws(SQLiteError) {
    let now = monotonicNanoseconds()
    guard now &- history.lastFileCheck >= 5_000_000 else { return }
    history.lastFileCheck = now
    guard !hasMoved else {
      history.lastFileCheck = 0
      throw SQLiteError(
        .io,
        "The database file was removed, moved or replaced while it was open. It cannot be written any more."
      )
    }
  }

  /// Says what the next commit waits for. Costs nothing unless that changes.
  func set(_ durability: Database.Durability) throws(SQLiteError) {
    guard history.durability != durability else { return }
    try execute("PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
    history.durability = durability
  }

  /// SQLite's count of the versions of the file that this connection has seen. Nothing is read.
  private var dataVersion: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(raw, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Runs `body` so that its changes are undone if it throws, inside the transaction that is open.
  package func savepoint<R: ~Copyable>(
    _ body: () throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    try run(Control.savepoint)
    do {
      let result = try body()
      try run(Control.release)
      return result
    } catch {
      // When the error has ended the whole transaction there is nothing left to undo.
      history.epoch &+= 1
      if isInTransaction {
        try run(Control.rollbackToSavepoint)
        try run(Control.release)
      }
      throw error
    }
  }

  /// Statements that begin and end transactions.
  enum Control {
    static let beginWrite = SQL("BEGIN IMMEDIATE")
    static let beginRead = SQL("BEGIN")
    /// A transaction that has read nothing has no snapshot yet.
    static let readAnything = SQL("SELECT 1 FROM sqlite_schema LIMIT 1")
    static let commit = SQL("COMMIT")
    static let rollback = SQL("ROLLBACK")
    static let savepoint = SQL("SAVEPOINT kv")
    static let release = SQL("RELEASE kv")
    static let rollbackToSavepoint = SQL("ROLLBACK TO kv")
  }
}

/// What a connection remembers of its transactions.
private final class History {
  var epoch = 0
  /// The durability that connections are opened with.
  var durability = Database.Durability.full
  var busyTimeout: Int32 = 0
  /// Since when a statement waits for another process, on the monotonic clock, in nanoseconds.
  var waitsSince: Int64 = 0
  /// On the monotonic clock, in nanoseconds.
  var lastFileCheck: Int64 = 0
  /// The data version for which `isVerified` holds.
  var verified: UInt32?
  /// See `Connection.remembered`.
  var remembered: (name: Int64, number: Int64, version: UInt32)?
}

/// A connection in an object of its own, so that it can wait in a list.
///
/// `@unchecked Sendable`: only the thread that took it out of the list uses it.
final class PooledConnection: @unchecked Sendable {
  let connection: Connection
  init(_ connection: consuming Connection) { self.connection = connection }
}

/// Keeps something for ever: what a child process inherited through `fork()` must never be closed.
package func leak(_ object: AnyObject) { _ = Unmanaged.passRetained(object) }
