internal import KVSync

/// A pending write with the versions of its entity: see `PendingWrites.detail`.
///
///     if let detail = try await people.pending.detail(of: "ann"), let theirs = detail.theirs {
///       print("here:", detail.entity?.age ?? 0, "there:", theirs.age)
///     }
public struct PendingDetail<Entity: Codable & Sendable>: Sendable {
  public let write: PendingWrite
  /// What it would send; nil for a deletion.
  public let entity: Entity?
  /// The backend's version that it changes; nil: there was none, or it is unknown.
  public let base: Entity?
  /// What the backend has now, as far as a refusal or a read has shown.
  public let theirs: Entity?
  /// Whether the backend is known to have it no more.
  public let isGone: Bool

  init(_ detail: KVSync.PendingDetail) throws(KVStoreError) {
    write = PendingWrite(detail.write)
    entity = try JSONDecoding.decode(Entity.self, ifAny: detail.entity)
    base = try JSONDecoding.decode(Entity.self, ifAny: detail.base)
    theirs = try JSONDecoding.decode(Entity.self, ifAny: detail.theirs?.bytes)
    isGone = detail.theirs == .gone
  }
}
