internal import KVBase
internal import KVQuery
internal import KVSQLite

/// Which indexes a query may use, as the snapshot has them that it reads.
///
/// Each collection carries a number that changes whenever an index is ready, goes, or can be asked less than
/// before. It is random, so that one that was undone is never met again: what is kept in memory for a number
/// holds wherever the number is seen.
final class IndexCatalog: Sendable {
  private struct Known {
    var version: Int64
    var indexes: [UsableIndex]
  }

  /// By the number of the collection.
  private let known = Monitor<[Int64: Known]>([:])

  private static let list = SQL(
    "SELECT number, spec, shape FROM indexes WHERE collection = ?1 AND progress IS NULL")

  /// How a query is carried out, in the transaction that is open on `db`.
  func plan(
    _ query: Query, _ table: Table, writtenSince since: Timestamp? = nil,
    on db: borrowing Connection
  ) throws(SQLiteError) -> Plan {
    let version = try Self.version(of: table, on: db)
    guard since == nil else {
      return Plan(query, table, version, try indexes(of: table, version, on: db), since)
    }
    if let plan = query.memo.object as? Plan, plan.is(for: query, table, version) { return plan }
    let plan = Plan(query, table, version, try indexes(of: table, version, on: db), nil)
    query.memo.keep(plan)
    return plan
  }

  /// The indexes that queries may use.
  func usable(
    of table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [UsableIndex] {
    try indexes(of: table, try Self.version(of: table, on: db), on: db)
  }

  private func indexes(
    of table: Table, _ version: Int64, on db: borrowing Connection
  ) throws(SQLiteError) -> [UsableIndex] {
    // There never was one.
    guard version != 0 else { return [] }
    if let known = known.peek({ $0[table.number] }), known.version == version {
      return known.indexes
    }
    let statement = try db.statement(Self.list)
    try statement.bind(table.number, at: 1)
    var indexes: [UsableIndex] = []
    while try statement.step() {
      guard let spec = try? IndexSpec(parsing: statement.text(1) ?? ""),
        let shape = IndexShape(rawValue: statement.int64(2))
      else { continue }
      let name = IndexTable(number: statement.int64(0), spec, on: table).name
      indexes.append(UsableIndex(spec, table: name, shape: shape))
    }
    let found = Known(version: version, indexes: indexes)
    known.peek { $0[table.number] = found }
    return indexes
  }

  private static func version(
    of table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Int64 {
    let statement = try db.statement(table.indexVersion)
    return try statement.step() ? statement.int64(0) : 0
  }
}

/// A query made ready for one table: the index chosen, the statements written.
final class Plan: Sendable {
  /// How a page is read in the order of an index.
  struct Walk: Sendable {
    /// SELECT of body and keys as the index gives them, without limit.
    let sql: SQL
    let parameters: [SQLSelection.Parameter]
    /// How many columns the key has.
    let keys: Int
    /// Which rows are wanted, counted from 0.
    let page: Range<Int>
    let projection: Projection?
  }

  let query: Query
  /// Of the entities; stores in other files may have one of the same name.
  private let table: Table
  /// Of the collection's indexes.
  let version: Int64
  let selection: Selection
  /// SELECT of the bodies of the page.
  let bodies: SQL
  let count: SQL
  /// If the index gives the wanted order but for ties, and the page is small.
  let walk: Walk?

  init(
    _ query: Query, _ table: Table, _ version: Int64, _ indexes: [UsableIndex], _ since: Timestamp?
  ) {
    var query = query
    // The plan is kept in the memo: it must not keep the memo.
    query.memo = QueryMemo()
    self.query = query
    self.table = table
    self.version = version
    let selection = Selection(query, table, indexes, writtenSince: since)
    self.selection = selection
    bodies = SQL.shared(selection.page("body"))
    count = SQL.shared(selection.count)
    walk = selection.walk.map { sql in
      Walk(
        sql: SQL.shared(sql), parameters: selection.parts.pageParameters,
        keys: selection.parts.walk.count, page: EntityPage.rows(of: query),
        projection: query.projection)
    }
  }

  /// Whether it was made of this query, for this table as it is.
  func `is`(for query: Query, _ table: Table, _ version: Int64) -> Bool {
    self.version == version && self.table.number == table.number && self.query == query
  }
}
