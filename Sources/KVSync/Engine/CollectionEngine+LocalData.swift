package import KVQuery

/// What only the local store has.
extension CollectionEngine {
  /// The local version of an entity. `.notFound` if it is not there.
  package func version(of id: String) throws(StoreError) -> Int64 {
    try Self.checked(id)
    let local = try localStore(for: "tell versions")
    guard let version = try local.version(of: id, in: collection) else { throw notFound(id) }
    return version
  }

  /// Follows what a query gives of the local data. `signal`: there may be something to tell.
  package func observe(
    _ query: Query, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any Observation {
    try localStore(for: "be observed").observe(query, in: collection, signal)
  }

  // MARK: Indexes, of the local store only

  package func createIndex(_ spec: IndexSpec) throws(StoreError) {
    try localStore(for: "have indexes").createIndex(spec, in: collection)
  }

  /// `.notFound` if there is none of this name.
  package func dropIndex(_ name: String) throws(StoreError) {
    guard try localStore(for: "have indexes").dropIndex(name, in: collection) else {
      throw StoreError(.notFound, "There is no index of this name.")
    }
  }

  package func indexes() throws(StoreError) -> [StoredIndex] {
    try localStore(for: "have indexes").indexes(in: collection)
  }

  package func explain(_ query: Query) throws(StoreError) -> Explanation {
    try localStore(for: "explain a query").explain(query, in: collection)
  }
}
