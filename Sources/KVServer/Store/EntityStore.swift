internal import KVBase
internal import KVQuery

/// The entities of all collections, users and groups included, as a principal may see and change them: the permissions
/// of a collection, and those of each entity's `_acl`, are looked at by the store.
///
/// What reads gives its time with what was read: a write that it did not see has that time or a later one. The
/// permissions are not older than the time.
protocol EntityStore: Sendable {
  /// The time of a read that begins now.
  func readStart() throws(ServerError) -> Timestamp

  /// One entity, its last change, and the time of the read. Quick enough for a thread that carries connections.
  func get(
    _ id: String, in collection: CollectionKey, for principal: Principal
  ) throws(ServerError) -> (body: Payload, modified: Timestamp, start: Timestamp)

  /// The entities that a query selects, in its order, from its offset on.
  func find(
    _ query: Query, in collection: CollectionKey, for principal: Principal,
    within budget: WorkBudget
  ) throws(ServerError) -> (cursor: any EntityCursor, start: Timestamp)

  /// How many match; skip and limit do not count here.
  func count(
    _ query: Query, in collection: CollectionKey, for principal: Principal,
    within budget: WorkBudget
  ) throws(ServerError) -> (count: Int, start: Timestamp)

  /// Adds the entities that a query selects to `groups`.
  func group(
    _ query: Query, in collection: CollectionKey, for principal: Principal,
    within budget: WorkBudget, into groups: inout GroupReader
  ) throws(ServerError)

  /// What has changed since a moment, which is included. Throws if that is not known, or if there are more changes
  /// than an answer may hold: a part of them would be taken for all.
  ///
  /// `withLeft`: what the principal may not read any more is in `left`; else it counts as deleted.
  func changes(
    of query: Query, since: Timestamp, withLeft: Bool, in collection: CollectionKey,
    for principal: Principal, within budget: WorkBudget
  ) throws(ServerError) -> EntityChanges

  /// Carries out writes in one transaction, each on its own: one that is refused does not keep the others out. Gives
  /// what each has left behind; nil: it was deleted. The collection is made if there is none and something is to be
  /// in it.
  func perform(
    _ writes: [Result<EntityWrite, ServerError>], in collection: CollectionKey,
    for principal: Principal
  ) throws(ServerError) -> [Result<WrittenEntity?, ServerError>]

  /// Deletes what matches and may be deleted; gives how many that were.
  func delete(
    _ query: Query, in collection: CollectionKey, for principal: Principal,
    within budget: WorkBudget
  ) throws(ServerError) -> Int
}

extension EntityStore {
  /// Carries out one write. Nil: the entity was deleted.
  func perform(
    _ write: EntityWrite, in collection: CollectionKey, for principal: Principal
  ) throws(ServerError) -> WrittenEntity? {
    let results = try perform([.success(write)], in: collection, for: principal)
    guard let result = results.first else { throw ServerError(.internalErrorRetry) }
    return try result.get()
  }
}

/// What a write left behind.
struct WrittenEntity: Sendable {
  var id: String
  var body: [UInt8]
  var acl: ACL
  var modified: Timestamp
  /// False: an older version was replaced.
  var isNew: Bool
}

/// What has changed in a collection since a moment, as one principal may see it.
struct EntityChanges: Sendable {
  /// The entities that were created or changed.
  var changed: any EntityCursor
  /// Ids, perhaps some of them twice.
  var deleted: [String]
  var left: [String]
  /// The time of the read.
  var start: Timestamp
}
