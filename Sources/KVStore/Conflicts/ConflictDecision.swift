internal import KVJSON
internal import KVSync

/// What a conflict handler says: see `DataStore.setConflictHandler`.
///
///     try people.setConflictHandler { conflict in
///       conflict.theirs == nil ? .keepOurs : .takeTheirs
///     }
public enum ConflictDecision<Entity: Codable & Sendable>: Sendable {
  /// The conflict stays open and the write is quarantined: see `DataStore.pending`.
  case leaveOpen
  /// Ours replaces theirs.
  case keepOurs
  /// Theirs replaces ours.
  case takeTheirs
  /// This is the entity from now on, here and there. Its id is that of the conflict, or none.
  case merged(Entity)
  /// The entity is deleted, here and there.
  case delete

  /// As the library takes it.
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
