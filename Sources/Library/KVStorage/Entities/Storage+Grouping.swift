package import KVBase
package import KVJSON
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func group(
    _ grouping: Grouping, of query: Query, in collection: String, writtenSince: Timestamp?,
    within budget: WorkBudget
  ) throws(StoreError) -> [JSONObject] {
    // A scan of a large table, which two threads may carry out.
    var scan: Plan?
    let found = try readSnapshot(of: collection, within: budget) {
      (db, table) throws(SQLiteError) -> Groups? in
      if writtenSince == nil, let groups = try indexed(grouping, query, table: table, on: db) {
        return groups
      }
      let plan = try indexes.plan(query.selection, table, writtenSince: writtenSince, on: db)
      if SharedRead.isUseful, writtenSince == nil, plan.selection.parts.isWhole,
        try Self.highestRow(of: table, on: db) >= SharedRead.minRows
      {
        scan = plan
        return nil
      }
      return try group(grouping, by: plan, writtenSince: writtenSince, on: db)
    }
    guard let scan else { return (found ?? Groups(grouping)).results }
    if let together = try groupTogether(grouping, by: scan, within: budget) {
      return together.results
    }
    let groups = try readSnapshot(of: collection, within: budget) {
      (db, table) throws(SQLiteError) -> Groups in
      let plan = try indexes.plan(query.selection, table, on: db)
      return try group(grouping, by: plan, writtenSince: nil, on: db)
    }
    return (groups ?? Groups(grouping)).results
  }

  private func group(
    _ grouping: Grouping, by plan: Plan, writtenSince: Timestamp?, on db: borrowing Connection
  ) throws(SQLiteError) -> Groups {
    let (groups, found) = try Self.group(
      grouping, try db.statement(plan.bodies), of: plan.table)
    if writtenSince == nil {
      try note(grouping, by: plan, groups: groups.count, found: found, on: db)
    }
    return groups
  }

  /// Notes what an index would have spared: one of its own would give the groups; one of the filter, the entities.
  private func note(
    _ grouping: Grouping, by plan: Plan, groups: Int, found: Int, on db: borrowing Connection
  ) throws(SQLiteError) {
    if let wanted = grouping.wantedIndex(plan.query) {
      try note(scanOf: plan.table, wanting: wanted, found: groups, on: db)
    } else {
      try note(plan, found: found, on: db)
    }
  }

  /// Groups the entities of a statement; also tells how many there are.
  private static func group(
    _ grouping: Grouping, _ statement: borrowing Statement, of table: Table
  ) throws(SQLiteError) -> (groups: Groups, found: Int) {
    var groups = Groups(grouping)
    var found = 0
    while try statement.step() {
      found += 1
      groups.add(try table.body(of: statement))
    }
    return (groups, found)
  }

  /// By two threads; nil if one is enough.
  private func groupTogether(
    _ grouping: Grouping, by plan: Plan, within budget: WorkBudget
  ) throws(StoreError) -> Groups? {
    do throws(SQLiteError) {
      guard let shared = try beginSharedRead(for: plan) else { return nil }
      defer { shared.close() }
      var (lower, upper) = try shared.halves(within: budget) {
        (rows, db: borrowing Connection) throws(SQLiteError) -> (groups: Groups, found: Int) in
        let scan = try db.statement(plan.selection.scan(Table.bodyOfMany, of: rows))
        return try Self.group(grouping, scan, of: plan.table)
      }
      lower.groups.add(upper.groups)
      let (groups, found) = (lower.groups, lower.found + upper.found)
      try? database.withReader { (db: borrowing Connection) throws(SQLiteError) in
        try note(grouping, by: plan, groups: groups.count, found: found, on: db)
      }
      return groups
    } catch {
      throw StoreError(error, within: budget)
    }
  }

  /// By an index alone; nil if none can.
  private func indexed(
    _ grouping: Grouping, _ query: Query, table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Groups? {
    let usable = try indexes.usable(of: table, on: db)
    guard let indexed = IndexedGrouping(grouping, query, indexes: usable) else { return nil }
    automatic?.used([indexed.index], table)
    let statement = try db.statement(SQL.shared(indexed.sql))
    var groups = Groups(grouping)
    let isComplete =
      indexed.rows == .values
      ? try Self.add(values: statement, indexed, to: &groups)
      : try Self.add(groups: statement, indexed, to: &groups)
    return isComplete ? groups : nil
  }

  /// Adds rows that are groups; false if the index can not tell.
  private static func add(
    groups statement: borrowing Statement, _ indexed: IndexedGrouping, to groups: inout Groups
  ) throws(SQLiteError) -> Bool {
    while try statement.step() {
      let row = (0..<indexed.columns).map { statement.value(Int32($0)) }
      guard indexed.add(row, to: &groups) else { return false }
    }
    return true
  }

  /// Adds rows that are entities, those of a group together; false if the index can not tell.
  private static func add(
    values statement: borrowing Statement, _ indexed: IndexedGrouping, to groups: inout Groups
  ) throws(SQLiteError) -> Bool {
    var run: IndexedGrouping.Run?
    let value = Int32(indexed.keys)
    while try statement.step() {
      if let known = run, !has(known.key, statement) {
        guard indexed.add(known, to: &groups) else { return false }
        run = nil
      }
      if run == nil { run = .init((0..<value).map { statement.value($0) }) }
      run?.add(statement.value(value))
    }
    return run.map { indexed.add($0, to: &groups) } ?? true
  }

  /// Whether the current row is of the group with this key.
  private static func has(_ key: [IndexValue], _ statement: borrowing Statement) -> Bool {
    for (column, value) in key.enumerated() where !statement.has(value, at: Int32(column)) {
      return false
    }
    return true
  }
}
