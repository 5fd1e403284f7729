internal import KVQuery
internal import KVSQLite

/// The rows of a long list in the order of an index. The index, the ids and the table are each read once and in their own
/// order, where a join would look up the record of each row.
///
/// Its statements have to see one state of the data.
struct OrderedList: Sendable {
  /// The smallest number of rows that is worth it.
  private static let minRows = 1_000
  /// The largest part of the table that may be read for nothing.
  private static let maxShare = 8

  /// The index as a source for `FROM`, and the table of the entities.
  let index: SQLFragment
  let table: String
  /// The condition on the rows of the index; it decides alone.
  let condition: SQLFragment
  /// The columns of the index that the list is ordered by, as the index has its rows.
  let order: [(column: String, ascending: Bool)]

  /// Hands over each row number with the version of its record; those of one key are ordered by their ids. False, and
  /// nothing was handed over, if the list has too few of the table's rows.
  func each(
    on db: borrowing Connection, _ body: (_ row: Int64, _ version: Int64) -> Void
  ) throws(SQLiteError) -> Bool {
    let highest = try db.statement("SELECT max(n) FROM \(sql: table)")
    guard try highest.step(), let last = UInt32(exactly: highest.int64(0)) else { return false }
    var (rows, groups) = try walk(on: db)
    guard rows.count >= Self.minRows, Int(last) <= Self.maxShare * rows.count else { return false }
    // By row number: the place of its id among all ids, and then its version.
    var values = [UInt32](repeating: 0, count: Int(last) + 1)
    if !groups.isEmpty {
      try readPlaces(into: &values, on: db)
      for group in groups { rows[group].sort { values[Int($0)] < values[Int($1)] } }
      groups = []
    }
    try readVersions(into: &values, on: db)
    for row in rows { body(Int64(row), Int64(values[Int(row)])) }
    return true
  }

  /// The rows as the index has them, and the ranges of those that have the same key.
  private func walk(
    on db: borrowing Connection
  ) throws(SQLiteError) -> (rows: [UInt32], groups: [Range<Int>]) {
    let walk = try db.statement(
      """
      SELECT n,\(sql: order.map(\.column).joined(separator: ",")) FROM \(index) WHERE \(condition)
      ORDER BY \(sql: SQLSelection.terms(order))
      """)
    var (rows, groups): ([UInt32], [Range<Int>]) = ([], [])
    var key = [IndexValue](repeating: .null, count: order.count)
    var start = 0
    while try walk.step() {
      var isSame = true
      for index in key.indices where !walk.update(&key[index], from: Int32(index) + 1) {
        isSame = false
      }
      if !isSame {
        if rows.count - start > 1 { groups.append(start..<rows.count) }
        start = rows.count
      }
      rows.append(UInt32(truncatingIfNeeded: walk.int64(0)))
    }
    if rows.count - start > 1 { groups.append(start..<rows.count) }
    return (rows, groups)
  }

  /// Reads the ids' own index, which has them in order.
  private func readPlaces(
    into places: inout [UInt32], on db: borrowing Connection
  ) throws(SQLiteError) {
    let ids = try db.statement("SELECT n FROM \(sql: table) ORDER BY id")
    var place: UInt32 = 0
    while try ids.step() {
      place += 1
      places[Int(ids.int64(0))] = place
    }
  }

  /// The end of each version is enough: see `RecordRows`.
  private func readVersions(
    into versions: inout [UInt32], on db: borrowing Connection
  ) throws(SQLiteError) {
    let records = try db.statement("SELECT n, version FROM \(sql: table) ORDER BY n")
    while try records.step() {
      versions[Int(records.int64(0))] = UInt32(truncatingIfNeeded: records.int64(1))
    }
  }
}
