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
    let groups = try readSnapshot(of: collection, within: budget) {
      (db, table) throws(SQLiteError) -> Groups in
      if writtenSince == nil, let groups = try indexed(grouping, query, table: table, on: db) {
        return groups
      }
      let plan = try indexes.plan(query.selection, table, writtenSince: writtenSince, on: db)
      let statement = try db.statement(plan.bodies)
      var groups = Groups(grouping)
      var found = 0
      while try statement.step() {
        found += 1
        groups.add(try table.body(of: statement))
      }
      // An index of its own would give the groups; one of the filter, the entities.
      if writtenSince == nil, let wanted = grouping.wantedIndex(query.of(table.format)) {
        try note(scanOf: table, wanting: wanted, found: groups.count, on: db)
      } else {
        try note(plan, found: found, on: db)
      }
      return groups
    }
    return (groups ?? Groups(grouping)).results
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
