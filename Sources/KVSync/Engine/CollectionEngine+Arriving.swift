internal import KVBase
internal import KVJSON

/// Creates that had no answer, whose entities were removed here, and that the backend carries out all the same: behind
/// the deletion, which has found nothing.
extension CollectionEngine {
  /// What a read has brought but for such entities: their deletion is queued once more.
  func withoutLateCreates(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], local: any Tombstones
  ) throws(StoreError) -> [EntityOutline] {
    guard try local.expectsLateCreates(in: collection) else { return outlines }
    var others: [EntityOutline] = []
    for outline in outlines {
      if let id = outline.id, let tombstone = try local.tombstone(of: id, in: collection),
        try remove(Array(bytes[outline.range]), id, ifLateBy: tombstone, local: local)
      {
        continue
      }
      others.append(outline)
    }
    return others
  }

  /// Queues the deletion of an entity if it is what was sent before it was removed here, and nobody has changed it since.
  func remove(
    _ entity: [UInt8], _ id: String, ifLateBy tombstone: Tombstone, local: any Tombstones
  ) throws(StoreError) -> Bool {
    guard !tombstone.sent.isEmpty else { return false }
    let theirs = BackendEntity(entity, format)
    guard theirs.isMade(by: try writer()), tombstone.sent.contains(where: theirs.isSameContent)
    else { return false }
    return try local.removeArrived(entity, id, in: collection)
  }
}
