internal import Glibc
internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// One state of a large table for two threads, which look at one half of its rows each.
struct SharedRead {
  /// Smaller tables are read by one thread: a second one has to be started and to read what the first one has read.
  static let minRows = 20_000
  /// Whether two threads are faster than one.
  static let isUseful = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1

  /// The row numbers of each half.
  let lower, upper: ClosedRange<Int64>
  /// One state of the data, for a thread each.
  let first, second: Snapshot

  /// `rows`: about as many as the table has.
  fileprivate init(rows: Int, _ snapshots: (Snapshot, Snapshot)) {
    let middle = Int64(rows / 2)
    (lower, upper) = (Int64.min...middle, middle + 1...Int64.max)
    (first, second) = snapshots
  }

  /// Reads each half by a thread of its own, or one after the other if none can be started. If both fail, the error is that of the
  /// lower half.
  func halves<R: Sendable>(
    within budget: WorkBudget,
    _ body: @escaping @Sendable (ClosedRange<Int64>, borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> (lower: R, upper: R) {
    let (second, upper) = (second, upper)
    let answer = Monitor<Result<R, SQLiteError>?>(nil)
    let worker = Worker("kv-scan") {
      let result = Self.result(of: second, within: budget) {
        (db: borrowing Connection) throws(SQLiteError) in try body(upper, db)
      }
      answer.withLock { $0 = result }
    }
    let here = Self.result(of: first, within: budget) {
      (db: borrowing Connection) throws(SQLiteError) in try body(lower, db)
    }
    worker?.join()
    let there =
      answer.withLock { $0 }
      ?? Self.result(of: second, within: budget) {
        (db: borrowing Connection) throws(SQLiteError) in try body(upper, db)
      }
    return (try here.get(), try there.get())
  }

  private static func result<R>(
    of snapshot: Snapshot, within budget: WorkBudget,
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) -> Result<R, SQLiteError> {
    do throws(SQLiteError) {
      return .success(
        try snapshot.read { (db: borrowing Connection) throws(SQLiteError) in
          try db.within(budget) { () throws(SQLiteError) in try body(db) }
        })
    } catch {
      return .failure(error)
    }
  }

  func close() {
    first.close()
    second.close()
  }
}

extension Storage {
  /// Begins to read all rows of a plan's table by two threads. Nil if one is enough, others commit all the time, or the plan does not
  /// hold any more.
  func beginSharedRead(for plan: Plan) throws(SQLiteError) -> SharedRead? {
    guard SharedRead.isUseful else { return nil }
    let rows = try database.withReader { (db: borrowing Connection) throws(SQLiteError) in
      try Self.highestRow(of: plan.table, on: db)
    }
    guard rows >= SharedRead.minRows, let snapshots = try database.sameSnapshots() else {
      return nil
    }
    let shared = SharedRead(rows: rows, snapshots)
    let isValid = try shared.first.read { (db: borrowing Connection) throws(SQLiteError) -> Bool in
      try self.isValid(plan, db)
    }
    guard !isValid else { return shared }
    shared.close()
    return nil
  }

  /// The plan of a query as it was made last, if all entities have to be looked at; nil: it is not known, or they have not.
  private func lastScan(_ query: Query, in collection: String) -> Plan? {
    guard SharedRead.isUseful, let table = catalog.knownTable(collection),
      let plan = indexes.lastPlan(query, table), plan.selection.parts.isScan
    else { return nil }
    return plan
  }

  /// Counts what a scan finds by two threads; nil if one is enough.
  func countTogether(
    _ query: Query, in collection: String, within budget: WorkBudget
  ) throws(StoreError) -> Int? {
    guard let plan = lastScan(query, in: collection) else { return nil }
    do throws(SQLiteError) {
      guard let shared = try beginSharedRead(for: plan) else { return nil }
      defer { shared.close() }
      let counts = try shared.halves(within: budget) {
        (rows, db: borrowing Connection) throws(SQLiteError) -> Int in
        let statement = try db.statement(plan.selection.scan("count(*)", of: rows))
        return try statement.step() ? statement.int(0) : 0
      }
      let count = counts.lower + counts.upper
      note(plan, found: count)
      return count
    } catch {
      throw StoreError(error, within: budget)
    }
  }

  /// The entities that a scan finds, of which a thread reads some ahead; nil if one thread is enough.
  func findTogether(
    _ plan: Plan, within budget: WorkBudget, atEnd: ((Int) -> Void)?
  ) throws(SQLiteError) -> SharedRows? {
    guard SharedRead.isUseful, plan.selection.isPlainScan,
      let shared = try beginSharedRead(for: plan)
    else { return nil }
    return try SharedRows(shared, plan, within: budget, atEnd: atEnd)
  }
}
