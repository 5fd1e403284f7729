internal import KVBase
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func explain(_ query: Query, in collection: String) throws(StoreError) -> Explanation {
    let found = try readSnapshot(of: collection) { (db, table) throws(SQLiteError) in
      let plan = try indexes.plan(query, table, on: db)
      var explanation = Self.explanation(plan, query)
      try Self.addSteps(of: plan, to: &explanation, on: db)
      try Self.run(plan, counting: &explanation, on: db)
      return explanation
    }
    return found
      ?? Explanation(
        access: .scan, indexes: [], isExact: true, isCovering: false, sql: "", steps: [],
        examined: 0, returned: 0)
  }

  private static func explanation(_ plan: Plan, _ query: Query) -> Explanation {
    let parts = plan.selection.parts
    let access: Explanation.Access =
      !parts.indexNames.isEmpty ? .index : parts.isByIds ? .ids : .scan
    return Explanation(
      access: access, indexes: parts.indexNames, isExact: parts.isExact,
      isCovering: parts.covering != nil, sql: plan.bodies.sql.text, steps: [], examined: 0,
      returned: 0)
  }

  /// Adds the steps in which SQLite carries the query out.
  private static func addSteps(
    of plan: Plan, to explanation: inout Explanation, on db: borrowing Connection
  ) throws(SQLiteError) {
    let statement = try db.prepare("EXPLAIN QUERY PLAN \(plan.bodies.sql.text)")
    while try statement.step() { explanation.steps.append(statement.text(3) ?? "") }
  }

  /// Runs the query with one more condition, which always holds and counts how often it is asked: once for
  /// each entity that is looked at.
  private static func run(
    _ plan: Plan, counting explanation: inout Explanation, on db: borrowing Connection
  ) throws(SQLiteError) {
    if plan.walk == nil, let page = try plan.deepPage?.read(on: db) {
      explanation.returned = page.count
      explanation.examined = explanation.returned
      return
    }
    let counter = RowCounter()
    let statement = try db.prepare(plan.selection.page("e.n", counter: counter))
    while try statement.step() { explanation.returned += 1 }
    explanation.examined = counter.count
  }
}
