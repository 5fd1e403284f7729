internal import KVBase
internal import KVQuery
internal import KVServerCore

/// Reads the entities that a selection selects, page by page, each page in a transaction of its own.
///
/// `@unchecked Sendable`: one thread at a time reads.
final class PostgresCursor: EntityCursor, @unchecked Sendable {
  /// How many rows of an order are read at once: at first, and at the most.
  private static let firstRows = 10
  private static let maxRows = 1000

  private let database: PostgresDatabase
  private var selection: RowSelection
  private var plan: CursorPlan
  private var skip: Int
  private let note: QueryNote?
  /// How many entities were found so far.
  private var found = 0
  /// What was read and is to be given first.
  private var ahead: ArraySlice<[UInt8]>

  /// `ahead`: the bodies of what comes before the rows of the plan.
  init(
    _ plan: CursorPlan, _ selection: RowSelection, skip: Int = 0, ahead: [[UInt8]] = [],
    of database: PostgresDatabase, note: QueryNote? = nil
  ) {
    self.note = note
    self.plan = plan
    self.selection = selection
    self.skip = skip
    self.ahead = ahead[...]
    self.database = database
  }

  func read(into page: inout EntityPage) throws(ServerError) -> Bool {
    if ahead.isEmpty {
      ahead = try nextBodies(limit: page.remaining, bytes: page.missingBytes)[...]
    }
    while !page.isFull, let body = ahead.first {
      guard body.withUnsafeBytes({ page.add($0) }) else { return false }
      ahead.removeFirst()
    }
    if page.remaining == 0 { return false }
    if case .done = plan { return !ahead.isEmpty }
    return true
  }

  private func nextBodies(limit: Int, bytes: Int) throws(ServerError) -> [[UInt8]] {
    // What is read again, because a connection was lost, is added once.
    let (plan, skip, found) = (plan, skip, found)
    return try storage { () throws(PostgresError) in
      if case .pages(let order) = plan, selection.isDirect {
        return try page(order, limit: limit, bytes: bytes)
      }
      return try database.snapshot { (connection) throws(PostgresError) in
        (self.plan, self.skip, self.found) = (plan, skip, found)
        selection = try selection.current(on: connection)
        return try bodies(limit: limit, bytes: bytes, on: connection)
      }
    }
  }

  /// The bodies of the next page, where one statement selects it.
  private func page(
    _ order: PageOrder, limit: Int, bytes: Int
  ) throws(PostgresError) -> [[UInt8]] {
    let page = PageSelect(selection, order, skip: skip, limit: limit, bytes: bytes)
    let (bodies, next) = page.read(try database.read(page.sql, within: selection.budget))
    plan = next.map { .pages($0) } ?? .done
    skip = 0
    return bodies
  }

  /// The bodies of the next page.
  private func bodies(
    limit: Int, bytes: Int, on connection: PostgresConnection
  ) throws(PostgresError) -> [[UInt8]] {
    if case .sort(let sorter) = plan {
      let rows = try order(by: sorter, limit: limit, on: connection)
      plan = .rows(rows, next: 0)
      note?.scanned(found: rows.count, by: selection.use)
    }
    var page = Page(limit: limit, bytes: bytes)
    switch plan {
    case .pages(let order):
      var last = order
      let select = PageSelect.all(of: selection, order)
      try fill(&page, "\(select)\(range(limit))", on: connection) { rows, row in
        last = order.after(rows.int64(row, 0), id: rows.text(row, 2))
      }
      plan = page.isFull ? .pages(last) : .done
      found += page.bodies.count
      if !page.isFull { note?.scanned(found: found, by: selection.use) }
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
