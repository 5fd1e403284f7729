/// What happens when an entity was changed here, and is another on the backend than the one that was
/// changed.
package enum ConflictStrategy: String, Sendable, CaseIterable {
  /// Ours replaces what is there, as the backend's own clients do. What it replaced is told where the backend keeps
  /// conditions.
  case clientWins
  /// The backend's version replaces the local one.
  case serverWins
  /// Member by member: what one side has changed is taken. Where both have changed the same, or one has
  /// deleted the entity, it is left open.
  case merge
  /// The same, without leaving anything open: lists that both have changed are joined, and what both have changed, or one has
  /// deleted, is as the backend has it. What is discarded is told.
  case automerge
  /// The conflict is left open.
  case optimistic
  /// The application's function decides.
  case handler
}

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

/// Asks the application. Runs with nothing in flight and no lock held, and may throw `.cancelled` or
/// `.timeout` if no answer came.
package typealias ConflictHandler = @Sendable (Conflict, Call) throws(StoreError) -> ConflictAnswer
