package import KVQuery
package import KVSync

extension DataStore {
  /// `text`: an update, see kv_store_update.
  package func parsedUpdate(_ text: String) throws(StoreError) -> EntityUpdate {
    do throws(QueryError) { return try EntityUpdate(text, engine.format).renamed(by: names) } catch
    {
      throw StoreError(error)
    }
  }

  package func update(
    _ query: Query, _ update: EntityUpdate, run: Run,
    early: (UpdateResult) -> Void = { _ in }
  ) throws(StoreError) -> Answered<UpdateResult> {
    try perform("update", as: .write, run) { (options) throws(StoreError) in
      try engine.update(named(query), update, options: options, early: early)
    }
  }

  /// The local version of an entity. `.notFound` if it is not there.
  package func version(of id: String) throws(StoreError) -> Int64 { try engine.version(of: id) }
}
