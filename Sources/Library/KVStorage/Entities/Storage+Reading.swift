package import KVBase
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func entity(
    _ id: String, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> [UInt8]? {
    var entity: [UInt8]?
    _ = try lend(id, in: collection, writtenSince: writtenSince) { entity = [UInt8]($0) }
    return entity
  }

  package func lend(
    _ id: String, in collection: String, writtenSince: Timestamp?,
    to body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) -> Bool {
    let isFound = try read(from: collection) { (db, table) throws(SQLiteError) -> Bool in
      try id.withBorrowedBytes { (id) throws(SQLiteError) -> Bool in
        let statement = try db.statement(writtenSince == nil ? table.get : table.getSince)
        try statement.bind(borrowedText: id, at: .id)
        if let writtenSince { try statement.bind(writtenSince.milliseconds, at: .time) }
        // No other user's data is lent, not even for a moment.
        guard try statement.step(), try ownership.isKept(reading: db) else { return false }
        body(try table.body(of: statement))
        return true
      }
    }
    return isFound ?? false
  }

  package func lend(
    _ ids: [String], in collection: String, writtenSince: Timestamp?, within budget: WorkBudget,
    to body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
  ) throws(StoreError) {
    var failure: StoreError?
    let isThere = try readSnapshot(of: collection, within: budget) {
      (db, table) throws(SQLiteError) -> Bool? in
      let statement = try db.statement(writtenSince == nil ? table.get : table.getSince)
      if let writtenSince { try statement.bind(writtenSince.milliseconds, at: .time) }
      for id in ids where failure == nil {
        try id.withBorrowedBytes { (id) throws(SQLiteError) in
          defer { statement.reset() }
          try statement.bind(borrowedText: id, at: .id)
          let entity = try statement.step() ? try table.body(of: statement) : nil
          do throws(StoreError) { try body(entity) } catch { failure = error }
        }
      }
      return true
    }
    if isThere == nil { for _ in ids { try body(nil) } }
    if let failure { throw failure }
  }

  package func version(
    of id: String, in collection: String
  ) throws(StoreError) -> Int64? {
    try read(from: collection) { (db, table) throws(SQLiteError) -> Int64? in
      let statement = try db.statement(table.version)
      try statement.bind(id, at: .id)
      return try statement.step() ? statement.int64(0) : nil
    }
  }

  package func each(
    of query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    _ = try readSnapshot(of: collection, within: budget) {
      (db, table) throws(SQLiteError) -> Void? in
      let plan = try indexes.plan(query.selection, table, writtenSince: writtenSince, on: db)
      let statement = try db.statement(plan.bodies)
      var found = 0
      while try statement.step() {
        found += 1
        body(try table.body(of: statement))
      }
      try note(plan, found: found, on: db)
    }
  }

  package func count(
    _ query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> Int {
    if writtenSince == nil, let count = try countTogether(query, in: collection, within: budget) {
      return query.countOfPage(of: count)
    }
    let count = try readSnapshot(of: collection, within: budget) {
      (db, table) throws(SQLiteError) in
      let plan = try indexes.plan(query, table, writtenSince: writtenSince, on: db)
      let statement = try db.statement(plan.count)
      let count = try statement.step() ? statement.int(0) : 0
      try note(plan, found: count, on: db)
      return count
    }
    return query.countOfPage(of: count ?? 0)
  }
}

extension Query {
  /// How many entities the page has if so many match.
  fileprivate func countOfPage(of count: Int) -> Int {
    min(max(0, count - max(0, skip)), limit ?? .max)
  }
}
