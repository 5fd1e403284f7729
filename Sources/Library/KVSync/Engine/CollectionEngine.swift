package import KVBase
package import KVJSON
package import KVQuery

/// One collection, seen through one type of store: what each operation means, over a local store and a
/// backend that it knows as protocols only.
///
/// Everything blocks the calling thread until it is done, holds no lock meanwhile, and may be called
/// from any thread. Local changes are durable before anything is sent: whatever happens then, the
/// pending write is in the queue.
package final class CollectionEngine: Sendable {
  package let collection: String
  package let type: StoreType
  /// How the records are laid out.
  package let format: RecordFormat
  /// Nil for a network store.
  let local: (any LocalStore)?
  /// Nil for a store without a backend.
  let remote: LocalFilteringRemote?
  /// The entities that are being sent; shared by all engines of the tag and collection.
  let sendGate: SendGate
  /// The user that writes to the backend: its user id, nil if unknown. Throws `.noUser` if no user is logged in.
  let writer: @Sendable () throws(StoreError) -> String?
  let clock: @Sendable () -> Timestamp
  /// What the backend allows; it does not change, as far as ids are concerned.
  private let limits: RemoteLimits
  /// Gives the engine of another collection of the same data, with the call as that one's store makes it: where the
  /// writes of all collections are sent in one order. Nil: each collection has a queue of its own.
  let peers: Peers?
  let handler = Monitor(Handler())

  package typealias Peers =
    @Sendable (_ collection: String, Call) throws(StoreError) -> (CollectionEngine, Call)

  /// The function that decides conflicts. A structure for the reason that `Progress` has.
  struct Handler {
    var decide: ConflictHandler?
  }

  /// Takes in what the backend sends.
  let arrivals: Arrivals

  package init(
    collection: String, type: StoreType, local: (any LocalStore)?, remote: LocalFilteringRemote?,
    sendGate: SendGate, writer: @escaping @Sendable () throws(StoreError) -> String?,
    validation: Predicate = .everything, format: RecordFormat? = nil, peers: Peers? = nil,
    clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) {
    self.collection = collection
    self.type = type
    self.format = format ?? remote?.format(of: collection) ?? .default
    self.local = type.isLocal ? local : nil
    self.remote = remote
    self.sendGate = sendGate
    self.writer = writer
    self.peers = peers
    self.clock = clock
    limits = remote?.limits ?? RemoteLimits()
    arrivals = Arrivals(
      collection: collection, format: self.format,
      validation: validation == .everything ? nil : Matcher(validation, of: self.format),
      fence: sendGate.fence, writer: writer)
  }

  /// Whether this is where the collection is kept.
  package func isStored(in store: any LocalStore) -> Bool { local === store }

  /// The local data; a network store has none.
  func localStore(for operation: String) throws(StoreError) -> any LocalStore {
    guard let local else {
      throw StoreError(
        .unsupported, "A network store cannot \(operation), because it has no local data.")
    }
    return local
  }

  /// The backend; a store without one is a local database.
  func backend(for operation: String) throws(StoreError) -> LocalFilteringRemote {
    guard let remote else {
      throw StoreError(.unsupported, "Cannot \(operation): this client has no backend.")
    }
    return remote
  }

  /// What a read does. Without a backend everything that may be answered locally is.
  func readPolicy(_ options: CallOptions) -> ReadPolicy {
    switch options.readPolicy {
    case .both, .networkOtherwiseLocal: remote == nil ? .forceLocal : options.readPolicy
    case .forceLocal, .forceNetwork: options.readPolicy
    }
  }

  /// What a write does. Without a backend everything that may stay local does.
  func writePolicy(_ options: CallOptions) -> WritePolicy {
    switch options.writePolicy {
    case .silentLocalThenNetwork, .localThenNetwork:
      remote == nil ? .forceLocal : options.writePolicy
    case .forceLocal, .forceNetwork: options.writePolicy
    }
  }

  /// Before which local rows are too old to be read; nil: none are.
  func writtenSince(_ options: CallOptions) -> Timestamp? {
    guard let ttl = options.ttl else { return nil }
    let span = Int64(exactly: (ttl * 1000).rounded()) ?? .max
    let (moment, isTooLong) = clock().milliseconds.subtractingReportingOverflow(span)
    return isTooLong ? nil : Timestamp(milliseconds: moment)
  }

  /// Throws if one of the entities could be stored here, but never be sent: `.invalid` for its id, `.tooLarge` for its size.
  package func checkCanBeSent(_ outlines: [EntityOutline]) throws(StoreError) {
    for (index, outline) in outlines.enumerated() {
      guard var error = refusal(of: outline) else { continue }
      error.id = outline.id
      if outlines.count > 1 { error.index = index }
      throw error
    }
  }

  private func refusal(of outline: EntityOutline) -> StoreError? {
    if let id = outline.id, !limits.allowsID(id) { return refusal(ofID: id) }
    let size = outline.range.count
    // A backend tells its limit in its answers, so it is asked for each time, unless every backend allows so much.
    guard size > RemoteLimits.bytesOfAnyEntity, let most = remote?.limits.bytesPerEntity,
      size > most
    else { return nil }
    return .tooLarge(size, most: most)
  }

  /// The update, which refuses to make an entity that could be stored here, but never be sent.
  package func limited(_ update: EntityUpdate) -> EntityUpdate {
    update.limited(to: remote?.limits.bytesPerEntity)
  }

  /// Throws `.invalid` if the id could be stored here, but never be sent.
  package func checkID(_ id: String) throws(StoreError) {
    guard limits.allowsID(id) else { throw refusal(ofID: id) }
  }

  private func refusal(ofID id: String?) -> StoreError {
    var error = StoreError(
      .invalid,
      """
      The backend does not accept this id: it must have at most \(limits.bytesPerID ?? 0) bytes and no control characters, and must not \
      be "." or "..".
      """)
    error.id = id
    return error
  }

  static func checked(_ id: String) throws(StoreError) {
    guard !id.isEmpty else { throw StoreError(.invalid, "An id must not be empty.") }
  }
}
