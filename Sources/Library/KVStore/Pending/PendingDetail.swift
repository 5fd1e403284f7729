internal import KVSync

/// A pending write with the versions of its entity: see `PendingWrites.detail`.
///
///     if let detail = try await people.pending.detail(of: "ann"), let theirs = detail.theirs {
///       print("here:", detail.entity?.age ?? 0, "there:", theirs.age)
///     }
public struct PendingDetail<Entity: Codable & Sendable>: Sendable {
  /// The pending write.
  public let write: PendingWrite
  /// The entity that the write would send; nil for a deletion.
  public let entity: Entity?
  /// The backend's version that the change started from; nil: there was none, or it is unknown.
  public let base: Entity?
  /// The backend's current version, as far as a refusal or a read has shown it.
  public let theirs: Entity?
  /// Whether the entity is known to be deleted on the backend.
  public let isGone: Bool

  init(_ detail: KVSync.PendingDetail) throws(KVStoreError) {
    write = PendingWrite(detail.write)
    entity = try JSONDecoding.decode(Entity.self, ifAny: detail.entity)
    base = try JSONDecoding.decode(Entity.self, ifAny: detail.base)
    theirs = try JSONDecoding.decode(Entity.self, ifAny: detail.theirs?.bytes)
    isGone = detail.theirs == .gone
  }
}
