internal import KVSync

/// A write that the backend has not confirmed: an element of `DataStore.pending`. At most one for each entity.
///
///     for try await write in people.pending where write.state == .refused {
///       print(write.id, write.operation, write.error?.message ?? "")
///     }
public struct PendingWrite: Sendable, Equatable {
  /// What it does on the backend.
  public enum Operation: String, Sendable { case create, update, delete }

  /// Whether the next push sends it.
  public enum State: String, Sendable {
    case waiting
    /// Set aside: the backend refused it, and would do so again.
    case refused
    /// Set aside: the backend has another version than the one that it changes.
    case conflict
  }

  /// Of the entity.
  public let id: String
  public let operation: Operation
  public let state: State
  /// When the entity was first changed since the backend last confirmed it, and when last.
  public let createdAt: Timestamp
  public let changedAt: Timestamp
  /// How often it was sent.
  public let attempts: Int
  /// What came of the last attempt; nil: nothing bad.
  public let error: KVStoreError?

  init(_ write: KVSync.PendingWrite) {
    id = write.id
    operation =
      switch write.operation {
      case .create: .create
      case .update: .update
      case .delete: .delete
      }
    state =
      switch write.state {
      case .waiting: .waiting
      case .refused: .refused
      case .conflict: .conflict
      }
    createdAt = Timestamp(write.createdAt)
    changedAt = Timestamp(write.changedAt)
    attempts = write.attempts
    error = write.error.map(KVStoreError.init)
  }
}

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
