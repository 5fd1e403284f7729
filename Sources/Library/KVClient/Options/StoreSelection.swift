internal import KVBase
internal import KVJSON
internal import KVObjects
internal import KVSync

/// The custom store that a client was opened with. It is kept from then on, even if its name is unregistered.
struct CustomStoreOptions {
  let name: String
  let objects: ObjectStoreFactory

  /// Nil: no store has this name, but perhaps a backend.
  init?(_ name: String) {
    guard let objects = ObjectStoreRegistry.shared.factory(name) else { return nil }
    self.name = name
    self.objects = objects
  }
}

/// Which store a client is opened with by name: the options `backend`, `store` and `storeOptions`.
struct StoreSelection {
  /// The name of what was registered; nil: none was named.
  let name: String?
  /// Whether the local database was named.
  let isLocal: Bool
  /// What only a custom store understands.
  let options: JSONObject

  init(_ reader: inout OptionReader) throws(StoreError) {
    let backend = try reader.string("backend")
    let store = try reader.string("store")
    guard let store else {
      (name, isLocal, options) = (backend, false, [:])
      return
    }
    guard backend == nil else {
      throw StoreError(.invalid, "The options \"backend\" and \"store\" exclude each other.")
    }
    options = try reader.members("storeOptions") ?? [:]
    isLocal = store.hasSameBytes(as: ObjectStoreRegistry.local)
    name = isLocal ? nil : store
    if isLocal, case .some(.some) = try reader.stringOrNull("host") {
      throw StoreError(.invalid, "The store \"local\" has no host.")
    }
  }
}
