internal import KVSync

/// An entity that was changed or deleted on this device, while the backend has another version than the one that the
/// change started from. A conflict handler decides it: see `DataStore.setConflictHandler`.
///
///     func merge(_ conflict: Conflict<Person>) -> ConflictDecision<Person> {
///       guard var merged = conflict.theirs, let ours = conflict.ours else { return .leaveOpen }
///       if ours.name != conflict.base?.name { merged.name = ours.name }
///       return .merged(merged)
///     }
public struct Conflict<Entity: Codable & Sendable>: Sendable {
  /// The id of the entity.
  public let id: String
  /// The version that both changes started from; nil: there was none, or it is unknown.
  public let base: Entity?
  /// The entity that a push would send; nil: it was deleted on this device.
  public let ours: Entity?
  /// The entity on the backend; nil: it was deleted there.
  public let theirs: Entity?

  /// Throws if one of the versions does not fit the type.
  init(_ conflict: KVSync.Conflict) throws(KVStoreError) {
    id = conflict.id
    base = try JSONDecoding.decode(Entity.self, ifAny: conflict.base)
    ours = try JSONDecoding.decode(Entity.self, ifAny: conflict.local)
    theirs = try JSONDecoding.decode(Entity.self, ifAny: conflict.remote)
  }
}
