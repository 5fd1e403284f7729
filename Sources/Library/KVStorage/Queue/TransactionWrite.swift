internal import KVQuery
internal import KVSQLite
internal import KVSync

/// One change that a transaction will make.
struct TransactionWrite: Sendable {
  let collection: String
  let id: String
  /// The text of the entity; nil: it is deleted.
  let body: [UInt8]?
  let operation: PendingWrite.Operation
  /// It holds here; what the backend has is asked for it too.
  let condition: WriteCondition
  /// What has made the entity of what it was; nil: it is written whole.
  var update: EntityUpdate?
}

/// One entity that a transaction has found.
enum TransactionRecord: Sendable {
  /// A row of the snapshot.
  case row(Int64)
  /// What the transaction itself has written.
  case own([UInt8])

  /// The row of the snapshot; nil for what the transaction has written.
  var row: Int64? { if case .row(let number) = self { number } else { nil } }
}

/// A row that a query has found.
struct FoundRow: Sendable, Hashable {
  let number: Int64
  let version: Int64
}

/// An entity as the snapshot has it.
struct StoredRecord {
  let number: Int64
  let version: Int64
  /// The text of the entity; nil: it is damaged.
  let body: [UInt8]?

  /// Nil if there is none.
  init?(_ id: String, _ table: Table, on db: borrowing Connection) throws(SQLiteError) {
    let statement = try db.statement(table.record)
    try statement.bind(id, at: .id)
    guard try statement.step() else { return nil }
    (number, version) = (statement.int64(0), statement.int64(1))
    body = statement.isIntact(2) ? try statement.copy(2) : nil
  }
}
