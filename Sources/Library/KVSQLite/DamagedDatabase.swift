internal import CSQLite
package import KVCrypto

/// A database file that may be damaged, opened to copy out what can still be read. Nothing is ever written to it.
package final class DamagedDatabase {
  private let connection: Connection

  /// Throws if it is no SQLite file at all, or cannot be opened.
  package init(path: String, with vault: Vault? = nil) throws(SQLiteError) {
    let access: Connection.Access = DatabaseFile.isImmutable(path) ? .immutable : .reading
    connection = try Connection(opening: path, for: access, with: vault)
    connection.setBusyTimeout(10_000)
    // Mistakes in the schema of one table must not hide the others; SQLite's own checks cost nothing here.
    try connection.execute("PRAGMA writable_schema = RESET; PRAGMA cell_size_check = 1")
  }

  /// Runs a statement whose rows can be had, or not; gives what `body` makes of each, nil if it fails.
  package func rows<R>(
    of sql: String, _ body: (borrowing Statement) -> R
  ) -> [R]? {
    var found: [R] = []
    do throws(SQLiteError) {
      let statement = try connection.prepare(sql)
      while try statement.step() { found.append(body(statement)) }
    } catch {
      return nil
    }
    return found
  }

  /// Runs `body` on each row of a table that can be read, once each: from the front up to the first damage, from the back
  /// down to the last one, then what lies between them in halves, down to single rows. Returns in how many parts something
  /// could not be read.
  package func salvage(
    _ columns: String, from table: String, key: String, _ body: (borrowing Statement) -> Void
  ) -> Int {
    let select = { (range: ClosedRange<Int64>) -> SQLFragment in
      """
      SELECT \(sql: key), \(sql: columns) FROM \(sql: table)
      WHERE \(sql: key) BETWEEN \(bind: range.lowerBound) AND \(bind: range.upperBound) ORDER BY \(sql: key)
      """
    }
    // Row numbers begin with 1.
    let front = walk(select(1 ... .max), body)
    guard !front.isWhole else { return 0 }
    let (lower, isAtEnd) = (front.last ?? 0).addingReportingOverflow(1)
    guard !isAtEnd else { return 1 }
    let back = walk("\(select(lower ... .max)) DESC", body)
    let upper = back.last.map { $0 - 1 } ?? .max
    guard !back.isWhole, lower <= upper else { return 1 }
    return probe(select, over: lower...upper, body: body)
  }

  /// Reads rows until their end, or until something is damaged. Gives the key of the last row that could be read.
  private func walk(
    _ rows: SQLFragment, _ body: (borrowing Statement) -> Void
  ) -> (isWhole: Bool, last: Int64?) {
    var last: Int64?
    do throws(SQLiteError) {
      let statement = try connection.prepare(rows)
      while try statement.step() {
        last = statement.int64(0)
        body(statement)
      }
      return (true, last)
    } catch {
      return (false, last)
    }
  }

  /// Reads what can be read of a range in which something is damaged.
  private func probe(
    _ select: (ClosedRange<Int64>) -> SQLFragment, over range: ClosedRange<Int64>,
    body: (borrowing Statement) -> Void
  ) -> Int {
    var ranges = [range]
    var damaged = 0
    // A bound, for a file in which nothing can be read at all.
    var left = 200_000
    while left > 0, let range = ranges.popLast() {
      left -= 1
      let found = walk(select(range), body)
      guard !found.isWhole else { continue }
      guard (found.last ?? 0) < range.upperBound - 1, range.count > 1 else {
        damaged += 1
        continue
      }
      let lower = found.last.map { $0 + 1 } ?? range.lowerBound
      let middle = lower + (range.upperBound - lower) / 2
      ranges += [middle + 1...range.upperBound, lower...middle]
    }
    return damaged + ranges.count
  }
}
