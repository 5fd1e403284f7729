internal import KVBase
package import KVQuery

extension CollectionEngine {
  /// Whether a pull reads page by page, and of which size.
  package enum Paging: Sendable, Equatable {
    case off
    /// `ranges`: into how many parts the ids are divided, which are read at the same time.
    case pages(of: Int, ranges: Int = 1)
  }

  /// Sets the function that resolves conflicts under the strategy `handler`; nil: they are left open.
  package func setConflictHandler(_ handler: ConflictHandler?) {
    self.handler.withLock { $0.decide = handler }
  }

  package var hasConflictHandler: Bool { handler.withLock { $0.decide != nil } }

  // MARK: Push, pull and sync

  /// Sends all waiting writes of the collection, oldest first, each at most once. With `call.retriesQuarantined` those
  /// that were set aside wait as well.
  ///
  /// What the backend refuses stays with its error and holds up nothing; what it would refuse again is set aside. When
  /// the backend does not answer, or the session has ended, the rest is not tried: that error is thrown, and what was accepted before
  /// is accepted.
  package func push(_ call: Call) throws(StoreError) -> PushResult {
    try Pusher(self, call).push()
  }

  /// Fetches what matches into the local store. `.pending` if the collection has writes that wait to be
  /// sent. Those that were set aside hold up nothing: their entities are left as they are here, and what
  /// the backend has of them is noted.
  package func pull(_ query: Query, _ call: Call, how: Refreshing = Refreshing())
    throws(StoreError) -> PullResult
  {
    let refresher = try refresher(for: "pull", call)
    let waiting = try refresher.local.waitingCount(in: collection)
    guard waiting == 0 else {
      throw StoreError(
        .pending, "\(waiting) pending writes must be pushed or purged before a pull.")
    }
    return try refresher.refresh(query, how).pullResult
  }

  /// Brings what matches up to date, as a pull does, but beside writes that wait: their entities are left as they are
  /// here. Throws `.proto` if something that matches may not have come: what is here may then be less, or more.
  package func catchUp(
    _ query: Query, _ call: Call, how: Refreshing
  ) throws(StoreError) -> PullResult {
    let refreshed = try refresher(for: "follow", call).refresh(query, how)
    guard refreshed.isComplete else {
      throw .badAnswer("The backend may not have sent all entities that match.")
    }
    return refreshed.pullResult
  }

  func refresher(for operation: String, _ call: Call) throws(StoreError) -> Refresher {
    Refresher(
      self, try localStore(for: operation), remote: try backend(for: operation), call: call)
  }

  /// Pushes, then pulls what matches. What the backend has refused for good holds up nothing; no pull if a write that
  /// was not sent waits for the next push. Entities whose writes were queued since the push began are left as they are here.
  package func sync(_ query: Query, _ call: Call, how: Refreshing = Refreshing())
    throws(StoreError) -> SyncResult
  {
    let pushed = try push(call)
    if !pushed.errors.isEmpty, try localStore(for: "sync").waitingCount(in: collection) > 0 {
      return SyncResult(push: pushed, pull: nil)
    }
    let refreshed = try refresher(for: "sync", call).refresh(query, how)
    return SyncResult(push: pushed, pull: refreshed.pullResult)
  }

  // MARK: Follow

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
        .invalid, "A followed query cannot have a skip or a limit.")
    }
  }

  /// Notes which data the backend has, before live messages about them. A failure does not matter: the next read notes it.
  package func note(_ data: BackendData) {
    do throws(StoreError) { try local?.note(data, in: collection) } catch {}
  }

  /// Brings the local store up to what a live message says: see `Arrivals.apply`.
  package func apply(_ change: LiveChange, matching: Matcher? = nil) throws(StoreError) {
    try arrivals.apply(change, matching: matching, in: try localStore(for: "take in live data"))
  }
}
