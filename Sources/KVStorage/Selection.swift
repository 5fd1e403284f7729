internal import KVBase
internal import KVQuery
internal import KVSQLite

/// A query as the end of an SQL statement on one table: `WHERE … ORDER BY … LIMIT … OFFSET …`.
struct Selection {
  private let parts: SQLSelection
  private let query: Query
  private let since: Timestamp?

  init(_ query: Query, writtenSince since: Timestamp? = nil) {
    self.query = query
    self.since = since
    parts = SQLSelection(query)
  }

  /// The condition alone: which rows, not which page of them.
  var condition: String { "(\(parts.condition))" + (since == nil ? "" : " AND at >= ?") }

  /// Condition, order and page.
  var page: String {
    let page = query.isPaged ? " LIMIT ? OFFSET ?" : ""
    return "\(condition) ORDER BY \(parts.order)\(page)"
  }

  /// Gives the parameters of `condition` their values; gives the place behind them.
  func bindCondition(
    to statement: borrowing Statement, from first: Int32 = 1
  ) throws(SQLiteError) -> Int32 {
    var place = try statement.bind(parts.conditionParameters, from: first)
    if let since {
      try statement.bind(since.milliseconds, at: place)
      place += 1
    }
    return place
  }

  /// The same for `page`.
  func bindPage(to statement: borrowing Statement) throws(SQLiteError) {
    var place = try bindCondition(to: statement)
    place = try statement.bind(parts.orderParameters, from: place)
    guard query.isPaged else { return }
    try statement.bind(query.limit ?? -1, at: place)
    try statement.bind(query.skip, at: place + 1)
  }
}
