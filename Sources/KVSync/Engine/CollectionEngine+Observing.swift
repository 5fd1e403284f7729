package import KVQuery

extension CollectionEngine {
  /// Follows what a query gives of the local data. `signal`: there may be something to tell.
  package func observe(
    _ query: Query, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any Observation {
    try localStore(for: "be observed").observe(query, in: collection, signal)
  }
}
