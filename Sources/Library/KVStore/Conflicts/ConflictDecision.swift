internal import KVJSON
internal import KVSync

/// The decision of a conflict handler: see `DataStore.setConflictHandler`.
///
///     try people.setConflictHandler { conflict in
///       conflict.theirs == nil ? .keepOurs : .takeTheirs
///     }
public enum ConflictDecision<Entity: Codable & Sendable>: Sendable {
  /// Leaves the conflict open. The write is quarantined: see `DataStore.pending`.
  case leaveOpen
  /// Keeps the local version, which replaces the backend's.
  case keepOurs
  /// Takes the backend's version, which replaces the local one.
  case takeTheirs
  /// Replaces both versions by this entity. It has the id of the conflict, or none.
  case merged(Entity)
  /// Deletes the entity, locally and on the backend.
  case delete

  /// The decision in the form of the library.
  func answer(about id: String) throws(StoreError) -> ConflictAnswer {
    switch self {
    case .leaveOpen: return .leave
    case .keepOurs: return .keep
    case .takeTheirs: return .take
    case .delete: return .delete
    case .merged(let entity):
      do throws(KVStoreError) { return .merged(try DataStore.encoded(entity).bytes) } catch {
        var refusal = StoreError(.invalid, error.message)
        refusal.id = id
        throw refusal
      }
    }
  }
}
