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

  /// Brings what matches up to date, as a pull does, but beside writes that wait: their entities are left as they are
  /// here.
  package func catchUp(
    _ query: Query, _ call: Call, how: Refreshing
  ) throws(StoreError) -> PullResult {
    let refreshed = try Refresher(
      self, localStore(for: "follow"), remote: backend(for: "follow"), call: call
    ).refresh(query, how)
    return PullResult(pulled: refreshed.pulled, removed: refreshed.removed)
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
