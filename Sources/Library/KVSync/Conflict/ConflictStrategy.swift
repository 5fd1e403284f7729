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
