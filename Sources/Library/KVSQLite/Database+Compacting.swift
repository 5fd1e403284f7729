internal import CSQLite
package import KVBase

extension Database {
  /// How many bytes the file and its log have.
  package var size: Int64 {
    (DatabaseFile.size(of: configuration.path) ?? 0)
      + (DatabaseFile.size(of: configuration.path + "-wal") ?? 0)
  }

  /// Writes the file anew without what it has no use for any more, and gives that and the log back to the disk.
  ///
  /// `prepare` runs first, in a transaction of its own, and deletes what need not be kept. Who reads is not disturbed; other writes
  /// of this process wait, those of other processes until their busy timeout. SQLite makes a copy of the data among its temporary
  /// files and puts that into the log: if there is no room for both it fails with `.full`. Whatever it fails with, the data is as
  /// it was.
  ///
  /// While another process writes, or a reader uses an older state, it waits until the budget is exhausted: then it fails with
  /// `.busy`, or `.interrupted` if it was cancelled.
  package func compact(
    within budget: WorkBudget, _ prepare: (borrowing Connection) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    try checkProcess()
    guard let writer else { throw Self.readOnly }
    do throws(SQLiteError) {
      try waiting(within: budget, for: "Another process is writing to the file.") {
        () throws(SQLiteError) in try rewrite(with: writer, within: budget, prepare)
      }
    } catch {
      // What it got to is in the log, which may be what fills the disk.
      try? truncateLog()
      throw error
    }
    try waiting(
      within: budget,
      for: "A cursor, a transaction or another process is reading an older state of the data."
    ) { () throws(SQLiteError) in try truncateLog() }
  }

  /// Fails with `.busy` at once if another compaction runs, and after a moment if another process writes: so that others of this
  /// process, who wait for the writer, have their turns.
  private func rewrite(
    with writer: Writer, within budget: WorkBudget,
    _ prepare: (borrowing Connection) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    let isFirst = isCompacting.withLock { isCompacting in
      defer { isCompacting = true }
      return !isCompacting
    }
    guard isFirst else { throw SQLiteError(.busy, "The file is already being compacted.") }
    defer { isCompacting.withLock { $0 = false } }
    readers.endSharedLock()
    try writer.withConnection { (connection: borrowing Connection) throws(SQLiteError) in
      connection.setBusyTimeout(50)
      defer { connection.setBusyTimeout(configuration.busyTimeout) }
      try connection.transaction(.full) { (connection) throws(SQLiteError) in
        try connection.within(budget) { () throws(SQLiteError) in try prepare(connection) }
      }
      try connection.within(budget) { () throws(SQLiteError) in try connection.execute("VACUUM") }
    }
  }

  /// Repeats `body` while it fails with `.busy` and the budget lasts. `reason`: a sentence on whom it waits for.
  private func waiting(
    within budget: WorkBudget, for reason: String, _ body: () throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    while true {
      do throws(SQLiteError) { return try body() } catch {
        guard error.kind == .busy else { throw error }
        switch budget.exhaustion {
        case nil: sqlite3_sleep(5)
        case .timeIsOver: throw SQLiteError(.busy, extendedCode: error.extendedCode, reason)
        case .cancelled, .abandoned: throw SQLiteError(.interrupted, "The call was cancelled.")
        }
      }
    }
  }
}
