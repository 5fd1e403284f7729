package import KVQuery
internal import KVSQLite
package import KVSync

/// Pending writes that are given up while their entities stay.
///
/// What is here then is not what the backend has, although it has the backend's time in it: so it loses its version. Of a
/// single one the row says so, by a negative `gen`, until the backend's entity replaces it. A purge says it of the whole
/// collection at once: it has to make room on a full disk, and marking thousands of rows takes some. The records of what
/// was read go too, because no change on the backend will tell.
extension Storage {
  package func dropPending(_ id: String, in collection: String) throws(StoreError) -> Bool {
    try write(to: collection, makingRoom: true) { (db, change) throws(SQLiteError) in
      guard try Self.run(change.table.drop, id, on: db) else { return false }
      try Self.forgetRequests(change.table, db)
      try Self.forgetVersion(of: id, change, on: db)
      try Self.expectNothing(of: id, change.table, on: db)
      return true
    }
  }

  package func purge(_ query: Query?, in collection: String) throws(StoreError) -> Int {
    try write(to: collection, makingRoom: true) { (db, change) throws(SQLiteError) in
      try Self.forgetRequests(change.table, db)
      let recordPurge = try db.statement(change.table.recordPurge)
      try recordPurge.run()
      guard let query else { return try Self.dropAllPending(change.table, db) }
      return try Self.dropPending(
        of: numbers(of: query, change.table, on: db), change.table, on: db)
    }
  }

  // MARK: Steps

  /// Marks it as unknown which version of the backend's this row is, if any.
  static func forgetVersion(
    of id: String, _ change: Change, on db: borrowing Connection
  ) throws(SQLiteError) {
    let statement = try db.statement(change.table.forgetVersion)
    try statement.bind(id, at: .id)
    try statement.bind(change.generation, at: .generation)
    try statement.run()
  }

  /// Forgets all pending writes of a collection; gives how many.
  static func dropAllPending(
    _ table: Table, _ db: borrowing Connection
  ) throws(SQLiteError) -> Int {
    try expectNothingPending(table, db)
    let statement = try db.statement(table.dropAll)
    try statement.run()
    return db.changes
  }

  /// Forgets the pending writes of some rows; gives how many.
  static func dropPending(
    of numbers: [Int64], _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Int {
    let drop = try db.prepare(
      """
      DELETE FROM pending WHERE collection = \(table.number)
      AND id = (SELECT id FROM \(table.entities) WHERE n = \(Parameter.row))
      """)
    var dropped = 0
    for number in numbers {
      try drop.bind(number, at: .row)
      try drop.run()
      dropped += db.changes
    }
    return dropped
  }
}
