package import KVBase
package import KVJSON
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func group(
    _ grouping: Grouping, of query: Query, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> [JSONObject] {
    let groups = try readSnapshot(of: collection) { (db, table) throws(SQLiteError) -> Groups in
      if writtenSince == nil, let groups = try indexed(grouping, query, table, db) { return groups }
      let plan = try indexes.plan(query.selection, table, writtenSince: writtenSince, on: db)
      let statement = try db.statement(plan.bodies)
      try plan.selection.bindPage(to: statement)
      var groups = Groups(grouping)
      while try statement.step() { groups.add(statement.bytes(0)) }
      return groups
    }
    return (groups ?? Groups(grouping)).results
  }

  /// By an index alone; nil if none can.
  private func indexed(
    _ grouping: Grouping, _ query: Query, _ table: Table, _ db: borrowing Connection
  ) throws(SQLiteError) -> Groups? {
    let usable = try indexes.usable(of: table, on: db)
    guard let indexed = IndexedGrouping(grouping, query, usable) else { return nil }
    do {
      return try Self.groups(grouping, indexed, db)
    } catch {
      // A sum that 64 bits do not hold.
      guard error.kind == .other else { throw error }
      return nil
    }
  }

  /// Nil if the index can not tell.
  private static func groups(
    _ grouping: Grouping, _ indexed: IndexedGrouping, _ db: borrowing Connection
  ) throws(SQLiteError) -> Groups? {
    var groups = Groups(grouping)
    let statement = try db.statement(SQL.shared(indexed.sql))
    while try statement.step() {
      let row = (0..<indexed.columns).map { statement.value(Int32($0)) }
      guard indexed.add(row, to: &groups) else { return nil }
    }
    return groups
  }
}
