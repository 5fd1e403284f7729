internal import KVBase
package import KVJSON
package import KVQuery

/// What only the local store has.
extension CollectionEngine {
  /// The local version of an entity. `.notFound` if it is not there.
  package func version(of id: String) throws(StoreError) -> Int64 {
    try Self.checked(id)
    let local = try localStore(for: "report versions")
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

  /// `.notFound` if no index has this name.
  package func dropIndex(_ name: String) throws(StoreError) {
    guard try localStore(for: "have indexes").dropIndex(name, in: collection) else {
      throw StoreError(.notFound, "There is no index with this name.")
    }
  }

  package func indexes() throws(StoreError) -> [StoredIndex] {
    try localStore(for: "have indexes").indexes(in: collection)
  }

  package func explain(_ query: Query) throws(StoreError) -> Explanation {
    try localStore(for: "explain a query").explain(query, in: collection)
  }
}

/// The pending writes of the collection.
extension CollectionEngine {
  /// How many pending writes the collection has; 0 for a network store.
  package func pendingCount() throws(StoreError) -> Int {
    try local?.pendingCount(in: collection) ?? 0
  }

  /// Pending writes, oldest first, after the one of `id`; `limit` 0: all.
  package func pending(after id: String?, limit: Int) throws(StoreError) -> [PendingWrite] {
    try pending(
      afterOrder: try id.map { (id) throws(StoreError) in try pending(id).write.order } ?? 0,
      limit: limit == 0 ? .max : limit)
  }

  /// The same after a position in the queue, whether the write that had it is there or not.
  package func pending(afterOrder order: Int64, limit: Int) throws(StoreError) -> [PendingWrite] {
    try localStore(for: "list pending writes")
      .pending(in: collection, after: order, limit: limit, onlyWaiting: false)
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
    try Pusher(self, call).sendOne(id)
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

  /// Replaces what a pending create or update would send, except members that are not `known`; attempts and error
  /// start anew.
  package func editPending(
    _ id: String, _ bytes: UnsafeRawBufferPointer, outline: EntityOutline,
    known: KnownMembers? = nil
  ) throws(StoreError) {
    let local = try localStore(for: "edit a pending write")
    guard outline.id?.hasSameBytes(as: id) ?? true else {
      throw StoreError(.invalid, "The entity has another id than the pending write.")
    }
    // What was to be sent is not read: an edit is the way out when that is damaged.
    guard try local.editPending(bytes, outline, id: id, known: known, in: collection) else {
      _ = try pending(id)
      throw StoreError(.invalid, "A pending deletion cannot be edited.")
    }
  }

  private func notPending(_ id: String) -> StoreError {
    var error = StoreError(.notFound, "There is no pending write with this id.")
    error.id = id
    return error
  }
}
