package import KVQuery

extension CollectionEngine {
  /// Whether a pull reads page by page, and of which size.
  package enum Paging: Sendable, Equatable {
    case off
    /// `ranges`: into how many parts the ids are divided, which are read at the same time.
    case pages(of: Int, ranges: Int = 1)
  }

  // MARK: Pull and sync

  /// Fetches what matches into the local store. `.pending` if the collection has writes that wait to be
  /// sent. Those that were set aside hold up nothing: their entities are left as they are here, and what
  /// the backend has of them is noted.
  package func pull(_ query: Query, _ call: Call, how: Refreshing = Refreshing())
    throws(StoreError) -> PullResult
  {
    let local = try localStore(for: "pull")
    let remote = try backend(for: "pull")
    let waiting = try local.waitingCount(in: collection)
    guard waiting == 0 else {
      throw StoreError(
        .pending, "\(waiting) pending writes must be pushed or purged before a pull.")
    }
    let refreshed = try refresh(query, how, local: local, remote: remote, call: call)
    return PullResult(pulled: refreshed.pulled, removed: refreshed.removed)
  }

  /// Pushes, then pulls what matches. What the backend has refused for good holds up nothing; no pull if a write that
  /// was not sent waits for the next push.
  package func sync(_ query: Query, _ call: Call, how: Refreshing = Refreshing())
    throws(StoreError) -> SyncResult
  {
    let pushed = try push(call)
    if !pushed.errors.isEmpty, try localStore(for: "sync").waitingCount(in: collection) > 0 {
      return SyncResult(push: pushed, pull: nil)
    }
    return SyncResult(push: pushed, pull: try pull(query, call, how: how))
  }

  // MARK: The queue

  /// How many pending writes the collection has; 0 for a network store.
  package func pendingCount() throws(StoreError) -> Int {
    try local?.pendingCount(in: collection) ?? 0
  }

  /// Pending writes, oldest first, behind the one of `id`; `most` 0: all.
  package func pending(after id: String?, limit: Int) throws(StoreError) -> [PendingWrite] {
    let local = try localStore(for: "list pending writes")
    var order: Int64 = 0
    if let id {
      guard let found = try local.pending(id, in: collection) else { throw notPending(id) }
      order = found.write.order
    }
    return try local.pending(
      in: collection, after: order, limit: limit == 0 ? .max : limit, onlyWaiting: false)
  }

  /// One pending write, what it would send, and what is known of the backend's version.
  package func pending(_ id: String) throws(StoreError) -> PendingDetail {
    let local = try localStore(for: "list pending writes")
    guard let found = try local.pending(id, in: collection) else { throw notPending(id) }
    return found
  }

  /// Sends one pending write now, also one that was set aside: after a conflict over the version that it
  /// met.
  package func retryPending(_ id: String, _ call: Call) throws(StoreError) {
    let local = try localStore(for: "send a pending write")
    _ = try pending(id)
    _ = try backend(for: "send a pending write")
    _ = try writer()
    guard try local.releasePending(id, in: collection) else { throw notPending(id) }
    try sendOne(id, call)
  }

  /// Forgets one pending write and makes the local entity what the backend has: the version that the write
  /// met, else the one that it started from. Without either the entity leaves the local store, until the
  /// next read brings it.
  package func revertPending(_ id: String) throws(StoreError) {
    let local = try localStore(for: "revert a pending write")
    guard try local.revertPending(id, in: collection) else { throw notPending(id) }
  }

  /// Forgets one pending write; the local entity stays.
  ///
  /// What is here is then not what the backend has: the next read that wants to be up to date fetches it.
  package func dropPending(_ id: String) throws(StoreError) {
    let local = try localStore(for: "drop a pending write")
    guard try local.dropPending(id, in: collection) else { throw notPending(id) }
  }

  /// Forgets the pending writes whose entities match (nil: all); the local entities stay.
  package func purge(_ query: Query?) throws(StoreError) -> Int {
    try localStore(for: "purge").purge(query, in: collection)
  }

  /// Deletes what matches (nil: everything) from the local store only, pending writes included.
  package func clear(_ query: Query?) throws(StoreError) -> Int {
    try localStore(for: "clear").clear(query, in: collection)
  }

  private func notPending(_ id: String) -> StoreError {
    var error = StoreError(.notFound, "There is no pending write for this id.")
    error.id = id
    return error
  }
}
