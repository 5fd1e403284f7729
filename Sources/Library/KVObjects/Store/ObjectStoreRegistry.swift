package import KVSync

/// Makes a store for the contexts of a client. Throws why the store cannot be loaded from there.
package typealias ObjectStoreFactory =
  @Sendable (StoreLocation) throws(StoreError) -> any ObjectStore

/// The types of stores of this process that contexts are opened with by name.
package enum ObjectStoreRegistry {
  /// The type of the local data, which no other can have.
  package static let local = "local"

  package static let shared = FactoryRegistry<ObjectStoreFactory>(
    of: "type of stores", reserving: local)
}
