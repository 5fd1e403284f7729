package import KVBase
package import KVJSON
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func save(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], known: KnownMembers?,
    if condition: WriteCondition, in collection: String
  ) throws(StoreError) -> [SavedEntity] {
    let entities = try entities(bytes, outlines, in: collection)
    // One whose condition fails would have those that share its commit repeated.
    return try attempt(repeatable: condition.isNone) {
      (db: borrowing Connection) throws(SQLiteError) in
      let change = Change(try catalog.entry(collection, on: db))
      let saver = try EntitySaver(change, if: condition, on: db)
      var saved = entities
      for (index, outline) in outlines.enumerated() {
        if var failure = try Self.failure(of: outline.id, condition, table: change.table, on: db) {
          failure.index = outlines.count > 1 ? index : nil
          return .failure(failure)
        }
        if let known, outline.id != nil {
          saved[index].bytes = try Self.completed(saved[index], known, change: change, on: db)
        }
        do throws(StoreError) {
          saved[index] = try checked(saved[index], outlines, at: index, in: collection)
        } catch {
          return .failure(error)
        }
        try saver.save(saved[index], outline.id == nil ? .create : .update, on: db)
      }
      return .success(saved)
    }
  }

  /// Why an entity must not be written; nil: the condition holds.
  private static func failure(
    of id: String?, _ condition: WriteCondition, table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> StoreError? {
    guard !condition.isNone else { return nil }
    let stored = try id.flatMap { (id) throws(SQLiteError) in try StoredRecord(id, table, on: db) }
    return try condition.failure(
      of: id,
      stored.map { (stored) throws(SQLiteError) in
        guard let body = stored.body else { throw .damaged(id ?? "", in: table.name) }
        return (stored.version, body)
      })
  }

  /// An entity with those members of the stored one that are not known.
  static func completed(
    _ entity: SavedEntity, _ known: KnownMembers, change: Change, on db: borrowing Connection
  ) throws(SQLiteError) -> [UInt8] {
    let statement = try db.statement(change.table.get)
    try statement.bind(entity.id, at: .id)
    guard try statement.step() else { return entity.bytes }
    let body = try change.table.body(of: statement)
    return known.completed(entity.bytes, from: body, format: change.table.format)
  }

  /// The entities of a buffer, each with an id: one that comes without gets a new one.
  ///
  /// `.invalid` for one that comes without and whose id cannot be made here.
  func entities(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in collection: String
  ) throws(StoreError) -> [SavedEntity] {
    let format = layout.format(of: collection)
    try format.checkIDs(of: outlines)
    return try outlines.map { (outline) throws(StoreError) in
      guard let id = outline.id else {
        let id = makeId()
        try Memory.require(outline.range.count + 128, or: StoreError.noMemory)
        return SavedEntity(
          id: id,
          bytes: EntityEditing.inserting(id: id, into: bytes, outline: outline, format: format))
      }
      return SavedEntity(id: id, bytes: try [UInt8](bytes[outline.range], or: StoreError.noMemory))
    }
  }

  /// Checks an entity of a batch, and returns it in the form in which it is stored.
  func checked(
    _ entity: SavedEntity, _ outlines: [EntityOutline], at index: Int, in collection: String
  ) throws(StoreError) -> SavedEntity {
    do throws(StoreError) { return try layout.checked(entity, in: collection) } catch {
      var failure = error
      // The id that was made for it is not known anywhere else.
      if outlines[index].id == nil { failure.id = nil }
      if outlines.count > 1 { failure.index = index }
      throw failure
    }
  }

  /// What an update makes of a stored entity; nil: it stays as it is.
  func changed(
    _ body: [UInt8], by update: EntityUpdate, _ now: Int64, in collection: String
  ) throws(StoreError) -> SavedEntity? {
    let changed = try update.applied(to: body, now, format: layout.format(of: collection))
    return try changed.map { (entity) throws(StoreError) in
      try layout.checked(entity, in: collection)
    }
  }

  package func remove(
    _ id: String, if condition: WriteCondition, in collection: String
  ) throws(StoreError) -> Int {
    try attempt(makingRoom: true) { (db: borrowing Connection) throws(SQLiteError) in
      let change = Change(try catalog.entry(collection, on: db))
      if let failure = try Self.failure(of: id, condition, table: change.table, on: db) {
        return .failure(failure)
      }
      return .success(
        try remove([id], if: condition, collection: collection, change, on: db))
    }
  }

  package func remove(
    _ query: Query, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> Int {
    try write(to: collection, makingRoom: true) { (db, change) throws(SQLiteError) in
      guard layout.isOwner(collection) else {
        return try remove(selectedBy: query, writtenSince: writtenSince, change, on: db)
      }
      // Found first, then removed with what belongs to them.
      let ids = try ids(of: query, change.table, writtenSince: writtenSince, on: db)
      _ = try remove(ids, if: .none, collection: collection, change, on: db)
      return ids.count
    }
  }

  package func update(
    _ query: Query, _ update: EntityUpdate, isConditional: Bool, in collection: String,
    writtenSince: Timestamp?
  ) throws(StoreError) -> UpdateResult {
    try attempt { (db: borrowing Connection) throws(SQLiteError) in
      let change = Change(try catalog.entry(collection, on: db))
      let found = try rows(of: query, change.table, writtenSince: writtenSince, on: db)
      let find = try db.statement(change.table.bodyOfRow)
      let saver = try EntitySaver(
        change, if: isConditional ? .matches(Query()) : .none, on: db)
      var result = UpdateResult(matched: found.count)
      for row in found {
        let body =
          if let kept = row.body { kept } else {
            try Self.body(of: row.number, change.table, find)
          }
        let changed: SavedEntity?
        do throws(StoreError) {
          changed = try self.changed(body, by: update, change.now, in: collection)
        } catch {
          return .failure(error)
        }
        guard let changed else { continue }
        try saver.save(changed, .update, by: update, on: db)
        result.modified.append(changed.id)
      }
      return .success(result)
    }
  }

  // MARK: Steps

  /// Removes what is selected, all at once: records to which nothing belongs. Returns how many these were.
  func remove(
    selectedBy query: Query, writtenSince: Timestamp? = nil, _ change: Change,
    on db: borrowing Connection
  ) throws(SQLiteError) -> Int {
    let plan = try indexes.plan(query, change.table, writtenSince: writtenSince, on: db)
    let found = try db.statement(plan.selection.page("\(Table.body),e.n"))
    return try Removal(change, on: db).remove(found, on: db)
  }

  /// Inserts or replaces an entity.
  static func put(
    _ body: [UInt8], as id: String, change: Change, on db: borrowing Connection
  ) throws(SQLiteError) {
    try body.withBorrowedBytes { (bytes) throws(SQLiteError) in
      let statement = try db.statement(change.table.put)
      try change.bindConstants(to: statement)
      try statement.bind(id, at: .id)
      try statement.bind(borrowedText: bytes, at: .body)
      try change.insert(with: statement, on: db)
    }
    try expectNothing(of: id, change.table, on: db)
  }

  /// Replaces an entity, if it is there.
  static func replace(
    _ body: [UInt8], of id: String, change: Change, on db: borrowing Connection
  ) throws(SQLiteError) {
    try body.withBorrowedBytes { (bytes) throws(SQLiteError) in
      let statement = try db.statement(change.table.update)
      try statement.bind(id, at: .id)
      try statement.bind(change.generation, at: .generation)
      try statement.bind(change.now, at: .time)
      try statement.bind(borrowedText: bytes, at: .body)
      try statement.run()
    }
  }

  /// Deletes an entity and queues that; false if it was not there. `atEnd`: behind everything that is queued.
  static func remove(
    _ id: String, if condition: WriteCondition = .none, atEnd: Bool = false, change: Change,
    on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let write = try localWrite(of: id, change.table, on: db)
    if write == .unsentCreate {
      _ = try run(change.table.drop, id, on: db)
    } else {
      if write == .mayBeSent { try expectLateWrites(of: id, change, on: db) }
      guard try queueDeletion(of: id, if: condition, change: change, on: db) else { return false }
      if atEnd { _ = try run(change.table.moveToEnd, id, on: db) }
    }
    return try run(change.table.delete, id, on: db)
  }

  static func localWrite(
    of id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> LocalWrite {
    let statement = try db.statement(table.localWrite)
    try statement.bind(id, at: .id)
    guard try statement.step() else { return .none }
    return LocalWrite(rawValue: statement.int64(0)) ?? .none
  }

  /// False if there is no such entity.
  private static func queueDeletion(
    of id: String, if condition: WriteCondition, change: Change, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let condition = try QueuedCondition(condition, of: id, change.table, on: db)
    let queue = try db.statement(change.table.queueDeletion)
    try queue.bind(id, at: .id)
    try queue.bind(Identifier.revision(), at: .revision)
    try queue.bind(change.now, at: .time)
    try queue.bind(condition.mark, at: .isConditional)
    try queue.bind(condition.filter, at: .condition)
    try queue.run()
    return db.changes > 0
  }

  /// Runs a statement whose only parameter is an id; tells whether it changed a row.
  static func run(
    _ sql: SQL, _ id: String, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let statement = try db.statement(sql)
    try statement.bind(id, at: .id)
    try statement.run()
    return db.changes > 0
  }

  /// The row numbers of what is selected. Throws `.corrupt` if it cannot be told whether a damaged entity
  /// matches.
  func numbers(
    of query: Query, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [Int64] {
    try rows(of: query, table, on: db, keptBytes: 0).map(\.number)
  }

  /// The rows of what is selected, the first ones with their bodies: up to `keptBytes` in all. Throws like `numbers`.
  private func rows(
    of query: Query, _ table: Table, writtenSince: Timestamp? = nil, on db: borrowing Connection,
    keptBytes: Int = 64 << 10
  ) throws(SQLiteError) -> [(number: Int64, body: [UInt8]?)] {
    let plan = try indexes.plan(query, table, writtenSince: writtenSince, on: db)
    let statement = try db.statement(plan.bodies)
    var rows: [(number: Int64, body: [UInt8]?)] = []
    var left = keptBytes
    while try statement.step() {
      let body = try table.body(of: statement)
      left -= body.count
      rows.append(
        (statement.int64(2), left < 0 ? nil : try [UInt8](body, or: SQLiteError.noMemory)))
    }
    return rows
  }

  /// `find`: the table's `bodyOfRow`.
  private static func body(
    of row: Int64, _ table: Table, _ find: borrowing Statement
  ) throws(SQLiteError) -> [UInt8] {
    defer { find.reset() }
    try find.bind(row, at: .row)
    return try find.step() ? [UInt8](table.body(of: find), or: SQLiteError.noMemory) : []
  }

  /// The ids of what is selected. Throws like `numbers`.
  func ids(
    of query: Query, _ table: Table, writtenSince: Timestamp? = nil, on db: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    let plan = try indexes.plan(query, table, writtenSince: writtenSince, on: db)
    let statement = try db.statement(plan.selection.page(Table.body))
    var ids: [String] = []
    while try statement.step() {
      _ = try table.body(of: statement)
      ids.append(statement.text(2) ?? "")
    }
    return ids
  }
}
