internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// Writes entities and queues their writes, inside one transaction.
///
/// A new entity costs two inserts and nothing is read: that it is new shows when its insert is not refused.
struct EntitySaver: ~Copyable {
  let change: Storage.Change
  private let insert: Statement
  private let queue: Statement
  private let condition: WriteCondition

  /// `condition`: it holds for all that is saved.
  init(
    _ change: Storage.Change, if condition: WriteCondition = .none, on db: borrowing Connection
  ) throws(SQLiteError) {
    let insert = try db.statement(change.table.insert)
    let queue = try db.statement(change.table.queue)
    try change.bindConstants(to: insert)
    try queue.bind(change.now, at: .time)
    self.change = change
    self.insert = insert
    self.queue = queue
    self.condition = condition
  }

  /// `update`: what has made the entity of what is here; nil: it is a new one, or a whole one.
  func save(
    _ entity: SavedEntity, _ operation: PendingWrite.Operation, by update: EntityUpdate? = nil,
    on db: borrowing Connection
  ) throws(SQLiteError) {
    // The id of a create is new: there is nothing that it could overwrite.
    let queued = try QueuedCondition(
      operation == .create ? .none : condition, of: entity.id, change.table, on: db)
    let operators = try update.flatMap { (update) throws(SQLiteError) -> String? in
      guard queued.mark == 0 else { return nil }
      return try QueuedOperators.adding(update, of: entity.id, change.table, on: db)
    }
    try withBytes(of: entity) { (id, body) throws(SQLiteError) in
      if update == nil, try insert(id, body, operation: operation, if: queued, on: db) { return }
      try replace(id, body, operation: operation, if: queued, operators: operators, on: db)
    }
  }

  /// Writes a new entity; false, and nothing is written, if there is one with its id.
  func insert(
    _ entity: SavedEntity, _ operation: PendingWrite.Operation, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try withBytes(of: entity) { (id, body) throws(SQLiteError) in
      try insert(id, body, operation: operation, if: .none, on: db)
    }
  }

  /// Writes an entity that exists.
  func replace(_ entity: SavedEntity, on db: borrowing Connection) throws(SQLiteError) {
    try withBytes(of: entity) { (id, body) throws(SQLiteError) in
      try replace(id, body, operation: .update, if: .none, on: db)
    }
  }

  private func withBytes<R>(
    of entity: SavedEntity,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    try entity.id.withBorrowedBytes { (id) throws(SQLiteError) in
      try entity.bytes.withBorrowedBytes { (bytes) throws(SQLiteError) in try body(id, bytes) }
    }
  }

  private func insert(
    _ id: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer,
    operation: PendingWrite.Operation, if condition: QueuedCondition, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try insert.bind(borrowedText: id, at: .id)
    try insert.bind(borrowedText: body, at: .body)
    try change.insert(with: insert, on: db)
    guard db.changes > 0 else { return false }
    try enqueue(id, operation, if: condition, statement: queue)
    return true
  }

  /// Replaces an entity that exists: the version that this change starts from is kept, if it is the first change.
  private func replace(
    _ id: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer,
    operation: PendingWrite.Operation, if condition: QueuedCondition, operators: String? = nil,
    on db: borrowing Connection
  ) throws(SQLiteError) {
    let queue = try db.statement(change.table.queueWithBase)
    try queue.bind(change.now, at: .time)
    try queue.bind(operators, at: .operators)
    try enqueue(id, operation, if: condition, statement: queue)
    let update = try db.statement(change.table.update)
    try update.bind(borrowedText: id, at: .id)
    try update.bind(change.generation, at: .generation)
    try update.bind(change.now, at: .time)
    try update.bind(borrowedText: body, at: .body)
    try update.run()
  }

  private func enqueue(
    _ id: UnsafeRawBufferPointer, _ operation: PendingWrite.Operation,
    if condition: QueuedCondition, statement: borrowing Statement
  ) throws(SQLiteError) {
    try statement.bind(borrowedText: id, at: .id)
    try statement.bind(operation.number, at: .operation)
    try statement.bind(Identifier.revision(), at: .revision)
    try statement.bind(condition.mark, at: .isConditional)
    try statement.bind(condition.filter, at: .condition)
    try statement.run()
  }
}
