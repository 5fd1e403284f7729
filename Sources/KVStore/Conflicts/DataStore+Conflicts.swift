internal import KVClient
internal import KVSync

extension DataStore {
  /// Lets a closure decide the conflicts that pushes of this store meet, unless they say otherwise by the option `conflicts`;
  /// nil takes it away.
  ///
  ///     try people.setConflictHandler { conflict in
  ///       guard let ours = conflict.ours, let theirs = conflict.theirs else { return .leaveOpen }
  ///       return .merged(ours.age > theirs.age ? ours : theirs)
  ///     }
  ///     try await people.push()
  ///
  /// It may await whatever it likes, also a call of the same client: the push that asks waits for it on a thread of the
  /// library, as long as its `timeout` allows, with nothing of its own under way. When the push is cancelled or out of
  /// time, the task of the closure is cancelled. Conflicts are asked about one after the other. One with a version that
  /// does not fit the type is left open without being asked about.
  ///
  /// The closure is kept until another one is set, until nobody has the store any more, or until the client is closed. It
  /// is asked, too, when a client pushes by itself (`pushesAutomatically`) while somebody has the store. Throws
  /// `.unsupported` for a store of the type `.network`.
  public func setConflictHandler(
    _ decide: (@Sendable (Conflict<Entity>) async -> ConflictDecision<Entity>)?
  ) throws(KVStoreError) {
    try KVStoreError.mapping { () throws(StoreError) in try core.checkConflicts() }
    guard let decide else { return core.setConflictHandler(nil) }
    let handler = ConflictAsker(decide)
    core.setConflictHandler { (conflict, call) throws(StoreError) in
      try handler.answer(conflict, call)
    }
    client.remember(handler)
  }
}
