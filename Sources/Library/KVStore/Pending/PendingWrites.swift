internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// The queue of a store: its pending writes, oldest first. See `DataStore.pending`.
///
/// Writes that the backend refuses for good, and conflicts that are left open, are quarantined and wait for a decision:
///
///     for try await write in people.pending where write.state != .waiting {
///       switch write.error?.code {
///       case .forbidden: try await people.pending.revert(id: write.id)
///       case .conflict: try await people.pending.retry(id: write.id)
///       default: print(write.id, write.error?.message ?? "")
///       }
///     }
///
/// The sequence reads the queue in pages, and the queue may change meanwhile. Only retrying uses the network. The calls
/// throw `.notFound` if the entity has no pending write. A store of the type `.network` has no queue: everything except
/// `count` throws `.unsupported`.
public struct PendingWrites<Entity: Codable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = PendingWrite
  public typealias Failure = KVStoreError

  let store: DataStore<Entity>

  public func makeAsyncIterator() -> Iterator { Iterator(store: store) }

  public struct Iterator: AsyncIteratorProtocol {
    private static var pageSize: Int { 100 }

    let store: DataStore<Entity>
    private var page: ArraySlice<KVSync.PendingWrite> = []
    /// The position in the queue of the last write that was returned.
    private var order: Int64 = 0
    private var isOver = false

    init(store: DataStore<Entity>) { self.store = store }

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(KVStoreError) -> PendingWrite? {
      if page.isEmpty, !isOver {
        page = try await Self.page(of: store, after: order)[...]
        isOver = page.count < Self.pageSize
      }
      guard let write = page.popFirst() else { return nil }
      order = write.order
      return PendingWrite(write)
    }

    public mutating func next() async throws(KVStoreError) -> PendingWrite? {
      try await next(isolation: nil)
    }

    private static func page(
      of store: DataStore<Entity>, after order: Int64
    ) async throws(KVStoreError) -> [KVSync.PendingWrite] {
      try await store.performing(isLocal: true) { (core, _) throws(StoreError) in
        try core.engine.pending(afterOrder: order, limit: pageSize)
      }
    }
  }

  /// Returns the number of pending writes, including quarantined ones.
  public func count() async throws(KVStoreError) -> Int {
    try await store.performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.pendingCount()
    }
  }

  /// Returns the pending write of an entity with its versions; nil if there is none.
  public func detail(of id: String) async throws(KVStoreError) -> PendingDetail<Entity>? {
    let detail = try await store.performing(isLocal: true) { (core, _) throws(StoreError) in
      try StoreError.nilIf(.notFound) { () throws(StoreError) in try core.engine.pending(id) }
    }
    return try detail.map { (detail) throws(KVStoreError) in try PendingDetail(detail) }
  }

  // MARK: Deciding

  /// Sends the pending write of one entity now, even if it is quarantined. After a conflict it replaces the backend's
  /// version that the conflict was found with. If the call fails, the write stays pending.
  public func retry(id: String, options: CallOptions = CallOptions()) async throws(KVStoreError) {
    try await store.performing(isLocal: false, options) { (core, run) throws(StoreError) in
      try core.retryPending(id, run)
    }
  }

  /// Pushes all pending writes, including quarantined ones.
  @discardableResult
  public func retryAll(
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> PushResult {
    var options = options
    options.retriesQuarantined = true
    return try await store.push(options: options)
  }

  /// Replaces the entity that a pending write would send, and the local entity. Attempts and error are reset. Throws
  /// `.invalid` for a deletion, and for an entity with another id.
  public func edit(id: String, to entity: Entity) async throws(KVStoreError) {
    let bytes = try DataStore.encoded(entity).bytes
    try await store.performing(isLocal: true) { (core, _) throws(StoreError) in
      try bytes.withBorrowedBytes { (bytes) throws(StoreError) in
        try core.editPending(id, bytes)
      }
    }
  }

  /// Discards the pending write of an entity and restores the local entity to the backend's version, as far as that is
  /// known.
  public func revert(id: String) async throws(KVStoreError) {
    try await store.performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.revertPending(id)
    }
  }

  /// Discards the pending write of an entity. The local entity stays as it is.
  public func drop(id: String) async throws(KVStoreError) {
    try await store.performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.dropPending(id)
    }
  }

  /// Discards the pending writes of the entities that a query selects and returns their number. The local entities
  /// stay.
  @discardableResult
  public func drop(_ query: Query<Entity>) async throws(KVStoreError) -> Int {
    let query = try query.built.get()
    return try await store.performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.purge(query)
    }
  }
}

extension DataStore {
  /// The pending writes of this store.
  ///
  ///     let waiting = try await people.pending.count()
  ///     if waiting > 0 { try await people.push() }
  public var pending: PendingWrites<Entity> { PendingWrites(store: self) }
}
