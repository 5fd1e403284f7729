internal import KVClient
internal import KVSync

/// A store as C holds it. Safe from any thread.
final class StoreObject: HandleObject {
  static let kind = HandleKind.store

  let client: ClientObject
  let core: DataStore

  init(_ core: DataStore, client: ClientObject) {
    self.core = core
    self.client = client
  }

  /// Sets the function that decides conflicts; nil removes it. Calls that begin from now on do not ask the former
  /// one.
  func setConflictAsker(_ asker: ConflictAsker?) {
    guard let asker else { return core.setConflictHandler(nil) }
    // The handler is the store's own: it must not keep it alive.
    core.setConflictHandler { [weak core] (conflict, call) throws(StoreError) in
      guard let core else { return .leave }
      return try asker.answer(conflict, call, of: core)
    }
  }
}
