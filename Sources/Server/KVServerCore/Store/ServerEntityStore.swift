package import KVBase
package import KVQuery

/// The entities of all collections, users and groups included, as the caller may see and change them: the permissions
/// of a collection, and those of each entity's `_acl`, are looked at by the store. It throws `.invalidCredentials` if a claim
/// turns out to be of no session.
///
/// What reads gives its time with what was read: a write that it did not see has that time or a later one. The
/// permissions are not older than the time.
package protocol ServerEntityStore: Sendable {
  /// The time of a read of an app's data that begins now.
  func readStart(in app: Int64) throws(ServerError) -> Timestamp

  /// One entity, its last change, and the time of the read.
  func get(
    _ id: String, in collection: CollectionKey, for claim: Claim
  ) throws(ServerError) -> FoundEntity

  /// The same, without waiting: `tell` is called with it once, on any thread. False: that cannot be done now, and `tell` is
  /// never called.
  func get(
    _ id: String, in collection: CollectionKey, for claim: Claim,
    then tell: @escaping @Sendable (Result<FoundEntity, ServerError>) -> Void
  ) -> Bool

  /// The entities that a query selects, in its order, from its offset on.
  func find(
    _ query: Query, in collection: CollectionKey, for claim: Claim,
    within budget: WorkBudget
  ) throws(ServerError) -> (cursor: any EntityCursor, start: Timestamp)

  /// How many match; skip and limit do not count here.
  func count(
    _ query: Query, in collection: CollectionKey, for claim: Claim,
    within budget: WorkBudget
  ) throws(ServerError) -> (count: Int, start: Timestamp)

  /// Adds the entities that a query selects to `groups`.
  func group(
    _ query: Query, in collection: CollectionKey, for claim: Claim,
    within budget: WorkBudget, into groups: inout GroupReader
  ) throws(ServerError)

  /// The changes since a moment, inclusive. Throws if that is not known, or if there are more changes than an answer may
  /// hold: a part of them would be taken for all.
  ///
  /// `withLeft`: what may not be read any more is in `left`; else it counts as deleted.
  func changes(
    of query: Query, since: Timestamp, withLeft: Bool, in collection: CollectionKey,
    for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> EntityChanges

  /// Carries out writes in one transaction, each on its own: one that is refused does not keep the others out. Gives
  /// what each has stored; nil: it was deleted. The collection is made if there is none and something is to be
  /// in it.
  func perform(
    _ writes: [Result<EntityWrite, ServerError>], in collection: CollectionKey,
    for claim: Claim
  ) throws(ServerError) -> [Result<WrittenEntity?, ServerError>]

  /// Deletes what matches and may be deleted; gives how many that were.
  func delete(
    _ query: Query, in collection: CollectionKey, for claim: Claim,
    within budget: WorkBudget
  ) throws(ServerError) -> Int
}

/// An entity, its last change, and the time of the read.
package typealias FoundEntity = (body: Payload, modified: Timestamp, start: Timestamp)

extension ServerEntityStore {
  package func get(
    _: String, in _: CollectionKey, for _: Claim,
    then _: @escaping @Sendable (Result<FoundEntity, ServerError>) -> Void
  ) -> Bool {
    false
  }

  /// Carries out one write. Nil: the entity was deleted.
  package func perform(
    _ write: EntityWrite, in collection: CollectionKey, for claim: Claim
  ) throws(ServerError) -> WrittenEntity? {
    let results = try perform([.success(write)], in: collection, for: claim)
    guard let result = results.first else { throw ServerError(.internalErrorRetry) }
    return try result.get()
  }
}

/// What a write has stored.
package struct WrittenEntity: Sendable {
  package var id: String
  package var body: [UInt8]
  package var acl: ACL
  package var modified: Timestamp
  /// False: an older version was replaced.
  package var isNew: Bool
  /// Whether the write was carried out by an earlier request, and others have changed the entity since.
  package var isOfOthers: Bool

  package init(
    id: String, body: [UInt8], acl: ACL, modified: Timestamp, isNew: Bool, isOfOthers: Bool = false
  ) {
    self.isOfOthers = isOfOthers
    self.id = id
    self.body = body
    self.acl = acl
    self.modified = modified
    self.isNew = isNew
  }
}

/// The changes of a collection since a moment that one principal may see.
package struct EntityChanges: Sendable {
  /// The entities that were created or changed.
  package var changed: any EntityCursor
  /// Ids, perhaps some of them twice.
  package var deleted: [String]
  package var left: [String]
  /// The time of the read.
  package var start: Timestamp

  package init(
    changed: any EntityCursor, deleted: [String], left: [String], start: Timestamp
  ) {
    self.changed = changed
    self.deleted = deleted
    self.left = left
    self.start = start
  }
}
