internal import CSQLite
internal import KVBase

/// The rows of one query, as they were when it started. One thread at a time; no writer waits for it,
/// but the log grows while it lives: give it back soon.
///
/// `@unchecked Sendable`: it may move between threads; its user sees to it that one uses it at a
/// time. `interrupt` alone may come from anywhere.
package final class Rows: @unchecked Sendable {
  private let readers: ReaderPool
  private let generation = ProcessGeneration.current
  /// What `interrupt` may touch: nil once the connection was given back.
  private let interruptible: Monitor<OpaquePointer?>
  private var seat: Seat?
  private var statement: Statement?
  /// The statement stands on a row that was not handed out yet.
  private var isOnRow = false

  init(
    _ readers: ReaderPool,
    _ prepare: (borrowing Connection) throws(SQLiteError) -> Statement?
  ) throws(SQLiteError) {
    self.readers = readers
    let seat = try readers.take()
    interruptible = Monitor(seat.connection.raw)
    do {
      try seat.connection.run(Connection.Control.beginRead)
      self.seat = seat
      if let statement = try prepare(seat.connection) {
        isOnRow = try statement.step()
        self.statement = consume statement
      }
    } catch {
      self.seat = nil
      interruptible.peek { $0 = nil }
      readers.giveBack(seat)
      throw error
    }
    if !isOnRow { close() }
  }

  deinit { close() }

  /// Runs `body` on the next row; nil at the end. What `body` borrows is valid until it returns.
  package func next<R>(_ body: (borrowing Statement) -> R) throws(SQLiteError) -> R? {
    guard generation.isCurrent else {
      throw SQLiteError(.misuse, "The cursor was inherited through fork().")
    }
    do {
      guard try advance() else {
        close()
        return nil
      }
    } catch {
      close()
      throw error
    }
    switch statement {
    case .some(let statement): return body(statement)
    case .none: return nil
    }
  }

  /// Makes the step that runs, or the next one, fail with `.interrupted`. From any thread.
  package func interrupt() {
    guard generation.isCurrent else { return }
    interruptible.peek { if let raw = $0 { sqlite3_interrupt(raw) } }
  }

  /// Gives the snapshot back. There is no next row then.
  package func close() {
    guard let seat else { return }
    self.seat = nil
    guard generation.isCurrent else {
      statement.take()?.abandon()
      return leak(seat)
    }
    interruptible.peek { $0 = nil }
    statement = nil
    readers.giveBack(seat)
  }

  private func advance() throws(SQLiteError) -> Bool {
    if isOnRow {
      isOnRow = false
      return true
    }
    switch statement {
    case .some(let statement): return try statement.step()
    case .none: return false
    }
  }
}
