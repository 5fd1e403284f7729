internal import KVSync

/// An entity that was changed or deleted here, while the backend has another version of it than the one that was changed:
/// what a conflict handler decides about, see `DataStore.setConflictHandler`.
///
///     func merge(_ conflict: Conflict<Person>) -> ConflictDecision<Person> {
///       guard var merged = conflict.theirs, let ours = conflict.ours else { return .leaveOpen }
///       if ours.name != conflict.base?.name { merged.name = ours.name }
///       return .merged(merged)
///     }
public struct Conflict<Entity: Codable & Sendable>: Sendable {
  public let id: String
  /// What both started from; nil: there was nothing, or it is unknown.
  public let base: Entity?
  /// What would be sent; nil: it was deleted here.
  public let ours: Entity?
  /// What the backend has; nil: it was deleted there.
  public let theirs: Entity?

  /// Throws if one of the versions does not fit the type.
  init(_ conflict: KVSync.Conflict) throws(KVStoreError) {
    id = conflict.id
    base = try JSONDecoding.decode(Entity.self, ifAny: conflict.base)
    ours = try JSONDecoding.decode(Entity.self, ifAny: conflict.local)
    theirs = try JSONDecoding.decode(Entity.self, ifAny: conflict.remote)
  }
}
