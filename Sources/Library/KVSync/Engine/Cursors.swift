internal import KVBase
internal import KVJSON
internal import KVQuery

/// A cursor without entities.
final class EmptyCursor: EntityCursor {
  func block() -> RowBuffer? { nil }
  func close() {}
}

/// An answer that is held in memory.
struct RecordBuffer {
  private(set) var bytes: [UInt8] = []
  /// Where its records are.
  private(set) var records: [Range<Int>] = []

  /// Throws `.storage` if there is no memory for it.
  mutating func add(_ batch: RecordBatch) throws(StoreError) {
    guard let first = batch.outlines.first, let last = batch.outlines.last else { return }
    let shift = bytes.count - first.range.lowerBound
    let byteCount = last.range.upperBound - first.range.lowerBound
    try bytes.makeRoom(for: byteCount, or: StoreError.noMemory)
    try records.makeRoom(for: batch.count, or: StoreError.noMemory)
    bytes.append(contentsOf: batch.bytes[first.range.lowerBound..<last.range.upperBound])
    records += batch.outlines.map {
      ($0.range.lowerBound + shift)..<($0.range.upperBound + shift)
    }
  }
}

/// The entities of an answer that is held in memory, in its order.
///
/// `@unchecked Sendable`: one thread at a time, as `EntityCursor` demands.
final class RecordBufferCursor: EntityCursor, @unchecked Sendable {
  private var answer: RecordBuffer
  private var next = 0
  private let lent = RowBuffer()

  init(_ answer: RecordBuffer) { self.answer = answer }

  func block() throws(StoreError) -> RowBuffer? {
    if lent.hasNext { return lent }
    guard next < answer.records.count else { return nil }
    lent.clear()
    try answer.bytes.withBorrowedBytes { (bytes) throws(StoreError) in
      try lent.add(UnsafeRawBufferPointer(rebasing: bytes[answer.records[next]]))
    }
    next += 1
    return lent
  }

  func close() { answer = RecordBuffer() }
}

/// The entities of some ids, in their order, as the local store has them when they are reached. Those
/// that were deleted meanwhile are left out.
///
/// `@unchecked Sendable`: one thread at a time, as `EntityCursor` demands.
final class IdCursor: EntityCursor, @unchecked Sendable {
  private var ids: ArraySlice<String>
  private let local: any EntityReader
  private let collection: String
  private let projection: Projection?
  private let lent = RowBuffer()

  init(_ ids: [String], _ local: any EntityReader, collection: String, projection: Projection?) {
    self.ids = ids[...]
    self.local = local
    self.collection = collection
    self.projection = projection
  }

  func block() throws(StoreError) -> RowBuffer? {
    if lent.hasNext { return lent }
    while let id = ids.popFirst() {
      guard let entity = try local.entity(id, in: collection, writtenSince: nil) else { continue }
      lent.clear()
      try lent.add(projection?.apply(to: entity) ?? entity)
      return lent
    }
    return nil
  }

  func close() { ids = [] }
}
