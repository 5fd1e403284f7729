package import KVQuery

extension CollectionEngine {
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
