package import KVBase
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func find(
    _ query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> any EntityCursor {
    if writtenSince == nil, let found = try findWithLastPlan(query, in: collection, within: budget)
    {
      return found
    }
    if writtenSince == nil, EntityPage.fits(query.limit), !query.sort.isEmpty {
      let page = try readSnapshot(of: collection, within: budget) {
        (db, table) throws(SQLiteError) -> EntityPage? in
        let plan = try indexes.plan(query, table, on: db)
        if let walk = plan.walk, let page = try EntityPage(walk, on: db, verify: { _ in true }) {
          return page
        }
        return try plan.deepPage.flatMap { (page) throws(SQLiteError) in
          try page.read(on: db).map { EntityPage($0) }
        }
      }
      if let page { return page }
    }
    return try findInSnapshot(query, in: collection, since: writtenSince, budget: budget)
  }

  /// By the indexes as they were last seen, in a single statement that has no transaction around it; nil if nothing that
  /// is found so may be given out: the indexes are other ones by now, or the data is another user's.
  private func findWithLastPlan(
    _ query: Query, in collection: String, within budget: WorkBudget
  ) throws(StoreError) -> (any EntityCursor)? {
    guard let table = catalog.knownTable(collection), let plan = indexes.lastPlan(query, table)
    else { return nil }
    do throws(SQLiteError) { return try find(plan, within: budget) } catch {
      // Whatever else fails, an index that has gone for example, is told if it fails again with a new plan.
      guard error.kind == .interrupted else { return nil }
      throw StoreError(error, within: budget)
    }
  }

  private func find(
    _ plan: Plan, within budget: WorkBudget
  ) throws(SQLiteError) -> (any EntityCursor)? {
    if let walk = plan.walk {
      let page = try database.withReader(within: budget) {
        (db: borrowing Connection) throws(SQLiteError) in
        try EntityPage(walk, on: db) { (db) throws(SQLiteError) in try isValid(plan, db) }
      }
      if let page { return page }
    }
    // Takes several statements, and they must see one state.
    guard plan.deepPage == nil else { return nil }
    if let rows = try findTogether(plan, within: budget, atEnd: noting(plan)) { return rows }
    let rows = try database.rows(within: budget) {
      (db: borrowing Connection) throws(SQLiteError) -> Statement in
      try db.statement(plan.bodies)
    } verify: { (db) throws(SQLiteError) in
      try isValid(plan, db)
    }
    return EntityRows(rows, of: plan.table, plan.query.projection, atEnd: noting(plan))
  }

  /// Whether the rows that a plan has read may be used.
  func isValid(_ plan: Plan, _ db: borrowing Connection) throws(SQLiteError) -> Bool {
    guard try indexes.isCurrent(plan, on: db) else { return false }
    return try ownership.isKept(reading: db)
  }

  private func findInSnapshot(
    _ query: Query, in collection: String, since: Timestamp?, budget: WorkBudget
  ) throws(StoreError) -> any EntityCursor {
    var isKept = true
    var table: Table?
    var plan: Plan?
    let rows: Rows
    do throws(SQLiteError) {
      rows = try database.rows(within: budget) {
        (db: borrowing Connection) throws(SQLiteError) -> Statement? in
        table = try catalog.table(collection, on: db)
        plan = try table.map { (table) throws(SQLiteError) in
          try indexes.plan(query, table, writtenSince: since, on: db)
        }
        // Not before something was read: the snapshot begins there.
        isKept = try ownership.isKept(reading: db)
        guard isKept, let plan else { return nil }
        return try db.statement(plan.bodies)
      }
    } catch {
      throw StoreError(error, within: budget)
    }
    guard isKept else { throw Ownership.changed }
    let projection = query.of(layout.format(of: collection)).projection
    return EntityRows(rows, of: table, projection, atEnd: plan.flatMap { noting($0) })
  }

  /// Notes what a scan has cost once its cursor is at the end; nil: it is none.
  private func noting(_ plan: Plan) -> ((Int) -> Void)? {
    guard automatic != nil, plan.wantedIndex != nil else { return nil }
    return { self.note(plan, found: $0) }
  }
}
