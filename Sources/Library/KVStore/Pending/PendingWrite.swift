internal import KVSync

/// A write that the backend has not confirmed: an element of `DataStore.pending`. There is at most one for each entity.
///
///     for try await write in people.pending where write.state == .refused {
///       print(write.id, write.operation, write.error?.message ?? "")
///     }
public struct PendingWrite: Sendable, Equatable {
  /// The operation on the backend.
  public enum Operation: String, Sendable {
    /// The entity is new.
    case create
    /// The entity is changed.
    case update
    /// The entity is deleted.
    case delete
  }

  /// Whether the next push sends it.
  public enum State: String, Sendable {
    /// The next push sends the write.
    case waiting
    /// Quarantined: the backend refused the write for good.
    case refused
    /// Quarantined: the backend has another version than the one that the change started from.
    case conflict
    /// Quarantined: the backend had confirmed the change, and has gone back to an older copy of its data.
    case backendWentBack
  }

  /// The id of the entity.
  public let id: String
  /// The operation on the backend.
  public let operation: Operation
  /// Whether the next push sends the write.
  public let state: State
  /// The time of the first local change since the backend last confirmed the entity, and the time of the last change.
  public let createdAt: Timestamp
  /// The time of the last local change.
  public let changedAt: Timestamp
  /// The number of times that the write was sent.
  public let attempts: Int
  /// The error of the last attempt; nil: none.
  public let error: KVStoreError?
  /// The filter that the backend's entity has to match when the write is sent, as JSON; nil: the write was not made on
  /// one.
  public let condition: String?

  init(_ write: KVSync.PendingWrite) {
    id = write.id
    operation =
      switch write.effect {
      case .create: .create
      case .update: .update
      case .delete: .delete
      }
    state =
      switch write.state {
      case .waiting: .waiting
      case .refused: .refused
      case .conflict: .conflict
      case .backendWentBack: .backendWentBack
      }
    createdAt = Timestamp(write.createdAt)
    changedAt = Timestamp(write.changedAt)
    attempts = write.attempts
    error = write.error.map(KVStoreError.init)
    condition = write.condition
  }
}
