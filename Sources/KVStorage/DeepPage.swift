internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// A page of entities in the order of an index, however many come before it: those are counted in the index, which takes
/// some 10 ns for each, and not looked at. Entities of one key are ordered by their ids.
///
/// Its statements have to see one state of the data.
struct DeepPage: Sendable {
  /// The index as a source for `FROM`, and the table of the entities.
  let index: SQLFragment
  let table: String
  /// The condition on the rows of the index; it decides alone.
  let condition: SQLFragment
  /// The columns of the index that the page is ordered by, as the index has its rows.
  let order: [(column: String, ascending: Bool)]
  /// The range of rows of the result, counted from 0.
  let rows: Range<Int>
  let projection: Projection?

  /// The entities of the page; nil if one is damaged.
  func read(on db: borrowing Connection) throws(SQLiteError) -> RowBuffer? {
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
      let before = isFirst ? try count(key, on: db) - ties : 0
      let isWhole =
        ties == 1 && before == 0
        ? try append(db.statement(entity(row)), to: page)
        : try append(db.statement(entities(key, from: before, limit: missing)), to: page)
      guard isWhole else { return nil }
    }
    return page
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
    WHERE \(condition)\(has(key)) ORDER BY id LIMIT \(bind: limit) OFFSET \(bind: start)
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
