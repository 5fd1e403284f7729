package import KVJSON
package import KVSync

/// Makes a store for the contexts of a client. `options`: what the context's option `storeOptions` says. Throws why the store
/// cannot be loaded.
package typealias ObjectStoreFactory =
  @Sendable (_ options: JSONObject) throws(StoreError) -> any ObjectStore

/// The types of stores of this process that contexts are opened with by name.
package enum ObjectStoreRegistry {
  /// The type of the local data, which no other can have.
  package static let local = "local"

  package static let shared = FactoryRegistry<ObjectStoreFactory>(
    of: "type of stores", reserving: local)
}
