internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import Synchronization

/// The indexes that a query may use, in the snapshot that it reads.
///
/// Each collection carries a number that changes whenever an index is ready, goes, or can be asked less than
/// before. It is random, so that one that was undone is never met again: what is kept in memory for a number
/// holds wherever the number is seen.
final class IndexCatalog: Sendable {
  private struct Known {
    let version: Int64
    let indexes: [UsableIndex]

    init(_ version: Int64, _ indexes: [UsableIndex]) {
      self.version = version
      self.indexes = indexes
    }
  }

  private let automatic: AutomaticIndexes?
  /// By the number of the collection.
  private let known = Monitor<[Int64: Known]>([:])

  /// `automatic`: is told which of its indexes queries use.
  init(_ automatic: AutomaticIndexes?) { self.automatic = automatic }

  /// How a query is carried out, in the transaction that is open on `db`.
  func plan(
    _ query: Query, _ table: Table, writtenSince since: Timestamp? = nil,
    on db: borrowing Connection
  ) throws(SQLiteError) -> Plan {
    let version = try Self.version(of: table, on: db)
    guard since == nil else {
      let known = try indexes(of: table, version, on: db)
      return Plan(query.of(table.format), table, version: version, indexes: known, since: since)
    }
    return kept(query, table, known: Known(version, try indexes(of: table, version, on: db)))
  }

  /// The same as the indexes were when they were last looked at; nil: they never were. Nothing is read: whether the plan
  /// still holds, `isCurrent` says.
  func lastPlan(_ query: Query, _ table: Table) -> Plan? {
    known.withLock { $0[table.number] }.map { kept(query, table, known: $0) }
  }

  /// Whether a plan holds in the state that was read last on `db`, which does not write.
  func isCurrent(_ plan: Plan, on db: borrowing Connection) throws(SQLiteError) -> Bool {
    let version = try db.remembered(plan.table.number) { () throws(SQLiteError) in
      try Self.version(of: plan.table, on: db)
    }
    return version == plan.version
  }

  private func kept(_ query: Query, _ table: Table, known: Known) -> Plan {
    let plan = Self.kept(query, table, known: known)
    if let automatic, !plan.automaticIndexes.isEmpty {
      automatic.used(plan.automaticIndexes, table)
    }
    return plan
  }

  private static func kept(_ query: Query, _ table: Table, known: Known) -> Plan {
    let query = query.of(table.format)
    if let plan = query.memo.object as? Plan, plan.is(for: query, table, known.version) {
      return plan
    }
    let plan =
      ofShape(query, table, known: known)
      ?? Plan(query, table, version: known.version, indexes: known.indexes, since: nil)
    query.memo.keep(plan)
    return plan
  }

  /// The plan of a query of the same shape, with this one's values; nil if the query has no shape, or values that may take
  /// another plan.
  private static func ofShape(
    _ query: Query, _ table: Table, known: Known
  ) -> Plan? {
    guard let shape = query.memo.shape else { return nil }
    let kept = shape.memo.object as? ShapePlans
    if let plan = kept?.plan(for: query, table, known.version) { return plan.bound(to: query) }
    let plan = Plan(query, table, version: known.version, indexes: known.indexes, since: nil)
    shape.memo.keep(ShapePlans(plan, before: kept))
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
    if let known = known.withLock({ $0[table.number] }), known.version == version {
      return known.indexes
    }
    // 0: there never was one.
    let indexes = version == 0 ? [] : try Self.list(of: table, on: db)
    known.withLock { $0[table.number] = Known(version, indexes) }
    return indexes
  }

  private static func list(
    of table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [UsableIndex] {
    let statement = try db.statement(
      """
      SELECT number, spec, shape FROM indexes
      WHERE collection = \(bind: table.number) AND progress IS NULL
      """)
    var indexes: [UsableIndex] = []
    while try statement.step() {
      guard let spec = try? IndexSpec(stored: statement.text(1) ?? ""),
        let shape = IndexShape(rawValue: statement.int64(2))
      else { continue }
      let name = table.index(statement.int64(0), spec).name
      indexes.append(UsableIndex(spec, table: name, shape: shape))
    }
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
    /// SELECT of body, id and keys as the index gives them, without limit.
    let rows: BoundSQL
    /// How many columns the key has.
    let keys: Int
    /// The range of wanted rows, counted from 0.
    let page: Range<Int>
    let projection: Projection?

    /// The same with other values.
    func with(_ rows: BoundSQL) -> Walk {
      Walk(rows: rows, keys: keys, page: page, projection: projection)
    }
  }

  let query: Query
  /// The table of the entities; stores in other files may have one of the same name.
  let table: Table
  /// The version of the collection's indexes.
  let version: Int64
  let selection: TableQuery
  /// SELECT of the bodies of the page.
  let bodies: BoundSQL
  private let keptCount = Mutex<BoundSQL?>(nil)
  private let keptRows = Mutex<BoundSQL?>(nil)
  /// If the index gives the wanted order except for ties, and the page is small and not far from the start.
  let walk: Walk?
  /// The indexes that it uses and that no application asked for.
  let automaticIndexes: [String]
  /// The index that would serve it, if it looks at all entities.
  let wantedIndex: IndexSpec?
  /// The same for a page anywhere, or for many ties.
  var deepPage: DeepPage? { selection.deepPage }

  init(
    _ query: Query, _ table: Table, version: Int64, indexes: [UsableIndex], since: Timestamp?
  ) {
    var query = query
    // The plan is kept in the memo: it must not keep the memo.
    query.memo = QueryMemo()
    self.query = query
    self.table = table
    self.version = version
    let selection = TableQuery(query, table, indexes: indexes, writtenSince: since)
    self.selection = selection
    bodies = BoundSQL(selection.page(Table.bodyOfMany))
    walk = selection.walk.map { rows in
      Walk(
        rows: BoundSQL(rows),
        keys: selection.parts.walk.count, page: EntityPage.rows(of: query),
        projection: query.projection)
    }
    let names = selection.parts.indexNames
    automaticIndexes = indexes.lazy.filter { $0.spec.automatic != nil }.map(\.spec.name)
      .filter { name in names.contains { $0.hasSameBytes(as: name) } }
    wantedIndex = since == nil && selection.parts.isScan ? query.wantedIndex : nil
  }

  /// A plan for another query of the same shape.
  private init(
    _ query: Query, like plan: Plan, _ selection: TableQuery, bodies: BoundSQL, walk: Walk?
  ) {
    self.query = query
    (table, version) = (plan.table, plan.version)
    (self.selection, self.bodies, self.walk) = (selection, bodies, walk)
    (automaticIndexes, wantedIndex) = (plan.automaticIndexes, plan.wantedIndex)
  }

  /// The same plan with the values of another query of the same shape; nil if these may take another plan.
  func bound(to query: Query) -> Plan? {
    var query = query
    query.memo = QueryMemo()
    var values = PlanValues(of: query)
    guard let selection = selection.bound(to: query, &values),
      let bodies = bodies.bound(to: &values)
    else { return nil }
    guard let walk else { return Plan(query, like: self, selection, bodies: bodies, walk: nil) }
    guard let rows = walk.rows.bound(to: &values) else { return nil }
    return Plan(
      query, like: self, selection, bodies: bodies, walk: walk.with(rows))
  }

  /// Made when it is first wanted: most queries never count.
  var count: BoundSQL { Self.kept(keptCount) { selection.count } }

  /// SELECT of number and version of the rows of the page. Only transactions ask for them.
  var rows: BoundSQL { Self.kept(keptRows) { selection.page("e.n,e.version") } }

  private static func kept(
    _ place: borrowing Mutex<BoundSQL?>, make: () -> SQLFragment
  ) -> BoundSQL {
    place.withLock { kept in
      if let kept { return kept }
      let made = BoundSQL(make())
      kept = made
      return made
    }
  }

  /// Whether a scan that found so many entities ended before it had looked at all.
  func isCutShort(_ found: Int) -> Bool { query.sort.isEmpty && found >= query.limit ?? .max }

  /// Whether it was made of this query, for this table as it is.
  func `is`(for query: Query, _ table: Table, _ version: Int64) -> Bool {
    self.version == version && self.table === table && self.query == query
  }
}

/// The plans of one `QueryShape`, for the tables that were asked last.
private final class ShapePlans: Sendable {
  private static let maxCount = 4

  private let plans: [Plan]

  /// `before`: those that were made earlier, of which one for the same table is outdated.
  init(_ plan: Plan, before: ShapePlans?) {
    let others = before?.plans.filter { $0.table !== plan.table } ?? []
    plans = [plan] + others.prefix(Self.maxCount - 1)
  }

  func plan(for query: Query, _ table: Table, _ version: Int64) -> Plan? {
    plans.first {
      $0.table === table && $0.version == version && query.hasForm(of: $0.query)
    }
  }
}
