internal import KVBase
internal import KVJSON
internal import KVQuery

/// No entities.
final class EmptyCursor: EntityCursor {
  func block() -> TextBlock? { nil }
  func close() {}
}

/// The entities of an answer that is held in memory, in its order.
///
/// `@unchecked Sendable`: one thread at a time, as `EntityCursor` demands.
final class AnswerCursor: EntityCursor, @unchecked Sendable {
  private var bytes: [UInt8]
  private var outlines: ArraySlice<EntityOutline>
  private let lent = TextBlock()

  init(_ bytes: [UInt8], _ outlines: [EntityOutline]) {
    self.bytes = bytes
    self.outlines = outlines[...]
  }

  func block() throws(StoreError) -> TextBlock? {
    if lent.hasNext { return lent }
    guard let outline = outlines.popFirst() else { return nil }
    lent.clear()
    try bytes.withBorrowedBytes { (bytes) throws(StoreError) in
      try lent.add(UnsafeRawBufferPointer(rebasing: bytes[outline.range]))
    }
    return lent
  }

  func close() { (bytes, outlines) = ([], []) }
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
  private let lent = TextBlock()

  init(_ ids: [String], _ local: any EntityReader, _ collection: String, _ projection: Projection?)
  {
    self.ids = ids[...]
    self.local = local
    self.collection = collection
    self.projection = projection
  }

  func block() throws(StoreError) -> TextBlock? {
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
