internal import KVBase
package import KVQuery

extension CollectionEngine {
  /// How many writes wait to be sent; those that were set aside do not.
  package func waitingCount() throws(StoreError) -> Int {
    try localStore(for: "push").waitingCount(in: collection)
  }

  /// Whether both are of the same collection in the same file.
  package func sharesData(with other: CollectionEngine) -> Bool {
    local != nil && local === other.local && collection.hasSameBytes(as: other.collection)
  }

  /// Throws unless a query can be followed: `.invalid` for a page, `.unsupported` where nothing is kept or there is no
  /// backend.
  package func checkFollowing(_ query: Query) throws(StoreError) {
    _ = try localStore(for: "follow")
    _ = try backend(for: "follow")
    guard !query.isPaged else {
      throw StoreError(
        .invalid, "A query that is followed has no skip and no limit: follow all that matches.")
    }
  }
}
