internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// A page of entities in the order of an index, however many come before it: those are counted in the index, which takes
/// some 10 ns for each, and not looked at. Entities of one key are ordered by their ids.
///
/// Its statements have to see one state of the data.
struct DeepPage: Sendable {
  /// From so many entities of one key on, their order is that of the ids' index.
  private static let manyTies = 1_000

  /// The index as a source for `FROM`, and the table of the entities.
  let index: SQLFragment
  let table: String
  /// The condition on the rows of the index; it decides alone.
  let condition: SQLFragment
  /// The columns of the index that the page is ordered by, as the index has its rows.
  var order: [(column: String, ascending: Bool)]
  /// The range of rows of the result, counted from 0.
  var rows: Range<Int>
  let projection: Projection?
  /// Whether every row of the index belongs to the result.
  let isWhole: Bool
  /// Whether everything is read from its end, the ids of a key too.
  private var isBackward = false

  init(
    index: SQLFragment, table: String, condition: SQLFragment,
    order: [(column: String, ascending: Bool)], rows: Range<Int>, projection: Projection?,
    isWhole: Bool
  ) {
    self.index = index
    self.table = table
    self.condition = condition
    self.order = order
    self.rows = rows
    self.projection = projection
    self.isWhole = isWhole
  }

  /// The entities of the page; nil if one is damaged. Whichever end is nearer is the one that is counted from, where the whole
  /// index is the result.
  func read(on db: borrowing Connection) throws(SQLiteError) -> RowBuffer? {
    guard isWhole, !isBackward else { return try readForward(on: db) }
    let counted = try db.statement("SELECT count(*) FROM \(index)")
    let count = try counted.step() ? Int(counted.int64(0)) : 0
    let end = min(rows.upperBound, count)
    guard rows.lowerBound < end, count - end < rows.lowerBound else {
      return try readForward(on: db)
    }
    var backward = self
    backward.isBackward = true
    backward.order = order.map { ($0.column, !$0.ascending) }
    backward.rows = count - end..<count - rows.lowerBound
    guard let page = try backward.readForward(on: db) else { return nil }
    page.reorder(by: Array((0..<page.count).reversed()))
    return page
  }

  private func readForward(on db: borrowing Connection) throws(SQLiteError) -> RowBuffer? {
    let page = RowBuffer(texts: rows.count)
    let walk = try db.statement(rowsAndKeys)
    var key = [IndexValue](repeating: .null, count: order.count)
    var isOnRow = try walk.step()
    while isOnRow && page.count < rows.count {
      let (row, isFirst, missing) = (walk.int64(0), page.count == 0, rows.count - page.count)
      walk.read(&key)
      // The page may begin in the middle of a key's entities: then it matters how many there are.
      var ties = 1
      isOnRow = try walk.step()
      while isOnRow, isFirst || ties <= missing, walk.has(key) {
        ties += 1
        isOnRow = try walk.step()
      }
      let all = isFirst || ties > missing ? try count(key, on: db) : ties
      let before = isFirst ? all - ties : 0
      guard try append(key, all, firstRow: row, from: before, limit: missing, to: page, on: db)
      else { return nil }
    }
    return page
  }

  /// Adds entities of one key, which has so many; false if one is damaged.
  private func append(
    _ key: [IndexValue], _ count: Int, firstRow: Int64, from start: Int, limit: Int,
    to page: RowBuffer, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    guard count > 1 else { return try append(db.statement(entity(firstRow)), to: page) }
    guard count >= Self.manyTies, try isDense(count, on: db) else {
      return try append(db.statement(entities(key, from: start, limit: limit)), to: page)
    }
    for row in try rows(of: key, from: start, limit: limit, on: db) {
      guard try append(db.statement(entity(row)), to: page) else { return false }
    }
    return true
  }

  /// Whether row numbers are small enough for a set of so many rows.
  private func isDense(_ count: Int, on db: borrowing Connection) throws(SQLiteError) -> Bool {
    let highest = try db.statement("SELECT max(n) FROM \(sql: table)")
    return try highest.step() && highest.int64(0) / 512 <= Int64(count)
  }

  /// The rows of a key with many entities, by their ids: in the ids' own index they are in order, and no record has to be
  /// looked at.
  private func rows(
    of key: [IndexValue], from start: Int, limit: Int, on db: borrowing Connection
  ) throws(SQLiteError) -> [Int64] {
    var members = RowSet()
    let group = try db.statement("SELECT n FROM \(index) WHERE \(condition)\(has(key))")
    while try group.step() { members.insert(group.int64(0)) }
    let ids = try db.statement(
      "SELECT n FROM \(sql: table) ORDER BY id\(sql: isBackward ? " DESC" : "")")
    var (found, passed): ([Int64], Int) = ([], 0)
    while found.count < limit, try ids.step() {
      guard members.contains(ids.int64(0)) else { continue }
      if passed < start { passed += 1 } else { found.append(ids.int64(0)) }
    }
    return found
  }

  /// Adds what a statement finds; false if one is damaged.
  private func append(
    _ bodies: borrowing Statement, to page: RowBuffer
  ) throws(SQLiteError) -> Bool {
    while try bodies.step() {
      guard let body = bodies.intactBytes(0) else { return false }
      guard page.append(body, projection) else { throw .noMemory }
    }
    return true
  }

  private func count(
    _ key: [IndexValue], on db: borrowing Connection
  ) throws(SQLiteError) -> Int {
    let statement = try db.statement("SELECT count(*) FROM \(index) WHERE \(condition)\(has(key))")
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  // MARK: Statements

  private var rowsAndKeys: SQLFragment {
    """
    SELECT n,\(sql: order.map(\.column).joined(separator: ",")) FROM \(index) WHERE \(condition)
    ORDER BY \(sql: SQLSelection.terms(order)) LIMIT -1 OFFSET \(bind: rows.lowerBound)
    """
  }

  private func entity(_ row: Int64) -> SQLFragment {
    "SELECT body, checksum FROM \(sql: table) WHERE n = \(bind: row)"
  }

  /// Entities of one key, by their ids.
  private func entities(_ key: [IndexValue], from start: Int, limit: Int) -> SQLFragment {
    """
    SELECT body, checksum FROM \(index) CROSS JOIN \(sql: table) AS e ON e.n = x.n
    WHERE \(condition)\(has(key)) ORDER BY id\(sql: isBackward ? " DESC" : "") LIMIT \(bind: limit) OFFSET \(bind: start)
    """
  }

  private func has(_ key: [IndexValue]) -> SQLFragment {
    var condition: SQLFragment = ""
    for (column, value) in zip(order.map(\.column), key) {
      condition = "\(condition) AND \(sql: column) = \(bind: value)"
    }
    return condition
  }
}

extension Statement {
  /// Takes over the key of the row, after its number.
  fileprivate func read(_ key: inout [IndexValue]) {
    for index in key.indices { _ = update(&key[index], from: Int32(index) + 1) }
  }

  fileprivate func has(_ key: [IndexValue]) -> Bool {
    key.indices.allSatisfy { has(key[$0], at: Int32($0) + 1) }
  }
}
