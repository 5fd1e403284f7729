internal import KVBase
internal import KVQuery
internal import KVSQLite

/// A query as the parts of SQL statements on one table: which rows, in which order, which page of them.
struct TableQuery: Sendable {
  let parts: SQLSelection
  private let table: Table
  private let query: Query
  private let since: Timestamp?

  init(
    _ query: Query, _ table: Table, indexes: [UsableIndex], writtenSince since: Timestamp? = nil
  ) {
    self.query = query
    self.table = table
    self.since = since
    parts = SQLSelection(query, table: table.entities, indexes: indexes)
  }

  private init(_ query: Query, like other: TableQuery, _ parts: SQLSelection) {
    self.query = query
    (table, since) = (other.table, other.since)
    self.parts = parts
  }

  /// The same for another query of the same shape; nil if its values may take another plan.
  func bound(to query: Query, _ values: inout PlanValues) -> TableQuery? {
    parts.bound(to: &values).map { TableQuery(query, like: self, $0) }
  }

  /// The condition alone, on the table: which rows, not which page of them.
  var condition: SQLFragment {
    "(\(SQLFragment(parts.condition, parts.conditionParameters)))\(sinceCondition)"
  }

  private var sinceCondition: SQLFragment {
    guard let since else { return "" }
    return " AND at >= \(bind: since.milliseconds)"
  }

  private var pageCondition: SQLFragment { .init(parts.pageCondition, parts.pageParameters) }

  /// A SELECT of `columns` of the table, with condition, order and page.
  ///
  /// `counter`: is asked about each entity that is looked at.
  func page(_ columns: String, counter: RowCounter? = nil) -> SQLFragment {
    let counted: SQLFragment = counter.map { "kv_match(body,\(bind: $0)) AND " } ?? ""
    let page: SQLFragment =
      query.isPaged
      ? " LIMIT \(bind: Int64(query.limit ?? -1)) OFFSET \(bind: Int64(query.skip))" : ""
    return """
      SELECT \(sql: columns) FROM \(sql: parts.pageSource)
      WHERE \(counted)(\(pageCondition))\(sinceCondition)
      ORDER BY \(SQLFragment(parts.order, parts.orderParameters))\(page)
      """
  }

  /// A SELECT of body, id and keys in the order of the index, from the first one on; nil if that is not the
  /// wanted order.
  var walk: SQLFragment? {
    guard EntityPage.isFor(query), since == nil, !parts.walk.isEmpty else { return nil }
    return """
      SELECT \(sql: Table.body),\(sql: parts.walk.map(\.column).joined(separator: ",")) FROM \(sql: parts.pageSource)
      WHERE \(pageCondition) ORDER BY \(sql: SQLSelection.terms(parts.walk))
      """
  }

  /// A page that is far from the first, counted in the index alone; nil if the index does not decide which rows they are, or
  /// not in which order.
  var deepPage: DeepPage? {
    guard since == nil, let source = parts.walkSource, EntityPage.fits(query.limit) else {
      return nil
    }
    return DeepPage(
      index: SQLFragment(source), table: table.entities, condition: pageCondition,
      order: parts.walk,
      rows: EntityPage.rows(of: query), projection: query.projection,
      isWhole: parts.pageCondition == "1")
  }

  /// All rows in the order of an index; nil if the index does not decide which rows they are, or not in which order.
  var list: OrderedList? {
    guard since == nil, !query.isPaged, let source = parts.walkSource else { return nil }
    return OrderedList(
      index: SQLFragment(source), table: table.entities, condition: pageCondition,
      order: parts.walk)
  }

  /// A SELECT of how many rows meet the condition.
  var count: SQLFragment {
    if since == nil, let covering = parts.covering {
      return "SELECT count(*) FROM (\(SQLFragment(covering.sql, covering.parameters)))"
    }
    return "SELECT count(*) FROM \(sql: table.entities) WHERE \(condition)"
  }

  /// A SELECT of `columns` of all that meets the condition in a range of row numbers, as it is stored; for queries that no index serves.
  func scan(_ columns: String, of rows: ClosedRange<Int64>) -> SQLFragment {
    """
    SELECT \(sql: columns) FROM \(sql: table.entities) AS e
    WHERE e.n BETWEEN \(bind: rows.lowerBound) AND \(bind: rows.upperBound) AND \(condition)
    """
  }

  /// Whether all entities are looked at to find what is wanted, and what is found comes as it is stored.
  var isPlainScan: Bool {
    since == nil && !query.isPaged && parts.isScan && parts.isInOrderOfStorage
  }
}
