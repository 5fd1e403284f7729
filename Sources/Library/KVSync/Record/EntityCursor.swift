package import KVBase

/// Entities one after the other. One thread at a time.
package protocol EntityCursor: AnyObject, Sendable {
  /// A block with the next entities, at least one that has not been taken; nil at the end. It is the cursor's
  /// own: the caller takes entities from it, and asks again when it is empty.
  func block() throws(StoreError) -> RowBuffer?
  /// Gives the snapshot back. The cursor is at its end then; the block of the last answer stays as it is.
  func close()
}

extension EntityCursor {
  /// Runs `body` with the next entity's bytes, borrowed until it returns; nil at the end.
  package func next<R>(_ body: (UnsafeRawBufferPointer) -> R) throws(StoreError) -> R? {
    guard let text = try block()?.next() else { return nil }
    return body(UnsafeRawBufferPointer(text))
  }
}

extension RowBuffer {
  /// Copies an entity after the others.
  package func add(_ entity: UnsafeRawBufferPointer) throws(StoreError) {
    guard append(entity) else { throw StoreError.noMemory }
  }

  package func add(_ entity: [UInt8]) throws(StoreError) {
    try entity.withBorrowedBytes { (entity) throws(StoreError) in try add(entity) }
  }
}

extension StoreError {
  package static var noMemory: StoreError { StoreError(.storage, "There is not enough memory.") }
}
