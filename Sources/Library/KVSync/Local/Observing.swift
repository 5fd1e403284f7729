package import KVQuery

/// Notifies when the answer to a query may have changed, whatever changed it. Safe from any thread.
package protocol Observing: AnyObject, Sendable {
  /// Begins to follow a query. `signal` is called, from any thread and with no lock held, whenever the
  /// observation may have something to tell, until it is ended.
  func observe(
    _ query: Query, in collection: String, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any Observation
}
