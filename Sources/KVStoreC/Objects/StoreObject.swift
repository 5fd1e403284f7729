internal import KVStore
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
}
