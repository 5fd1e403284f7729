internal import KVBase

/// One state of the data for any number of statements: as it was when the snapshot was made. One thread at a
/// time; no writer waits for it, but the log grows while it lives.
///
/// `@unchecked Sendable`: it may move between threads; its user sees to it that one uses it at a time.
package final class Snapshot: @unchecked Sendable {
  private let readers: ReaderPool
  private let generation = ProcessGeneration.current
  /// Nil once the snapshot was given back.
  private var pooled: PooledConnection?

  init(_ readers: ReaderPool) throws(SQLiteError) {
    self.readers = readers
    let pooled = try readers.acquire()
    do {
      try pooled.connection.beginSnapshot()
    } catch {
      readers.release(pooled)
      throw error
    }
    self.pooled = pooled
  }

  deinit { close() }

  /// Runs `body` on the snapshot; `.misuse` once it is closed.
  package func read<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    guard generation.isCurrent, let pooled else {
      throw SQLiteError(.misuse, "The transaction has ended.")
    }
    return try body(pooled.connection)
  }

  /// The rows of a statement, read later. They have the snapshot from now on: it is closed for others, and given back when the rows
  /// are at an end or closed.
  package func rows(
    _ prepare: (borrowing Connection) throws(SQLiteError) -> Statement
  ) throws(SQLiteError) -> Rows {
    guard generation.isCurrent, let pooled = pooled.take() else {
      throw SQLiteError(.misuse, "The transaction has ended.")
    }
    return try Rows(readers, on: pooled, prepare)
  }

  /// Gives the snapshot back.
  package func close() {
    guard let pooled else { return }
    self.pooled = nil
    guard generation.isCurrent else { return leak(pooled) }
    readers.release(pooled)
  }
}
