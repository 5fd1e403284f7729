internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// Reads records of one collection by their row numbers, on one connection.
struct RecordRowReader: ~Copyable {
  private let table: Table
  private let form: RecordForm
  private let statement: Statement

  init(_ table: Table, _ form: RecordForm, on db: borrowing Connection) throws(SQLiteError) {
    self.table = table
    self.form = form
    statement =
      if case .id = form { try db.statement(table.idOfRow) } else {
        try db.statement(table.recordOfRow)
      }
  }

  /// Adds the record of a row to a batch, as it is now.
  func read(
    _ rows: RecordRows, at position: Int, into batch: FetchedBatch
  ) throws(StoreError) {
    guard try find(rows.row(at: position)) else { return try batch.appendDeleted() }
    func state(_ column: Int32) -> RecordState {
      rows.isVersion(statement.int64(column), at: position) ? .unchanged : .changed
    }
    guard case .body(let projection) = form else {
      return try batch.append(JSONValue.string(statement.text(0) ?? "").bytes, state(1))
    }
    guard let body = statement.intactBytes(0) else {
      return try batch.append(StoreError(table.damage(of: statement)))
    }
    if let projection {
      try batch.append(projection.apply(to: body), state(3))
    } else {
      try batch.append(body, state(3))
    }
  }

  private func find(_ row: Int64) throws(StoreError) -> Bool {
    do throws(SQLiteError) {
      statement.reset()
      try statement.bind(row, at: .row)
      return try statement.step()
    } catch {
      throw StoreError(error)
    }
  }
}
