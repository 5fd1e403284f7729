internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

extension KVStoreClient {
  /// Opens a collection whose entities are values of a type.
  ///
  /// Throws `.invalid` for an invalid name, and for a type whose members cannot be found out: see `FieldNaming`.
  public func store<Entity>(
    _ collection: String, of entity: Entity.Type, type: StoreType = .sync,
    options: StoreOptions = StoreOptions()
  ) throws(KVStoreError) -> DataStore<Entity> {
    let object = try options.object(of: entity)
    let store = try KVStoreError.mapping { () throws(StoreError) in
      try core.store(collection, type: type.rawValue, object)
    }
    return DataStore(store, of: collection, client: self)
  }
}
