internal import KVClient
internal import KVSync

extension DataStore {
  /// Sets the closure that decides the conflicts of this store's pushes, unless the option `conflicts` says otherwise.
  /// Nil removes it.
  ///
  ///     try people.setConflictHandler { conflict in
  ///       guard let ours = conflict.ours, let theirs = conflict.theirs else { return .leaveOpen }
  ///       return .merged(ours.age > theirs.age ? ours : theirs)
  ///     }
  ///     try await people.push()
  ///
  /// The closure may await anything, even a call of the same client: the push waits for it on a thread of the library
  /// and holds no locks meanwhile. If the push is cancelled or its `timeout` passes, the task of the closure is
  /// cancelled. Conflicts are decided one after the other. If one of its versions does not fit the type, a conflict is
  /// left open, and the closure is not called.
  ///
  /// The closure is kept until another one is set, the store is no longer used, or the client is closed. An automatic
  /// push of the client (`pushesAutomatically`) calls it as well. Throws `.unsupported` for a store of the type
  /// `.network`.
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
