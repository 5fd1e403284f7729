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
