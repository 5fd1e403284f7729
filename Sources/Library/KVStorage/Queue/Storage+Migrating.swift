internal import KVBase
internal import KVJSON
internal import KVSQLite
package import KVSync

/// What becomes of the records of one collection when the schema that they follow changes.
package struct RecordMigration: Sendable {
  package enum Fate: Sendable {
    /// They stay, but it is read again whether the backend has others.
    case unchanged
    /// Each becomes another one.
    case changed
    /// What has no pending write is removed, to be read again; the rest becomes other records.
    case readAgain
    /// All of it goes, pending writes included.
    case removed
  }

  package let collection: String
  /// The name of the collection from now on.
  package let name: String
  package let fate: Fate
  /// Makes a version of a record, such as the backend's, one of the new schema, as far as it goes.
  package let reshaped: @Sendable ([UInt8]) -> [UInt8]
  /// Makes a record, by its id, one of the new schema; fails if it cannot be one. It may be the application's, and slow.
  package let migrated: @Sendable (String, [UInt8]) -> Result<[UInt8], StoreError>

  package init(
    _ collection: String, to name: String, _ fate: Fate,
    reshaped: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 },
    migrated: @escaping @Sendable (String, [UInt8]) -> Result<[UInt8], StoreError> = {
      .success($1)
    }
  ) {
    (self.collection, self.name, self.fate) = (collection, name, fate)
    (self.reshaped, self.migrated) = (reshaped, migrated)
  }
}

extension Storage {
  private static let pageSize = 200

  /// Changes the records of a collection, inside a transaction; gives why that cannot be.
  func migrate(
    _ migration: RecordMigration, on db: borrowing Connection
  ) throws(SQLiteError) -> StoreError? {
    guard let table = try catalog.table(migration.collection, inSnapshot: db) else { return nil }
    try Self.forgetRequests(table, db)
    switch migration.fate {
    case .unchanged: return nil
    case .removed:
      try db.run("DELETE FROM pending WHERE collection = \(bind: table.number)")
      try db.run("DELETE FROM \(sql: table.entities)")
    case .readAgain:
      try db.run("DELETE FROM \(sql: table.entities) WHERE \(sql: table.isSettled)")
      if let failure = try Self.changeRecords(of: table, migration, on: db) { return failure }
    case .changed:
      if let failure = try Self.changeRecords(of: table, migration, on: db) { return failure }
    }
    guard !migration.name.hasSameBytes(as: migration.collection) else { return nil }
    return try rename(table, to: migration.name, on: db)
  }

  private func rename(
    _ table: Table, to name: String, on db: borrowing Connection
  ) throws(SQLiteError) -> StoreError? {
    if let other = try catalog.table(name, inSnapshot: db) {
      // Made for indexes when the schema was adopted; records would not have been of a model.
      guard try db.integer("SELECT count(*) FROM \(other.entities)") == 0 else {
        return StoreError(.conflict, "There are records of \(name) already.")
      }
      try db.run(
        "UPDATE collections SET name = name || ' (former)' WHERE number = \(bind: other.number)")
    }
    try db.run("UPDATE collections SET name = \(bind: name) WHERE number = \(bind: table.number)")
    catalog.forget()
    return nil
  }

  // MARK: Records

  private static func changeRecords(
    of table: Table, _ migration: RecordMigration, on db: borrowing Connection
  ) throws(SQLiteError) -> StoreError? {
    if let failure = try changeEntities(of: table, migration, on: db) { return failure }
    try changeQueue(of: table, migration, on: db)
    return nil
  }

  private static func changeEntities(
    of table: Table, _ migration: RecordMigration, on db: borrowing Connection
  ) throws(SQLiteError) -> StoreError? {
    var last: Int64 = 0
    while true {
      let page = try entities(of: table, after: last, on: db)
      guard let end = page.last else { return nil }
      last = end.number
      for (number, id, body) in page {
        let new: [UInt8]
        switch MigratingThread.marked({ migration.migrated(id, body) }) {
        case .success(let record): new = record
        case .failure(var error):
          error.id = id
          return error
        }
        guard new != body else { continue }
        let text = String(decoding: new, as: UTF8.self)
        try db.run(
          """
          UPDATE \(sql: table.entities) SET body = \(bind: text), checksum = kv_checksum(\(bind: text)),
          version = version + 1 WHERE n = \(bind: number)
          """)
      }
    }
  }

  private static func entities(
    of table: Table, after last: Int64, on db: borrowing Connection
  ) throws(SQLiteError) -> [(number: Int64, id: String, body: [UInt8])] {
    let find = try db.statement(
      """
      SELECT body, checksum, id, n FROM \(sql: table.entities)
      WHERE n > \(bind: last) ORDER BY n LIMIT \(bind: pageSize)
      """)
    var page: [(number: Int64, id: String, body: [UInt8])] = []
    while try find.step() {
      let body = try [UInt8](table.body(of: find), or: SQLiteError.noMemory)
      page.append((find.int64(3), find.text(2) ?? "", body))
    }
    return page
  }

  /// What the backend has, or may have, of records with pending writes.
  private static func changeQueue(
    of table: Table, _ migration: RecordMigration, on db: borrowing Connection
  ) throws(SQLiteError) {
    var last: Int64 = 0
    while let row = try QueuedVersions(of: table, after: last, on: db) {
      last = row.number
      let base = row.base.map { String(decoding: migration.reshaped($0), as: UTF8.self) }
      let remote = row.remote.map { Self.text(of: $0, migration) }
      let tried =
        row.tried.isEmpty
        ? nil : row.tried.map { Self.text(of: $0, migration) }.joined(separator: ",")
      try db.run(
        """
        UPDATE pending SET base = \(bind: base), base_checksum = kv_checksum(\(bind: base)),
        remote = \(bind: remote), tried = \(bind: tried), operators = NULL, sent_operators = NULL
        WHERE n = \(bind: row.number)
        """)
    }
  }

  private static func text(of version: RemoteVersion, _ migration: RecordMigration) -> String {
    let column = version.bytes.map(migration.reshaped) ?? version.column
    return String(decoding: column, as: UTF8.self)
  }

  struct QueuedVersions {
    let number: Int64
    let base: [UInt8]?
    let remote: RemoteVersion?
    let tried: [RemoteVersion]

    /// The next row of the queue; nil: there is none.
    init?(
      of table: Table, after last: Int64, on db: borrowing Connection
    ) throws(SQLiteError) {
      let row = try db.statement(Self.first(of: table, after: last))
      guard try row.step() else { return nil }
      number = row.int64(3)
      base = row.isNull(0) || !row.isIntact(0) ? nil : try row.copy(0)
      remote = row.isNull(4) ? nil : RemoteVersion(column: try row.copy(4))
      tried = try row.versions(5)
    }

    /// The statement that finds it. In the queue's own order: SQLite would take the index on the collection, and sort all of its rows
    /// for each one.
    static func first(of table: Table, after last: Int64) -> SQLFragment {
      """
      SELECT base, base_checksum, id, n, remote, tried FROM pending NOT INDEXED
      WHERE collection = \(bind: table.number) AND n > \(bind: last) ORDER BY n LIMIT 1
      """
    }
  }
}
