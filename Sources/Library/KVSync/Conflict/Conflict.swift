/// An entity that was changed on both sides, as an application's function sees it.
package struct Conflict: Sendable, Equatable {
  package var id: String
  /// What both started from; nil: there was none, or it is unknown.
  package var base: [UInt8]?
  /// The local version; nil: deleted here.
  package var local: [UInt8]?
  /// The backend's version; nil: not there.
  package var remote: [UInt8]?
}

/// The decision of the application's conflict handler.
package enum ConflictAnswer: Sendable, Equatable {
  /// Leaves the conflict open.
  case leave
  /// The local version wins: it is sent once more.
  case keep
  /// The backend's version wins: it replaces the local one.
  case take
  /// This entity replaces both versions.
  case merged([UInt8])
  /// The entity is deleted, here and there.
  case delete
}
