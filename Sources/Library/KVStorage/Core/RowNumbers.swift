internal import KVSQLite

/// Gives the rows of one collection their numbers: each a new one, never one of a row that is gone.
///
/// By default SQLite uses the number of a deleted last row again, and a reader that remembers a row by its
/// number would get another entity. AUTOINCREMENT would write one more row for each insert.
///
/// `@unchecked Sendable`: belongs to the write transaction that is open, and is made anew when another process has
/// written (see `CollectionCatalog.Entry`).
final class RowNumbers: @unchecked Sendable {
  private let last: SQL
  /// Nil: not looked up yet.
  private var highest: Int64?

  init(_ table: Table) { last = table.lastRow }

  /// The number for the next new row.
  func next(on db: borrowing Connection) throws(SQLiteError) -> Int64 {
    if let highest { return highest + 1 }
    let statement = try db.statement(last)
    let highest = try statement.step() ? statement.int64(0) : 0
    self.highest = highest
    return highest + 1
  }

  /// Records that a row got this number. A smaller one, as an update reuses it, changes nothing.
  func use(_ number: Int64) {
    if let highest, number > highest { self.highest = number }
  }
}
