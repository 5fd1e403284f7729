internal import KVBase
internal import KVQuery
internal import KVSQLite

/// A query as the parts of SQL statements on one table: which rows, in which order, which page of them.
struct Selection: Sendable {
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

  /// The condition alone, on the table: which rows, not which page of them.
  var condition: String { "(\(parts.condition))" + sinceCondition }

  private var sinceCondition: String { since == nil ? "" : " AND at >= ?" }

  /// A SELECT of `columns` of the table, with condition, order and page.
  ///
  /// `counted`: a `RowCounter` is asked about each entity that is looked at.
  func page(_ columns: String, counted: Bool = false) -> String {
    let counter = counted ? "kv_match(body,?) AND " : ""
    let page = query.isPaged ? " LIMIT ? OFFSET ?" : ""
    return """
      SELECT \(columns) FROM \(parts.pageSource) WHERE \(counter)(\(parts.pageCondition))\(sinceCondition)
      ORDER BY \(parts.order)\(page)
      """
  }

  /// A SELECT of body and keys in the order of the index, from the first one on; nil if that is not the
  /// wanted order.
  var walk: String? {
    guard EntityPage.isFor(query), since == nil, !parts.walk.isEmpty else { return nil }
    return """
      SELECT body,\(parts.walk.map(\.column).joined(separator: ",")) FROM \(parts.pageSource)
      WHERE \(parts.pageCondition) ORDER BY \(SQLSelection.terms(parts.walk))
      """
  }

  /// A SELECT of how many rows meet the condition.
  var count: String {
    if since == nil, let covering = parts.covering {
      return "SELECT count(*) FROM (\(covering.sql))"
    }
    return "SELECT count(*) FROM \(table.entities) WHERE \(condition)"
  }

  /// Gives the parameters of `condition` their values; gives the place behind them.
  func bindCondition(
    to statement: borrowing Statement, from first: Int32 = 1
  ) throws(SQLiteError) -> Int32 {
    try bindSince(to: statement, try statement.bind(parts.conditionParameters, from: first))
  }

  /// The same for `count`.
  func bindCount(to statement: borrowing Statement) throws(SQLiteError) {
    if since == nil, let covering = parts.covering {
      _ = try statement.bind(covering.parameters, from: 1)
    } else {
      _ = try bindCondition(to: statement)
    }
  }

  /// The same for `page`.
  func bindPage(
    to statement: borrowing Statement, _ counter: RowCounter? = nil
  ) throws(SQLiteError) {
    var index: Int32 = 1
    if let counter {
      try statement.bind(counter, at: index)
      index += 1
    }
    index = try statement.bind(parts.pageParameters, from: index)
    index = try bindSince(to: statement, index)
    index = try statement.bind(parts.orderParameters, from: index)
    guard query.isPaged else { return }
    try statement.bind(query.limit ?? -1, at: index)
    try statement.bind(query.skip, at: index + 1)
  }

  private func bindSince(
    to statement: borrowing Statement, _ index: Int32
  ) throws(SQLiteError) -> Int32 {
    guard let since else { return index }
    try statement.bind(since.milliseconds, at: index)
    return index + 1
  }
}
