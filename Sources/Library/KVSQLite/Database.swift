internal import CSQLite
package import KVBase

/// One database file: one writer that commits in groups, and as many readers as are wanted.
///
/// Safe from any thread; several processes may have the same file open. After `fork()` the child's
/// calls fail with `.misuse`, and nothing of the parent's is touched.
package final class Database: Sendable {
  package let configuration: Configuration
  /// Nil: the file can only be read.
  let writer: Writer?
  /// Whether a thread of this process writes the file anew.
  let isCompacting = Monitor(false)
  let readers: ReaderPool
  private let generation = ProcessGeneration.current

  /// Opens or makes the file, and runs the migrations it lacks in one transaction.
  ///
  /// `newFile`: statements that make of a new file what all migrations would, at once; nil: they are run on it.
  ///
  /// Throws `.corrupt` for a file that is damaged, foreign or newer than `migrations`, and leaves it
  /// untouched. A file that the system lets us only read is opened for reading, if it lacks no migration.
  package init(
    _ configuration: Configuration, newFile: String? = nil, migrations: [Migration]
  ) throws(SQLiteError) {
    self.configuration = configuration
    let pooled = try Self.openWriter(configuration, newFile: newFile, migrations: migrations)
    writer = pooled.map { Writer($0, configuration.durability) }
    readers = ReaderPool(configuration, isReadOnly: pooled == nil)
  }

  deinit { close() }

  /// Whether the system lets us only read the file.
  package var isReadOnly: Bool { writer == nil }

  /// Runs `body` in a write transaction; its result comes when the commit is on disk.
  ///
  /// Calls that come while another one commits share the next commit. If `body` throws, its changes
  /// are undone and no others; when the commit itself fails, all calls in it get that error.
  /// `body` may run on another thread, while this one waits, and must not call `write` itself.
  ///
  /// `durably` false: the commit need not survive a power failure, so it does not wait for the disk, unless
  /// it shares the transaction with one that must. The next durable commit makes it durable too.
  ///
  /// `makingRoom`: for what deletes. If the disk is full, the reserve that was kept for it is given up, and `body` runs
  /// once more.
  ///
  /// `repeatable`: `body` does nothing but write to the connection and give a result, so that it may run again after its
  /// changes were undone. That makes it cheaper to share a transaction.
  package func write<R>(
    durably: Bool = true, makingRoom: Bool = false, repeatable: Bool = false,
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    try checkProcess()
    guard let writer else { throw Self.readOnly }
    readers.endSharedLock()
    do throws(SQLiteError) {
      return try writer.write(durably: durably, repeatable: repeatable, body)
    } catch {
      guard makingRoom, error.kind == .full else { throw error }
    }
    let reserve = DiskReserve(of: configuration.path)
    reserve.release()
    try? truncateLog()
    // What is removed may have to be copied first.
    try writer.withConnection { $0.liftSizeLimit() }
    defer {
      // At once, before anybody saves: the next deletion needs it as well.
      try? truncateLog()
      reserve.allocate(leaving: 512 << 10)
    }
    return try writer.write(durably: durably, repeatable: repeatable, body)
  }

  static let readOnly = SQLiteError(.readOnly, "The database file is read-only.")

  /// Gives the space of the log back to the disk; `.busy` if there are readers.
  func truncateLog() throws(SQLiteError) {
    try withReader { (connection: borrowing Connection) throws(SQLiteError) in
      readers.endSharedLock()
      try connection.checkpoint(truncating: true)
    }
  }

  /// Runs `body` over one snapshot of the data. It fails with `.interrupted` once the budget is exhausted.
  package func read<R>(
    within budget: WorkBudget = .unlimited,
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    try withReader(within: budget) { (connection: borrowing Connection) throws(SQLiteError) -> R in
      try connection.run(Connection.Control.beginRead)
      let result = try body(connection)
      try connection.run(Connection.Control.commit)
      return result
    }
  }

  /// Runs `body`, which runs a single statement: that is its own snapshot, and costs less.
  package func withReader<R>(
    within budget: WorkBudget = .unlimited,
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    try checkProcess()
    let pooled = try readers.acquire()
    defer { readers.release(pooled) }
    return try pooled.connection.within(budget) { () throws(SQLiteError) in
      try body(pooled.connection)
    }
  }

  /// Starts a query whose rows are read later, all from the moment of this call.
  ///
  /// `prepare` gives the statement with its parameters, or nil if there is nothing to read. It may read
  /// itself: that and the rows are of one snapshot. What it binds by reference must outlive the rows.
  /// Until the first row is found it fails with `.interrupted` once the budget is exhausted.
  package func rows(
    within budget: WorkBudget = .unlimited,
    _ prepare: (borrowing Connection) throws(SQLiteError) -> Statement?
  ) throws(SQLiteError) -> Rows {
    try checkProcess()
    return try Rows(readers, within: budget, prepare)
  }

  /// The same without a transaction around the statement, which costs less: `prepare` gives it as it would have been right
  /// some time ago, and reads nothing. `verify` is called once the statement has read, and says whether it still is
  /// right in what it read; false: this fails with `.outdated`.
  package func rows(
    within budget: WorkBudget,
    _ prepare: (borrowing Connection) throws(SQLiteError) -> Statement,
    verify: (borrowing Connection) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) -> Rows {
    try checkProcess()
    return try withoutActuallyEscaping(verify) { (verify) throws(SQLiteError) in
      try Rows(readers, within: budget, prepare, verify: verify)
    }
  }

  /// The same for a statement for one use; `bind` gives its parameters their values.
  package func rows(
    of text: String, _ bind: (borrowing Statement) throws(SQLiteError) -> Void
  ) throws(SQLiteError) -> Rows {
    try rows { (connection: borrowing Connection) throws(SQLiteError) -> Statement? in
      let statement = try connection.prepare(text)
      try bind(statement)
      return statement
    }
  }

  /// Begins to read one state of the data, in several steps.
  package func snapshot() throws(SQLiteError) -> Snapshot {
    try checkProcess()
    return try Snapshot(readers)
  }

  /// Begins to read one state of the data by two connections, for two threads; nil if others commit all the time.
  package func sameSnapshots() throws(SQLiteError) -> (Snapshot, Snapshot)? {
    // There was no commit between its two questions, so both snapshots, which were made in between, are of one state.
    try withReader { (witness: borrowing Connection) throws(SQLiteError) in
      for _ in 0..<3 {
        let before = try witness.integer("PRAGMA data_version")
        let (first, second) = (try snapshot(), try snapshot())
        if try witness.integer("PRAGMA data_version") == before { return (first, second) }
        first.close()
        second.close()
      }
      return nil
    }
  }

  /// Copies the log into the file as far as readers allow, without waiting for anybody.
  package func checkpoint() throws(SQLiteError) {
    try withReader { (connection: borrowing Connection) throws(SQLiteError) in
      readers.endSharedLock()
      try connection.checkpoint()
    }
  }

  /// Closes all connections; those in use close when they are given back. Later calls fail with
  /// `.misuse`. The second time does nothing.
  package func close() {
    // A child must not close what it inherited: closing writes the log back.
    guard generation.isCurrent else { return }
    readers.close()
    writer?.close()
  }

  func checkProcess() throws(SQLiteError) {
    guard generation.isCurrent else {
      throw SQLiteError(.misuse, "The database was inherited through fork().")
    }
  }
}
