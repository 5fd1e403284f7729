internal import KVBase
internal import KVJSON
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage: VersionedRecords {
  package func records(
    _ ids: [String], in collection: String, maxBytes: Int
  ) throws(StoreError) -> [VersionedRecord?] {
    let found = try readSnapshot(of: collection) { (db, table) throws(SQLiteError) in
      var found: [VersionedRecord?] = []
      var size = 0
      for id in ids where found.isEmpty || size <= maxBytes {
        let record = try Self.record(id, table, on: db)
        size += record?.body.count ?? 0
        found.append(record)
      }
      return found
    }
    return found ?? ids.map { _ in nil }
  }

  package func records(
    of query: Query, in collection: String, _ receive: (VersionedRecord) -> Void
  ) throws(StoreError) {
    _ = try readSnapshot(of: collection) { (db, table) throws(SQLiteError) -> Void? in
      let plan = try indexes.plan(query, table, on: db)
      let found = try db.statement(plan.selection.page("\(Table.body), e.version"))
      while try found.step() {
        let body = try [UInt8](table.body(of: found), or: SQLiteError.noMemory)
        receive(VersionedRecord(id: found.text(2) ?? "", version: found.int64(3), body: body))
      }
    }
  }

  package func write(_ changes: [VersionedWrite]) throws(StoreError) -> VersionedOutcome {
    let checked = try changes.map { (change) throws(StoreError) -> VersionedWrite in
      guard let body = change.body else { return change }
      let record = try layout.checked(
        SavedEntity(id: change.id, bytes: body), in: change.collection)
      return VersionedWrite(
        change.id, in: change.collection, version: change.version, body: record.bytes,
        hasNewID: change.hasNewID)
    }
    var conflicts: [(index: Int, stored: VersionedRecord?)] = []
    do throws(StoreError) {
      return try attempt { (db: borrowing Connection) throws(SQLiteError) in
        var written = VersionedWriter(self)
        conflicts = try written.write(checked, on: db)
        guard conflicts.isEmpty else { return .failure(.versionsDiffer) }
        return .success(.written(written.records))
      }
    } catch {
      guard !conflicts.isEmpty, error.kind == .conflict else { throw error }
      return .conflicts(conflicts)
    }
  }

  fileprivate static func record(
    _ id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> VersionedRecord? {
    guard let stored = try StoredRecord(id, table, on: db) else { return nil }
    guard let body = stored.body else { throw .damaged(id, in: table.name) }
    return VersionedRecord(id: id, version: stored.version, body: body)
  }
}

/// Makes changes one after the other, inside one transaction, as long as the versions are those that they expect; then it
/// only looks for others that are not.
private struct VersionedWriter {
  private let storage: Storage
  private(set) var records: [VersionedRecord?] = []

  init(_ storage: Storage) { self.storage = storage }

  mutating func write(
    _ changes: [VersionedWrite], on db: borrowing Connection
  ) throws(SQLiteError) -> [(index: Int, stored: VersionedRecord?)] {
    records.reserveCapacity(changes.count)
    // A deletion may take along what another one is to delete: all of them are looked at first.
    var conflicts = try self.conflicts(ofDeletions: changes, on: db)
    var start = 0
    while start < changes.count {
      // Neighbours of one collection share its statements.
      let collection = changes[start].collection
      let end =
        changes[start...].firstIndex { !$0.collection.hasSameBytes(as: collection) }
        ?? changes.endIndex
      let change = Storage.Change(try storage.catalog.entry(collection, on: db))
      let saver = try EntitySaver(change, on: db)
      for index in start..<end where changes[index].body != nil || conflicts.isEmpty {
        guard try !write(changes[index], saver, onlyChecking: !conflicts.isEmpty, on: db) else {
          continue
        }
        let stored = try Storage.record(changes[index].id, change.table, on: db)
        conflicts.append((index, stored))
      }
      start = end
    }
    return conflicts
  }

  private func conflicts(
    ofDeletions changes: [VersionedWrite], on db: borrowing Connection
  ) throws(SQLiteError) -> [(index: Int, stored: VersionedRecord?)] {
    var conflicts: [(index: Int, stored: VersionedRecord?)] = []
    for (index, change) in changes.enumerated() where change.body == nil {
      let table = try storage.catalog.entry(change.collection, on: db).table
      guard try Self.version(of: change.id, table, on: db) != change.version else { continue }
      conflicts.append((index, try Storage.record(change.id, table, on: db)))
    }
    return conflicts
  }

  /// False: the record has another version.
  private mutating func write(
    _ write: VersionedWrite, _ saver: borrowing EntitySaver, onlyChecking: Bool,
    on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let change = saver.change
    // That a record is new shows when its insert is not refused.
    if write.version == nil, !onlyChecking { return try insert(write, saver, on: db) }
    guard let body = write.body else {
      _ = try storage.remove(
        [write.id], if: .none, collection: write.collection, change, on: db)
      records.append(nil)
      return true
    }
    guard try Self.version(of: write.id, change.table, on: db) == write.version else {
      return false
    }
    guard !onlyChecking, let expected = write.version else { return true }
    try saver.replace(SavedEntity(id: write.id, bytes: body), on: db)
    records.append(VersionedRecord(id: write.id, version: expected + 1, body: body))
    return true
  }

  /// False: there is one already.
  private mutating func insert(
    _ write: VersionedWrite, _ saver: borrowing EntitySaver, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    guard let body = write.body else {
      records.append(nil)
      return true
    }
    let entity = SavedEntity(id: write.id, bytes: body)
    guard try saver.insert(entity, write.hasNewID ? .create : .update, on: db) else { return false }
    records.append(
      VersionedRecord(id: write.id, version: saver.change.firstVersion, body: body))
    return true
  }

  private static func version(
    of id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Int64? {
    let statement = try db.statement(table.version)
    try statement.bind(id, at: .id)
    return try statement.step() ? statement.int64(0) : nil
  }
}

extension StoreError {
  fileprivate static var versionsDiffer: StoreError {
    StoreError(.conflict, "A record has another version.")
  }
}
