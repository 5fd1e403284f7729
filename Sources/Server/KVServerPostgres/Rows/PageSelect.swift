internal import KVQuery
internal import KVServerCore

/// The rows of one page in one statement, where SQL selects exactly what is wanted: so many at the most, and none after so many
/// bytes.
struct PageSelect {
  /// How many rows are looked at for a page: more are seldom as many bytes as a page has.
  private static let maxRows = 1000

  let selection: RowSelection
  let order: PageOrder
  /// How many rows are left out before the first one.
  let skip: Int
  private let rows: Int
  private let bytes: Int

  init(_ selection: RowSelection, _ order: PageOrder, skip: Int, limit: Int, bytes: Int) {
    self.selection = selection
    self.order = order
    self.skip = skip
    rows = min(limit, Self.maxRows)
    self.bytes = max(1, bytes)
  }

  /// Selects `n`, `body` and `id`.
  var sql: SQL {
    .cut(
      "\(Self.all(of: selection, order)) LIMIT \(bind: rows) OFFSET \(bind: skip)", "n, body, id",
      by: order.column, after: bytes)
  }

  /// The same of all rows that may be selected.
  static func all(of selection: RowSelection, _ order: PageOrder) -> SQL {
    """
    SELECT n, body, id FROM entity WHERE \(selection.condition) AND \(order.range() as SQL)
    ORDER BY \(sql: order.column)
    """
  }

  /// The bodies of what it has selected, and where the next page begins; nil: there is nothing more. `first`: the first row.
  func read(_ result: ResultRows, from first: Int = 0) -> (bodies: [[UInt8]], next: PageOrder?) {
    let bodies = (first..<result.count).map { result.copy($0, 1) }
    let size = bodies.reduce(0) { $0 + $1.count }
    guard bodies.count == rows || size >= bytes, !bodies.isEmpty else { return (bodies, nil) }
    let last = result.count - 1
    return (bodies, order.after(result.int64(last, 0), id: result.text(last, 2)))
  }
}

extension SQL {
  /// The first rows of a selection that has bodies: none after so many bytes of these.
  static func cut(_ select: SQL, _ columns: String, by order: String, after bytes: Int) -> SQL {
    """
    SELECT \(sql: columns) FROM (
      SELECT *, sum(length(body)) OVER (ORDER BY \(sql: order) ROWS UNBOUNDED PRECEDING)
        - length(body) AS before
      FROM (\(select)) AS found) AS sized
    WHERE before < \(bind: bytes) ORDER BY \(sql: order)
    """
  }
}
