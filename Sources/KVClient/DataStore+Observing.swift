package import KVQuery
package import KVSync

extension DataStore {
  /// Follows a query over the local data: see `CollectionEngine.observe`.
  package func observe(
    _ query: Query, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any Observation {
    try engine.observe(named(query), signal)
  }
}
