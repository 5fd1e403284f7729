internal import KVBase
internal import KVSync

/// The records that a transaction has found; their bodies are read a block at a time.
///
/// `@unchecked Sendable`: one thread at a time, as `EntityCursor` demands.
final class TransactionCursor: EntityCursor, @unchecked Sendable {
  /// How much is read at a time at the most.
  private static let limit = (entities: 128, bytes: 64 << 10)

  private var records: ArraySlice<TransactionRecord>
  private let body: (TransactionRecord) throws(StoreError) -> [UInt8]
  private let lent = RowBuffer()

  init(
    _ records: [TransactionRecord],
    _ body: @escaping (TransactionRecord) throws(StoreError) -> [UInt8]
  ) {
    self.records = records[...]
    self.body = body
  }

  func block() throws(StoreError) -> RowBuffer? {
    if lent.hasNext { return lent }
    lent.clear()
    while lent.count < Self.limit.entities, lent.size < Self.limit.bytes,
      let record = records.popFirst()
    {
      try lent.add(try body(record))
    }
    return lent.hasNext ? lent : nil
  }

  func close() { records = [] }
}
