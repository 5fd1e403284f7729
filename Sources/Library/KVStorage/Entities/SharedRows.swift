internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// The entities that a scan of a large table finds, in the order in which they are stored. While the cursor reads the first half of
/// the rows, a thread reads ahead in the second half.
///
/// The thread ends when it has read everything or `maxBytes`: it never waits, and memory is bounded. The cursor goes on where it
/// has ended.
///
/// `@unchecked Sendable`: one thread at a time, as `EntityCursor` demands.
final class SharedRows: EntityCursor, @unchecked Sendable {
  private static let maxBytes = 1 << 20

  private let generation = ProcessGeneration.current
  private let lower: EntityRows
  private let upper: ReadAhead
  /// Ends the reading ahead.
  private let budget = WorkBudget(until: .never)
  /// Nil once it has ended.
  private var worker: Worker?
  private var isInUpper = false
  /// A block that was read ahead.
  private var lent: RowBuffer?
  private var atEnd: ((Int) -> Void)?

  /// Finds the first entity; fails with `.interrupted` once the budget is exhausted before. What follows has no limit.
  ///
  /// `atEnd`: is told how many entities there were, once all have been read.
  init(
    _ shared: SharedRead, _ plan: Plan, within budget: WorkBudget, atEnd: ((Int) -> Void)?
  ) throws(SQLiteError) {
    func rows(
      _ numbers: ClosedRange<Int64>, of snapshot: Snapshot
    ) throws(SQLiteError) -> Rows {
      try snapshot.rows { (db: borrowing Connection) throws(SQLiteError) in
        try db.statement(plan.selection.scan(Table.bodyOfMany, of: numbers))
      }
    }
    let first = try rows(shared.lower, of: shared.first)
    lower = EntityRows(first, of: plan.table, plan.query.projection)
    let ahead = ReadAhead(
      EntityRows(
        try rows(shared.upper, of: shared.second), of: plan.table, plan.query.projection,
        within: self.budget))
    upper = ahead
    self.atEnd = atEnd
    worker = Worker("kv-scan") { ahead.fill(Self.maxBytes) }
    do throws(SQLiteError) {
      if try !first.findFirst(within: budget), worker != nil {
        try ahead.waitForFirst(within: budget)
      }
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  func block() throws(StoreError) -> RowBuffer? {
    guard generation.isCurrent else {
      throw StoreError(.misuse, "The cursor was inherited through fork().")
    }
    if !isInUpper {
      if let block = try lower.block() { return block }
      // What comes after rows that could not be read is not given either.
      guard !lower.isBroken else {
        close()
        return nil
      }
      isInUpper = true
      endReadingAhead()
    }
    if let lent, lent.hasNext { return lent }
    lent = try upper.next()
    if lent == nil { atEnd.take()?(lower.found + upper.rows.found) }
    return lent
  }

  func close() {
    guard generation.isCurrent else { return leakAll() }
    budget.cancel()
    endReadingAhead()
    atEnd = nil
    lower.close()
    upper.close()
  }

  private func endReadingAhead() { worker.take()?.join() }

  /// The thread of another process cannot be waited for, nor can what it was working on be touched.
  private func leakAll() {
    leak(lower)
    leak(upper)
    if let worker { leak(worker) }
  }
}

/// Entities and errors in their order, the first ones read before they are asked for.
///
/// `@unchecked Sendable`: only the thread that fills it uses it until that ends, except for `waitForFirst`.
private final class ReadAhead: @unchecked Sendable {
  let rows: EntityRows
  private var blocks: [Result<RowBuffer, StoreError>] = []
  /// The index of the block that `next` gives.
  private var position = 0
  /// Whether there is something to give, or it is known that there is nothing.
  private let isReady = Monitor(false)

  init(_ rows: EntityRows) { self.rows = rows }

  /// Reads so many bytes, or all that there are.
  func fill(_ maxBytes: Int) {
    defer { isReady.withLockNotifyingAll { $0 = true } }
    var size = 0
    while size < maxBytes {
      do throws(StoreError) {
        guard let block = try rows.takeBlock() else { return }
        size += block.size
        blocks.append(.success(block))
      } catch {
        size += 1024
        blocks.append(.failure(error))
      }
      if blocks.count == 1 { isReady.withLockNotifyingAll { $0 = true } }
    }
  }

  /// Waits on another thread until there is something, or nothing, to give.
  func waitForFirst(within budget: WorkBudget) throws(SQLiteError) {
    // The budget does not wake waiters: it is polled as often as it polls its caller.
    while isReady.wait(until: .after(seconds: 0.01), for: { $0 ? true : nil }) == nil {
      guard budget.exhaustion == nil else {
        throw SQLiteError(.interrupted, "The search was ended.")
      }
    }
  }

  func next() throws(StoreError) -> RowBuffer? {
    guard position < blocks.count else {
      blocks = []
      position = 0
      return try rows.block()
    }
    defer { position += 1 }
    return try blocks[position].get()
  }

  func close() {
    blocks = []
    position = 0
    rows.close()
  }
}
