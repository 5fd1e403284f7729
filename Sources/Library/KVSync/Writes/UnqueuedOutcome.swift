/// What the answer of a request past the queue says of the entities that it was noted with.
package enum UnqueuedOutcome: Sendable {
  /// The backend has what was sent, and nothing that was sent before.
  case accepted
  /// What matched a query was deleted. Which version the backend had, and whether that one matched, is unknown
  /// for an entity of which something else is noted or pending: its note stays until that is settled.
  case removed
  /// The request was not carried out, or its outcome is known: what was sent before counts as it did.
  case refused
}
