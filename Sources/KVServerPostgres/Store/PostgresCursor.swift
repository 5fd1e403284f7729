internal import KVBase
internal import KVQuery
internal import KVServerCore

/// Reads the entities that a selection selects, page by page, each page in a transaction of its own.
///
/// `@unchecked Sendable`: one thread at a time reads.
final class PostgresCursor: EntityCursor, @unchecked Sendable {
  enum Plan {
    /// In the order of storage, after a row.
    case scan(after: Int64)
    /// In the order of ids, after one, up to another.
    case walk(after: String, last: String?)
    /// Rows with these numbers, from an index on.
    case rows([Int64], next: Int)
    /// By a sort key; the rows are not known yet.
    case sort(Sorter)
    case done
  }

  /// How many rows of an order are read at once: at first, and at the most.
  private static let firstRows = 10
  private static let maxRows = 1000

  private let database: PostgresDatabase
  private var selection: RowSelection
  private var plan: Plan
  private var skip: Int

  init(_ plan: Plan, _ selection: RowSelection, skip: Int = 0, of database: PostgresDatabase) {
    self.plan = plan
    self.selection = selection
    self.skip = skip
    self.database = database
  }

  func read(into page: inout EntityPage) throws(ServerError) -> Bool {
    // What is read again, because a connection was lost, is added once.
    let (plan, skip) = (plan, skip)
    let found = try storage { () throws(PostgresError) in
      try database.snapshot { (connection) throws(PostgresError) in
        (self.plan, self.skip) = (plan, skip)
        selection = try selection.current(on: connection)
        return try bodies(limit: page.remaining, bytes: page.missingBytes, on: connection)
      }
    }
    for body in found where !body.withUnsafeBytes({ page.add($0) }) { return false }
    if page.remaining == 0 { return false }
    if case .done = self.plan { return false }
    return true
  }

  /// The bodies of the next page.
  private func bodies(
    limit: Int, bytes: Int, on connection: PostgresConnection
  ) throws(PostgresError) -> [[UInt8]] {
    if case .sort(let sorter) = plan {
      plan = .rows(try order(by: sorter, limit: limit, on: connection), next: 0)
    }
    var page = Page(limit: limit, bytes: bytes)
    switch plan {
    case .scan(let number):
      var last = number
      try fill(&page, scan(after: number, limit: limit), on: connection) { last = $0.int64($1, 0) }
      plan = page.isFull ? .scan(after: last) : .done
    case .walk(let id, let end):
      var last = id
      let select = walk(after: id, to: end, limit: limit)
      try fill(&page, select, on: connection) { last = $0.text($1, 2) }
      plan = page.isFull ? .walk(after: last, last: end) : .done
    case .rows(let rows, let next): try collect(rows, from: next, &page, on: connection)
    case .sort, .done: break
    }
    return page.bodies
  }

  private struct Page {
    let limit: Int
    let bytes: Int
    var bodies: [[UInt8]] = []
    private var size = 0

    init(limit: Int, bytes: Int) { (self.limit, self.bytes) = (limit, bytes) }

    var isFull: Bool { bodies.count >= limit || size >= bytes }

    mutating func add(_ body: UnsafeRawBufferPointer) {
      bodies.append(Array(body))
      size += body.count
    }
  }

  // MARK: Scans

  /// The number, the body and the id of what may be selected.
  private func scan(after number: Int64, limit: Int) -> SQL {
    """
    SELECT n, body, id FROM entity WHERE \(selection.condition) AND n > \(bind: number)
    ORDER BY n\(range(limit))
    """
  }

  private func walk(after id: String, to last: String?, limit: Int) -> SQL {
    let bound: SQL = last.map { " AND id <= \(bind: $0)" } ?? ""
    return """
      SELECT n, body, id FROM entity WHERE \(selection.condition) AND id > \(bind: id)\(bound)
      ORDER BY id\(range(limit))
      """
  }

  /// Where SQL selects exactly what is wanted, it counts as well.
  private func range(_ limit: Int) -> SQL {
    selection.isExact ? " LIMIT \(bind: limit) OFFSET \(bind: skip)" : ""
  }

  private func fill(
    _ page: inout Page, _ select: SQL, on connection: PostgresConnection,
    note: (ResultRows, Int) -> Void
  ) throws(PostgresError) {
    var skip = selection.isExact ? 0 : self.skip
    try connection.forEachRow(of: select, within: selection.budget) {
      (rows, row) throws(PostgresError) in
      guard try selection.matches(rows.bytes(row, 1)) else { return true }
      if skip > 0 {
        skip -= 1
        return true
      }
      page.add(rows.bytes(row, 1))
      note(rows, row)
      return !page.isFull
    }
    self.skip = 0
  }

  // MARK: Orders

  /// The numbers of what is selected, in the order of a sort key and then of ids. Memory follows the number of what is
  /// selected, and its keys.
  private func order(
    by sorter: Sorter, limit: Int, on connection: PostgresConnection
  ) throws(PostgresError) -> [Int64] {
    if let walk = selection.walk { return try order(by: walk, limit: limit, on: connection) }
    var found: [(key: [UInt8], index: Int, number: Int64)] = []
    let select: SQL = "SELECT n, body, id FROM entity WHERE \(selection.condition) ORDER BY id"
    try connection.forEachRow(of: select, within: selection.budget) {
      (rows, row) throws(PostgresError) in
      let body = rows.bytes(row, 1)
      if try selection.matches(body) {
        found.append((sorter.key(of: body), found.count, rows.int64(row, 0)))
      }
      return true
    }
    found.sort {
      ($0.key == $1.key) ? $0.index < $1.index : $0.key.lexicographicallyPrecedes($1.key)
    }
    defer { skip = 0 }
    return found.dropFirst(skip).prefix(limit).map(\.number)
  }

  /// The same in the order of an index: only what comes before the end of the page is read.
  private func order(
    by walk: SQL, limit: Int, on connection: PostgresConnection
  ) throws(PostgresError) -> [Int64] {
    defer { skip = 0 }
    if selection.isExact {
      let rows = try connection.run(
        "SELECT n FROM (\(walk)\(range(limit))) AS page", within: selection.budget)
      return (0..<rows.count).map { rows.int64($0, 0) }
    }
    var found: [Int64] = []
    let end = skip.addingReportingOverflow(limit)
    try connection.forEachRow(of: walk, within: selection.budget) {
      (rows, row) throws(PostgresError) in
      if try selection.matches(rows.bytes(row, 1)) { found.append(rows.int64(row, 0)) }
      return end.overflow || found.count < end.partialValue
    }
    return Array(found.dropFirst(skip))
  }

  private func collect(
    _ numbers: [Int64], from start: Int, _ page: inout Page, on connection: PostgresConnection
  ) throws(PostgresError) {
    var next = start
    var count = Self.firstRows
    while next < numbers.count, !page.isFull {
      let some = Array(numbers[next..<min(next + count, numbers.count)])
      let select: SQL = """
        SELECT n, body FROM entity WHERE \(selection.condition) AND n = ANY(\(bind: some))
        """
      let rows = try connection.run(select, within: selection.budget)
      // As many as make about a page.
      let size = max(1, rows.size / max(1, rows.count))
      count = max(1, min(Self.maxRows, page.bytes / size))
      var found: [Int64: Int] = [:]
      for row in 0..<rows.count { found[rows.int64(row, 0)] = row }
      for number in some where !page.isFull {
        next += 1
        if let row = found[number], try selection.matches(rows.bytes(row, 1)) {
          page.add(rows.bytes(row, 1))
        }
      }
    }
    plan = next < numbers.count ? .rows(numbers, next: next) : .done
  }
}
