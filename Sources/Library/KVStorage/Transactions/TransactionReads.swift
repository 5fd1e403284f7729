internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// What a transaction has read: it may commit if all of it would be read the same once more.
struct TransactionReads: Sendable {
  private struct Scan: Sendable {
    let collection: String
    let query: Query
    /// The digest of the rows found and their versions, in their order.
    let digest: Int
  }

  private struct Key: Hashable, Sendable {
    let collection: RecordID
    let id: RecordID
  }

  /// The versions of records; nil: it was not there.
  private var records: [Key: Int64?] = [:]
  private var scans: [Scan] = []

  mutating func record(_ id: String, in collection: String, version: Int64?) {
    records[Key(collection: RecordID(collection), id: RecordID(id))] = version
  }

  mutating func record(_ query: Query, in collection: String, rows: [FoundRow]) {
    scans.append(Scan(collection: collection, query: query, digest: rows.hashValue))
  }

  /// The change since then, for the error; nil: nothing.
  func change(
    in storage: Storage, on db: borrowing Connection
  ) throws(SQLiteError) -> StoreError? {
    var tables = Tables(storage.catalog)
    for (key, version) in records {
      if try Self.version(key, tables.table(key.collection, on: db), on: db) != version {
        return .conditionFailed(key.id.text, "was changed by another writer in the meantime")
      }
    }
    for scan in scans {
      let table = try tables.table(RecordID(scan.collection), on: db)
      let rows = try table.map { (table) throws(SQLiteError) in
        try storage.rows(of: scan.query, table, on: db)
      }
      if (rows ?? []).hashValue != scan.digest {
        return StoreError(
          .conflict,
          "The result of a query in \"\(scan.collection)\" was changed by another writer in the meantime."
        )
      }
    }
    return nil
  }

  private static func version(
    _ key: Key, _ table: Table?, on db: borrowing Connection
  ) throws(SQLiteError) -> Int64? {
    guard let table else { return nil }
    let statement = try db.statement(table.version)
    try statement.bind(key.id.text, at: .id)
    return try statement.step() ? statement.int64(0) : nil
  }
}

/// The tables of collections in one transaction of the database, each looked for once.
private struct Tables {
  private let catalog: CollectionCatalog
  private var known: [RecordID: Table?] = [:]

  init(_ catalog: CollectionCatalog) { self.catalog = catalog }

  /// Nil if there is none.
  mutating func table(
    _ collection: RecordID, on db: borrowing Connection
  ) throws(SQLiteError) -> Table? {
    if let known = known[collection] { return known }
    let table = try catalog.table(collection.text, inSnapshot: db)
    known[collection] = .some(table)
    return table
  }
}

extension Storage {
  /// The rows that a query finds, in its order.
  func rows(
    of query: Query, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [FoundRow] {
    let statement = try db.statement(indexes.plan(query, table, on: db).rows)
    var rows: [FoundRow] = []
    while try statement.step() {
      rows.append(FoundRow(number: statement.int64(0), version: statement.int64(1)))
    }
    return rows
  }

  /// Makes a transaction's changes, in one transaction of the database, unless something that it has read has
  /// changed: `.conflict` then.
  func commit(
    _ writes: [TransactionWrite], ifUnchanged reads: TransactionReads
  ) throws(StoreError) {
    try attempt { (db: borrowing Connection) throws(SQLiteError) -> Result<Void, StoreError> in
      if let change = try reads.change(in: self, on: db) { return .failure(change) }
      for write in writes { try perform(write, on: db) }
      return .success(())
    }
  }

  private func perform(
    _ write: TransactionWrite, on db: borrowing Connection
  ) throws(SQLiteError) {
    let change = Change(try catalog.entry(write.collection, on: db))
    guard let body = write.body else {
      _ = try Self.remove(
        write.id, if: write.condition, atEnd: layout.isOwner(write.collection),
        change: change, on: db)
      return
    }
    let saver = try EntitySaver(change, if: write.condition, on: db)
    try saver.save(
      SavedEntity(id: write.id, bytes: body), write.operation, by: write.update, on: db)
  }
}
