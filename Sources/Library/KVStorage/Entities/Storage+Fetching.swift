package import KVBase
package import KVJSON
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func rows(
    of query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> RecordRows {
    try collect(from: collection, within: budget) { (db, table, rows) throws(SQLiteError) in
      try collect(query, table, writtenSince: writtenSince, into: &rows, on: db)
    }
  }

  /// Adds the rows that a query finds.
  func collect(
    _ query: Query, _ table: Table, writtenSince: Timestamp?, into rows: inout CollectedRows,
    on db: borrowing Connection
  ) throws(SQLiteError) {
    let plan = try indexes.plan(query, table, writtenSince: writtenSince, on: db)
    if let list = plan.selection.list, try list.each(on: db, { rows.append($0, version: $1) }) {
      return
    }
    let found = try db.statement(plan.selection.page("e.n, e.version"))
    while try found.step() { rows.append(found) }
  }

  package func rows(of ids: [String], in collection: String) throws(StoreError) -> RecordRows {
    var rows = try collect(from: collection, within: .unlimited) {
      (db, table, rows) throws(SQLiteError) in
      let found = try db.statement(table.record)
      for id in ids {
        found.reset()
        try found.bind(id, at: .id)
        if try found.step() { rows.append(found) } else { rows.append(0, version: 0) }
      }
    }
    // Nothing was ever written to the collection.
    while rows.count < ids.count { try rows.appendMissing() }
    return rows
  }

  package func backendVersions(
    of ids: [String], in collection: String
  ) throws(StoreError) -> [RecordVersion?] {
    let versions = try readSnapshot(of: collection) {
      (db, table) throws(SQLiteError) -> [RecordVersion?]? in
      var versions: [RecordVersion?] = []
      for id in ids { versions.append(try Self.knownVersion(of: id, table, on: db)) }
      return versions
    }
    return versions ?? ids.map { _ in nil }
  }

  package func read(
    _ rows: RecordRows, at range: Range<Int>, as form: RecordForm, in collection: String,
    maxBytes: Int
  ) throws(StoreError) -> FetchedBatch {
    let batch = FetchedBatch(from: range.lowerBound)
    var failure: StoreError?
    func fill(_ db: borrowing Connection, _ table: Table) throws(SQLiteError) -> Bool? {
      guard table.number == rows.table else { return nil }
      let reader = try RecordRowReader(table, form, on: db)
      for position in range where batch.size < maxBytes {
        do throws(StoreError) {
          try reader.read(rows, at: position, into: batch)
        } catch {
          failure = error
          return true
        }
      }
      return true
    }
    // One statement is a snapshot by itself.
    let isThere =
      range.count == 1
      ? try read(from: collection, fill) : try readSnapshot(of: collection, fill)
    if let failure { throw failure }
    if isThere == nil { for _ in range { try batch.appendDeleted() } }
    return batch
  }

  /// Collects rows in one snapshot; none if nothing was ever written to the collection.
  private func collect(
    from collection: String, within budget: WorkBudget,
    _ body: (borrowing Connection, Table, inout CollectedRows) throws(SQLiteError) -> Void
  ) throws(StoreError) -> RecordRows {
    let collected = try readSnapshot(of: collection, within: budget) {
      (db, table) throws(SQLiteError) -> CollectedRows? in
      var collected = CollectedRows(RecordRows(table: table.number))
      try body(db, table, &collected)
      return collected
    }
    if let failure = collected?.failure { throw failure }
    return collected?.rows ?? RecordRows(table: 0)
  }
}

/// Rows, and why there are not all of them.
struct CollectedRows {
  private(set) var rows: RecordRows
  private(set) var failure: StoreError?

  init(_ rows: RecordRows) { self.rows = rows }

  /// Adds a row of a statement whose first columns are its number and its version.
  mutating func append(_ row: borrowing Statement) {
    append(row.int64(0), version: row.int64(1))
  }

  mutating func append(_ row: Int64, version: Int64) {
    guard failure == nil else { return }
    do throws(StoreError) { try rows.append(row, version: version) } catch {
      failure = error
    }
  }
}
