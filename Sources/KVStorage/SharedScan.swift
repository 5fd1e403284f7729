internal import Glibc
internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// A count that looks at all entities of a large table: two threads look at one half each, in one state of the data.
struct SharedScan {
  /// Smaller tables are scanned by one thread: a second one has to be started and to read what the first one has read.
  static let minRows = 20_000
  /// Whether two threads are faster than one.
  static let isUseful = sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1

  let plan: Plan
  /// About as many as there are rows.
  let rows: Int
  let budget: WorkBudget

  /// How many entities the plan selects. `first`, `second`: snapshots of one state.
  func count(_ first: Snapshot, _ second: Snapshot) throws(SQLiteError) -> Int {
    let middle = Int64(rows / 2)
    let upper = Monitor<Result<Int, SQLiteError>>(.success(0))
    let worker = Worker("kv-scan") {
      let found = Self.result { () throws(SQLiteError) in try count(middle + 1...Int64.max, second)
      }
      upper.withLock { $0 = found }
    }
    let lower = Self.result { () throws(SQLiteError) in
      try count(Int64.min...(worker == nil ? Int64.max : middle), first)
    }
    worker?.join()
    return try lower.get() + upper.withLock { $0 }.get()
  }

  private func count(
    _ rows: ClosedRange<Int64>, _ snapshot: Snapshot
  ) throws(SQLiteError) -> Int {
    try snapshot.read { (db: borrowing Connection) throws(SQLiteError) in
      try db.within(budget) { () throws(SQLiteError) in
        let statement = try db.statement(plan.selection.count(of: rows))
        return try statement.step() ? statement.int(0) : 0
      }
    }
  }

  private static func result(
    _ body: () throws(SQLiteError) -> Int
  ) -> Result<Int, SQLiteError> {
    do throws(SQLiteError) { return .success(try body()) } catch { return .failure(error) }
  }
}

extension Storage {
  /// A count by two threads; nil if one is enough, or others commit all the time.
  func countTogether(
    _ query: Query, in collection: String, within budget: WorkBudget
  ) throws(StoreError) -> Int? {
    guard SharedScan.isUseful, let table = catalog.knownTable(collection),
      let plan = indexes.lastPlan(query, table),
      plan.selection.parts.isScan
    else { return nil }
    do throws(SQLiteError) {
      let rows = try database.withReader { (db: borrowing Connection) throws(SQLiteError) in
        try Self.highestRow(of: table, on: db)
      }
      guard rows >= SharedScan.minRows, let (first, second) = try database.sameSnapshots() else {
        return nil
      }
      defer {
        first.close()
        second.close()
      }
      let isValid = try first.read { (db: borrowing Connection) throws(SQLiteError) -> Bool in
        try self.isValid(plan, db)
      }
      guard isValid else { return nil }
      let count = try SharedScan(plan: plan, rows: rows, budget: budget).count(first, second)
      note(plan, found: count)
      return count
    } catch {
      throw StoreError(error, within: budget)
    }
  }
}
