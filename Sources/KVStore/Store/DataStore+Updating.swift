internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Changes all entities that a query selects, where they are stored, all or none.
  @discardableResult
  public func update(
    _ query: Query<Entity>, _ update: Update<Entity>, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> UpdateResult {
    let query = try query.built.get()
    let text = try update.built.get().text
    let result = try await writing(options) { (core, run) throws(StoreError) in
      try core.update(query, try core.parsedUpdate(text), run: run).value
    }
    return UpdateResult(result)
  }
}
