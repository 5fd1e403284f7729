internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  /// Begins a transaction over any of the collections.
  package func beginTransaction() throws(StoreError) -> any LocalTransaction {
    do throws(SQLiteError) { return StorageTransaction(self, try database.snapshot()) } catch {
      throw StoreError(error)
    }
  }
}

/// A transaction that locks nothing: it reads a snapshot, keeps its writes in memory, and looks at its end
/// whether what it has read is still so.
///
/// `@unchecked Sendable`: its state is protected by `lock`.
final class StorageTransaction: LocalTransaction, @unchecked Sendable {
  private let storage: Storage
  private let snapshot: Snapshot
  private let lock = Monitor(())
  private var overlays: [RecordID: TransactionOverlay] = [:]
  /// The collections' tables in the snapshot, as far as they were looked for; nil where there is none.
  private var tables: [RecordID: Table?] = [:]
  private var reads = TransactionReads()
  /// In the order in which they were asked for.
  private var writes: [TransactionWrite] = []
  private var hasEnded = false

  init(_ storage: Storage, _ snapshot: Snapshot) {
    self.storage = storage
    self.snapshot = snapshot
  }

  // MARK: Reading

  func entity(_ id: String, in collection: String) throws(StoreError) -> [UInt8]? {
    try perform { () throws(StoreError) in try current(id, collection) }
  }

  func find(_ query: Query, in collection: String) throws(StoreError) -> any EntityCursor {
    try perform { () throws(StoreError) in
      let found = try found(query, collection)
      let projection = query.of(storage.layout.format(of: collection)).projection
      return TransactionCursor(found.records) { [weak self] record throws(StoreError) in
        let body = try self?.perform { () throws(StoreError) in
          try self?.body(of: record, found.table)
        }
        guard let body = body ?? nil else {
          throw StoreError(.misuse, "The transaction has ended.")
        }
        return projection?.apply(to: body) ?? body
      }
    }
  }

  func count(_ query: Query, in collection: String) throws(StoreError) -> Int {
    try perform { () throws(StoreError) in try found(query, collection).records.count }
  }

  // MARK: Writing

  func save(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], known: KnownMembers?,
    if condition: WriteCondition, in collection: String
  ) throws(StoreError) -> [SavedEntity] {
    let entities = try storage.entities(bytes, outlines, in: collection)
    return try perform { () throws(StoreError) in
      var saved = entities
      for (index, outline) in outlines.enumerated() {
        try check(condition, outline.id, collection: collection)
        if let known, outline.id != nil, let old = try current(saved[index].id, collection) {
          let new = saved[index].bytes
          saved[index].bytes = old.withBorrowedBytes {
            known.completed(new, from: $0, format: storage.layout.format(of: collection))
          }
        }
        saved[index] = try storage.checked(saved[index], outlines, at: index, in: collection)
        try write(
          saved[index], outline.id == nil ? .create : .update, if: condition,
          collection: collection)
      }
      return saved
    }
  }

  func remove(
    _ id: String, if condition: WriteCondition, in collection: String
  ) throws(StoreError) -> Int {
    try perform { () throws(StoreError) in
      try check(condition, id, collection: collection)
      guard try current(id, collection) != nil else { return 0 }
      try remove([id], if: condition, collection: collection)
      return 1
    }
  }

  func remove(_ query: Query, in collection: String) throws(StoreError) -> Int {
    try perform { () throws(StoreError) in
      let ids = try ids(query, collection)
      try remove(ids, if: .none, collection: collection)
      return ids.count
    }
  }

  func update(
    _ query: Query, _ update: EntityUpdate, in collection: String
  ) throws(StoreError) -> UpdateResult {
    try perform { () throws(StoreError) in
      let found = try found(query, collection)
      let now = Timestamp.now().milliseconds
      var result = UpdateResult(matched: found.records.count)
      for record in found.records {
        let body = try body(of: record, found.table)
        guard let changed = try storage.changed(body, by: update, now, in: collection) else {
          continue
        }
        try write(
          changed, .update, if: .none, by: update, collection: collection, row: record.row)
        result.modified.append(changed.id)
      }
      return result
    }
  }

  // MARK: The end

  func commit() throws(StoreError) {
    try perform { () throws(StoreError) in
      defer { end() }
      guard !writes.isEmpty else { return }
      try storage.commit(writes, ifUnchanged: reads)
    }
  }

  func close() { lock.withLock { _ in end() } }

  private func end() {
    hasEnded = true
    snapshot.close()
    (overlays, writes) = ([:], [])
  }

  /// Runs `body` alone.
  private func perform<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    try lock.withLock { _ throws(StoreError) in
      guard !hasEnded else { throw StoreError(.misuse, "The transaction has ended.") }
      return try body()
    }
  }

  // MARK: Steps

  private func read<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(StoreError) -> R {
    do throws(SQLiteError) { return try snapshot.read(body) } catch { throw StoreError(error) }
  }

  /// The entity as the transaction sees it.
  private func current(_ id: String, _ collection: String) throws(StoreError) -> [UInt8]? {
    try currentRecord(id, collection)?.body
  }

  /// The same with its version; 0, which no record has, if the transaction has written it.
  private func currentRecord(
    _ id: String, _ collection: String
  ) throws(StoreError) -> (version: Int64, body: [UInt8])? {
    if let entry = overlays[RecordID(collection)]?.entries[RecordID(id)] {
      return entry.body.map { (0, $0) }
    }
    let stored = try stored(id, collection)
    reads.record(id, in: collection, version: stored?.version)
    return try stored.map { (stored) throws(StoreError) in
      guard let body = stored.body else { throw StoreError(.damaged(id, in: collection)) }
      return (stored.version, body)
    }
  }

  private func check(
    _ condition: WriteCondition, _ id: String?, collection: String
  ) throws(StoreError) {
    guard !condition.isNone else { return }
    let stored = try id.flatMap { (id) throws(StoreError) in try currentRecord(id, collection) }
    if let failure = condition.failure(of: id, stored) { throw failure }
  }

  /// The entity as the snapshot has it.
  private func stored(_ id: String, _ collection: String) throws(StoreError) -> StoredRecord? {
    try read { (db: borrowing Connection) throws(SQLiteError) -> StoredRecord? in
      guard let table = try self.table(collection, on: db) else { return nil }
      return try StoredRecord(id, table, on: db)
    }
  }

  private func table(
    _ collection: String, on db: borrowing Connection
  ) throws(SQLiteError) -> Table? {
    let name = RecordID(collection)
    if let known = tables[name] { return known }
    let table = try storage.catalog.table(collection, inSnapshot: db)
    if let table { storage.catalog.remember(table) }
    tables[name] = .some(table)
    return table
  }

  /// The matching entities in the query's order, and the table of those that the transaction has not written.
  private func found(
    _ query: Query, _ collection: String
  ) throws(StoreError) -> (records: [TransactionRecord], table: Table?) {
    let query = query.of(storage.layout.format(of: collection))
    let overlay = overlays[RecordID(collection)]
    let asked = overlay.map { $0.widened(query) } ?? query
    let (rows, table) = try read {
      (db: borrowing Connection) throws(SQLiteError) -> ([FoundRow], Table?) in
      guard let table = try self.table(collection, on: db) else { return ([], nil) }
      return (try storage.rows(of: asked, table, on: db), table)
    }
    reads.record(asked, in: collection, rows: rows)
    guard let overlay else { return (rows.map { .row($0.number) }, table) }
    let records = try overlay.merged(rows.map(\.number), for: query) {
      (number) throws(StoreError) in
      try body(of: .row(number), table)
    }
    return (records, table)
  }

  /// The ids of what matches.
  private func ids(_ query: Query, _ collection: String) throws(StoreError) -> [String] {
    let found = try found(query, collection)
    let format = storage.layout.format(of: collection)
    return try found.records.map { (record) throws(StoreError) in
      try StoredEntity.id(of: try body(of: record, found.table), format)
    }
  }

  /// Removes entities that are there, with all that goes with them.
  private func remove(
    _ ids: [String], if condition: WriteCondition, collection: String
  ) throws(StoreError) {
    var cascade = Cascade()
    for id in ids {
      try cascade.add(Cascade.Member(id, in: collection)) { (owner) throws(StoreError) in
        try storage.layout.owned(by: owner) { (query, collection) throws(StoreError) in
          try self.ids(query, collection)
        } reading: { (id, collection) throws(StoreError) in
          try current(id, collection)
        }
      }
    }
    let roots = Set(ids.map(RecordID.init))
    for member in cascade.members {
      let isRoot = roots.contains(member.id) && member.collection == RecordID(collection)
      try write(
        member.id.text, nil, operation: .delete, if: isRoot ? condition : .none,
        collection: member.collection.text)
    }
  }

  private func body(
    of record: TransactionRecord, _ table: Table?
  ) throws(StoreError) -> [UInt8] {
    switch record {
    case .own(let body): return body
    case .row(let number):
      let body = try read { (db: borrowing Connection) throws(SQLiteError) -> [UInt8]? in
        guard let table else { return nil }
        let statement = try db.statement(table.bodyOfRow)
        try statement.bind(number, at: .row)
        return try statement.step()
          ? [UInt8](table.body(of: statement), or: SQLiteError.noMemory) : nil
      }
      guard let body else { throw StoreError(.internal, "A snapshot has lost a row.") }
      return body
    }
  }

  private func write(
    _ entity: SavedEntity, _ operation: PendingWrite.Operation, if condition: WriteCondition,
    by update: EntityUpdate? = nil, collection: String, row: Int64? = nil
  ) throws(StoreError) {
    try write(
      entity.id, entity.bytes, operation: operation, if: condition, by: update,
      collection: collection, row: row)
  }

  /// `row`: of the entity in the snapshot, if it is known; it is looked for otherwise.
  private func write(
    _ id: String, _ body: [UInt8]?, operation: PendingWrite.Operation, if condition: WriteCondition,
    by update: EntityUpdate? = nil, collection: String, row: Int64? = nil
  ) throws(StoreError) {
    let key = RecordID(collection)
    var row = row
    if row == nil, overlays[key]?.contains(id) != true { row = try stored(id, collection)?.number }
    overlays[key, default: TransactionOverlay()].set(id, body, row: row)
    writes.append(
      TransactionWrite(
        collection: collection, id: id, body: body, operation: operation,
        condition: condition, update: update))
  }
}
