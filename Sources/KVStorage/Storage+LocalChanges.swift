internal import KVBase
package import KVJSON
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func save(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in collection: String
  ) throws(StoreError) -> [SavedEntity] {
    let entities = outlines.map { outline in
      guard let id = outline.id else {
        let id = Identifier.entity()
        return SavedEntity(id: id, bytes: EntityEditing.inserting(id: id, into: bytes, outline))
      }
      return SavedEntity(id: id, bytes: [UInt8](bytes[outline.range]))
    }
    try write(to: collection) { (db, change) throws(SQLiteError) in
      for (entity, outline) in zip(entities, outlines) {
        try Self.save(entity, outline.id == nil ? .create : .update, change, db)
      }
    }
    return entities
  }

  package func remove(_ id: String, in collection: String) throws(StoreError) -> Int {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      try Self.remove(id, change, db) ? 1 : 0
    }
  }

  package func remove(_ query: Query, in collection: String) throws(StoreError) -> Int {
    let selection = Selection(query)
    return try write(to: collection) { (db, change) throws(SQLiteError) in
      // Found first, then removed: a statement should not read the table that it changes.
      let numbers = try Self.numbers(selection, change.table, db)
      let find = try db.prepare("SELECT id FROM \(change.table.entities) WHERE n = ?1")
      for number in numbers {
        try find.bind(number, at: 1)
        let id = try find.step() ? find.text(0) : nil
        find.reset()
        if let id { _ = try Self.remove(id, change, db) }
      }
      return numbers.count
    }
  }

  // MARK: Steps

  private static func save(
    _ entity: SavedEntity, _ operation: PendingWrite.Operation, _ change: Change,
    _ db: borrowing Connection
  ) throws(SQLiteError) {
    if try put(entity.bytes, as: entity.id, change, db, change.table.insert) {
      return try queue(entity.id, operation, change, db, change.table.queue)
    }
    // It was there: the version that this change starts from is kept, if it is the first change.
    try queue(entity.id, operation, change, db, change.table.queueWithBase)
    _ = try put(entity.bytes, as: entity.id, change, db, change.table.update)
  }

  /// Writes one row with a statement that takes id, generation, time and body; false: it wrote none.
  static func put(
    _ body: [UInt8], as id: String, _ change: Change, _ db: borrowing Connection, _ sql: SQL
  ) throws(SQLiteError) -> Bool {
    try body.withBorrowedBytes { (bytes) throws(SQLiteError) in
      let statement = try db.statement(sql)
      try statement.bind(id, at: 1)
      try statement.bind(change.generation, at: 2)
      try statement.bind(change.now, at: 3)
      try statement.bind(borrowedText: bytes, at: 4)
      try statement.run()
      return db.changes > 0
    }
  }

  private static func queue(
    _ id: String, _ operation: PendingWrite.Operation, _ change: Change,
    _ db: borrowing Connection, _ sql: SQL
  ) throws(SQLiteError) {
    let statement = try db.statement(sql)
    try statement.bind(id, at: 1)
    try statement.bind(operation.number, at: 2)
    try statement.bind(Identifier.revision(), at: 3)
    try statement.bind(change.now, at: 4)
    try statement.run()
  }

  /// Deletes an entity and queues that; false if it was not there.
  private static func remove(
    _ id: String, _ change: Change, _ db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let isUnsent = try run(change.table.dropUnsentCreate, id, db)
    if !isUnsent {
      let queue = try db.statement(change.table.queueDeletion)
      try queue.bind(id, at: 1)
      try queue.bind(Identifier.revision(), at: 2)
      try queue.bind(change.now, at: 3)
      try queue.run()
      guard db.changes > 0 else { return false }
    }
    return try run(change.table.delete, id, db)
  }

  /// Runs a statement whose only parameter is an id; tells whether it changed a row.
  static func run(
    _ sql: SQL, _ id: String, _ db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let statement = try db.statement(sql)
    try statement.bind(id, at: 1)
    try statement.run()
    return db.changes > 0
  }

  /// The row numbers of what is selected.
  static func numbers(
    _ selection: Selection, _ table: Table, _ db: borrowing Connection
  ) throws(SQLiteError) -> [Int64] {
    let statement = try db.prepare("SELECT n FROM \(table.entities) WHERE \(selection.page)")
    try selection.bindPage(to: statement)
    var numbers: [Int64] = []
    while try statement.step() { numbers.append(statement.int64(0)) }
    return numbers
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` with the error type kept.
  func withBorrowedBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let result = withUnsafeBytes { bytes -> Result<R, E> in
      do throws(E) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
