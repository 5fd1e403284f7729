internal import KVQuery
internal import KVServerCore

/// The rows of one page in one statement, where SQL selects exactly what is wanted: so many at the most, and none after so many
/// bytes.
struct PageSelect {
  enum Order: Sendable {
    /// That of storage, after a row.
    case storage(after: Int64)
    /// That of ids, after one, up to another.
    case id(after: String, last: String?)
  }

  /// How many rows are looked at for a page: more are seldom as many bytes as a page has.
  private static let maxRows = 1000

  let selection: RowSelection
  let order: Order
  /// How many rows are left out before the first one.
  let skip: Int
  private let rows: Int
  private let bytes: Int

  init(_ selection: RowSelection, _ order: Order, skip: Int, limit: Int, bytes: Int) {
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
  static func all(of selection: RowSelection, _ order: Order) -> SQL {
    """
    SELECT n, body, id FROM entity WHERE \(selection.condition) AND \(order.range)
    ORDER BY \(sql: order.column)
    """
  }

  /// The bodies of what it has selected, and where the next page begins; nil: there is nothing more. `first`: the first row.
  func read(_ result: ResultRows, from first: Int = 0) -> (bodies: [[UInt8]], next: Order?) {
    let bodies = (first..<result.count).map { result.copy($0, 1) }
    let size = bodies.reduce(0) { $0 + $1.count }
    guard bodies.count == rows || size >= bytes, !bodies.isEmpty else { return (bodies, nil) }
    return (bodies, order.after(result, result.count - 1))
  }
}

extension PageSelect.Order {
  var column: String { if case .storage = self { "n" } else { "id" } }

  var range: SQL {
    switch self {
    case .storage(let number): "n > \(bind: number)"
    case .id(let id, nil): "id > \(bind: id)"
    case .id(let id, let last?): "id > \(bind: id) AND id <= \(bind: last)"
    }
  }

  /// The same after a row that `PageSelect` has selected.
  func after(_ rows: ResultRows, _ row: Int) -> PageSelect.Order {
    switch self {
    case .storage: .storage(after: rows.int64(row, 0))
    case .id(_, let end): .id(after: rows.text(row, 2), last: end)
    }
  }
}

extension Query {
  /// In which order pages of it are read one after the other; nil: all of it has to be sorted.
  var pageOrder: PageSelect.Order? {
    if let walk { return .id(after: walk.after ?? "", last: walk.last) }
    return sorter == nil ? .storage(after: 0) : nil
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
