internal import CSQLite
package import KVBase

/// The rows of one query, as they were when it started. One thread at a time; no writer waits for it,
/// but the log grows while it lives: give it back soon.
///
/// `@unchecked Sendable`: it may move between threads; its user sees to it that one uses it at a
/// time.
package final class Rows: @unchecked Sendable {
  private let readers: ReaderPool
  private let generation = ProcessGeneration.current
  private var pooled: PooledConnection?
  private var statement: Statement?
  /// The statement stands on a row that was not handed out yet.
  private var isOnRow = false

  /// `verify`: see `Database.rows`; nil: `prepare` and the rows are of one snapshot.
  init(
    _ readers: ReaderPool, within budget: WorkBudget,
    _ prepare: (borrowing Connection) throws(SQLiteError) -> Statement?,
    verify: ((borrowing Connection) throws(SQLiteError) -> Bool)? = nil
  ) throws(SQLiteError) {
    self.readers = readers
    let pooled = try readers.acquire()
    do {
      if verify == nil { try pooled.connection.run(Connection.Control.beginRead) }
      self.pooled = pooled
      try pooled.connection.within(budget) { () throws(SQLiteError) in
        guard let statement = try prepare(pooled.connection) else { return }
        isOnRow = try statement.step()
        self.statement = consume statement
        guard try verify?(pooled.connection) ?? true else { throw .outdated }
      }
    } catch {
      statement = nil
      self.pooled = nil
      readers.release(pooled)
      throw error
    }
    if !isOnRow { close() }
  }

  /// The rows of a statement of a connection that has a snapshot, which ends with them. Nothing is read yet.
  init(
    _ readers: ReaderPool, on pooled: PooledConnection,
    _ prepare: (borrowing Connection) throws(SQLiteError) -> Statement
  ) throws(SQLiteError) {
    self.readers = readers
    do {
      statement = try prepare(pooled.connection)
    } catch {
      readers.release(pooled)
      throw error
    }
    self.pooled = pooled
  }

  deinit { close() }

  /// Finds the first row. Fails with `.interrupted` once the budget is exhausted; otherwise tells whether there is one. To be called
  /// before anything was read.
  package func findFirst(within budget: WorkBudget) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) {
      isOnRow =
        try pooled?.connection.within(budget) { () throws(SQLiteError) in
          switch statement {
          case .some(let statement): try statement.step()
          case .none: false
          }
        } ?? false
    } catch {
      close()
      throw error
    }
    if !isOnRow { close() }
    return isOnRow
  }

  /// Runs `body` on the next row; nil at the end. What `body` borrows is valid until it returns.
  package func next<R>(_ body: (borrowing Statement) -> R) throws(SQLiteError) -> R? {
    var result: R?
    try each { row in
      result = body(row)
      return false
    }
    return result
  }

  /// Runs `body` on the next rows, until it gives false or they are at an end. What it borrows is valid until
  /// it returns. Fails with `.interrupted` once the budget is exhausted.
  package func each(
    within budget: WorkBudget = .unlimited, _ body: (borrowing Statement) -> Bool
  ) throws(SQLiteError) {
    guard generation.isCurrent else {
      throw SQLiteError(.misuse, "The cursor was inherited through fork().")
    }
    let isAtEnd: Bool
    do {
      isAtEnd =
        try pooled?.connection.within(budget) { () throws(SQLiteError) in try walk(body) } ?? true
    } catch {
      close()
      throw error
    }
    if isAtEnd { close() }
  }

  /// Whether the last row was reached.
  private func walk(_ body: (borrowing Statement) -> Bool) throws(SQLiteError) -> Bool {
    switch statement {
    case .some(let statement):
      if isOnRow {
        isOnRow = false
        guard body(statement) else { return false }
      }
      while try statement.step() {
        guard body(statement) else { return false }
      }
      return true
    case .none: return true
    }
  }

  /// Gives the snapshot back. There is no next row then.
  package func close() {
    guard let pooled else { return }
    self.pooled = nil
    guard generation.isCurrent else {
      statement.take()?.abandon()
      return leak(pooled)
    }
    statement = nil
    readers.release(pooled)
  }
}
