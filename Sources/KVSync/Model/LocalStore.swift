package import KVBase
package import KVJSON
package import KVQuery

/// The local data of one tag: entities, pending writes, request bookkeeping. Safe from any thread.
///
/// Each method is one transaction unless its text says otherwise, durable when it returns. Entities
/// are bytes: the JSON object as it came in, with its `_id`.
package protocol LocalStore: AnyObject, Sendable {
  // MARK: Reading

  /// One entity; nil if there is none. `writtenSince`: rows written locally before it are ignored.
  func entity(
    _ id: String, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> [UInt8]?

  /// Lends one entity's bytes to `body` until it returns, without a copy; false if there is none.
  func lend(
    _ id: String, in collection: String, writtenSince: Timestamp?,
    to body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) -> Bool

  /// The local version of one entity; nil if there is none. It goes up by one with each change of the entity
  /// here, whoever makes it: a save, a pull, live data, another process. One that is made anew under an old id
  /// has a higher one than any that the old one had. It fits into 53 bits.
  func version(of id: String, in collection: String) throws(StoreError) -> Int64?

  /// The entities that match, in the query's order, as a snapshot that lives as long as the cursor.
  ///
  /// `budget`, here and below: of whoever waits for the answer. Once it is exhausted, the search ends with `.timeout`
  /// or `.cancelled`. A cursor that was given is not affected.
  func find(
    _ query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> any EntityCursor

  /// How many match. Skip and limit count too.
  func count(
    _ query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> Int

  /// Lends each entity that matches to `body`, one after the other, in one snapshot; order and page do not count.
  func each(
    of query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError)

  // MARK: Indexes

  /// Makes an index and fills it, in several transactions: it is used when all entities are in it. One that is
  /// there already is left as it is, or filled to its end; with other keys it is `.invalid`.
  func createIndex(_ spec: IndexSpec, in collection: String) throws(StoreError)

  /// Drops an index; false if there is none of this name.
  func dropIndex(_ name: String, in collection: String) throws(StoreError) -> Bool

  func indexes(in collection: String) throws(StoreError) -> [StoredIndex]

  /// Runs a find to see how it is carried out.
  func explain(_ query: Query, in collection: String) throws(StoreError) -> Explanation

  /// Begins to follow a query. `signal` is called, from any thread and with no lock held, whenever the
  /// observation may have something to tell, until it is ended.
  func observe(
    _ query: Query, in collection: String, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any Observation

  /// What a grouping asks about the entities that match, ordered by the keys.
  func group(
    _ grouping: Grouping, of query: Query, in collection: String, writtenSince: Timestamp?,
    within budget: WorkBudget
  ) throws(StoreError) -> [JSONObject]

  // MARK: Local changes (entity and pending write in one transaction)

  /// Saves entities and queues their writes, all or nothing. `entities[i]` starts at `outlines[i]` of
  /// `bytes`. An entity without `_id` gets one and is queued as a create, one with `_id` as an update (or
  /// stays a create, see `PendingWrite.collapsing`). What is there keeps the members that are not `known`; nil:
  /// all are. Gives what is stored, in the input's order.
  func save(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], known: KnownMembers?,
    in collection: String
  ) throws(StoreError) -> [SavedEntity]

  /// Changes the entities that match, in one transaction, and queues a write of each that was changed. If the
  /// update does not fit one of them, or would make an entity that cannot be stored, it is `.invalid` with that
  /// one's id, and nothing is changed.
  func update(
    _ query: Query, _ update: EntityUpdate, in collection: String
  ) throws(StoreError) -> UpdateResult

  /// Begins a transaction over any of the collections. Nothing is locked by it.
  func beginTransaction() throws(StoreError) -> any LocalTransaction

  /// Deletes one entity and queues its deletion. Gives 1, or 0 if it was not there (nothing queued).
  func remove(_ id: String, in collection: String) throws(StoreError) -> Int

  /// Deletes what matches and queues one deletion for each.
  func remove(_ query: Query, in collection: String) throws(StoreError) -> Int

  // MARK: What the backend said

  /// Starts a refresh: what is written from now on, by anybody, is newer than the mark it gives.
  func beginRefresh(of collection: String) throws(StoreError) -> RefreshMark

  /// Stores entities of the backend, replacing older ones; rows with a pending write are left alone.
  /// Every outline must have an id. Gives how many were stored. What it stores can be had again: it need not
  /// survive a power failure before the next call that is durable, such as `finishRefresh`.
  func store(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in collection: String
  ) throws(StoreError) -> Int

  /// What matches, was not written since `mark` and has no pending write, in the order of the rows, from
  /// behind `order`: what `finishRefresh` would delete.
  func unseen(
    _ query: Query, from mark: RefreshMark, in collection: String, after order: Int64, most: Int,
    within budget: WorkBudget
  ) throws(StoreError) -> [(order: Int64, id: String)]

  /// Of versions that the backend has listed, the ids of those that are not what is here. The others count
  /// as written now. Need not be durable.
  func differing(_ versions: [EntityVersion], in collection: String) throws(StoreError) -> [String]

  /// Ends a refresh: deletes what matches `query`, was not written since `mark` and has no pending
  /// write, and remembers when the backend read it, unless requests were forgotten since `mark`. `query` nil: nothing
  /// is deleted. Gives how many went.
  func finishRefresh(
    of collection: String, from mark: RefreshMark, deletingUnseen query: Query?,
    recording request: (key: RequestKey, startedAt: BackendMoment)?
  ) throws(StoreError) -> Int

  /// Deletes entities that the backend no longer has, except those with a pending write; gives how many. Their
  /// tombstones say `moment`, if that is known, else the version that was here.
  func forget(_ ids: [String], in collection: String, at moment: String?) throws(StoreError) -> Int

  // MARK: What has gone

  /// What is known of an entity that has gone; nil: nothing. Of one that is here it says nothing.
  func tombstone(of id: String, in collection: String) throws(StoreError) -> Tombstone?

  /// Whether a create that had no answer may still arrive of an entity that was removed here.
  func expectsLateCreates(in collection: String) throws(StoreError) -> Bool

  /// Queues the deletion of an entity that was removed here and has arrived on the backend since. False: it is here,
  /// or a write of it is pending.
  func removeArrived(
    _ entity: [UInt8], _ id: String, in collection: String
  ) throws(StoreError) -> Bool

  /// When the backend last evaluated this request; nil if unknown.
  func lastRequest(_ key: RequestKey, in collection: String) throws(StoreError) -> BackendMoment?

  /// The requests of a collection of which that is known.
  func requests(in collection: String) throws(StoreError) -> [RequestKey]

  /// Forgets one record, or all of the collection.
  func forgetRequest(_ key: RequestKey?, in collection: String) throws(StoreError)

  // MARK: Past the queue

  /// Notes what is about to be sent past the queue: until an answer settles it, it is something of our own
  /// that the backend may have, and part of `PendingDetail.tried`. Gives the request's number, for
  /// `endUnqueued`.
  func beginUnqueued(
    _ versions: [(id: String, sent: TheirVersion)], in collection: String
  ) throws(StoreError) -> Int64

  /// The same for a deletion by query: of each entity that matches here, and of each that has a pending
  /// write and matches in a version that the backend may have.
  func beginRemoval(of query: Query, in collection: String) throws(StoreError) -> Int64

  /// Such a request was answered.
  func endUnqueued(_ request: Int64, _ outcome: UnqueuedOutcome) throws(StoreError)

  // MARK: The queue

  /// Pending writes, oldest first, from behind `order`; `onlyWaiting`: without those that were set aside.
  func pending(
    in collection: String, after order: Int64, most: Int, onlyWaiting: Bool
  ) throws(StoreError) -> [PendingWrite]

  /// One pending write and what is kept with it.
  func pending(_ id: String, in collection: String) throws(StoreError) -> PendingDetail?

  /// How many there are, those included that were set aside. nil: of all collections.
  func pendingCount(in collection: String?) throws(StoreError) -> Int

  /// How many wait to be sent.
  func waitingCount(in collection: String) throws(StoreError) -> Int

  /// Counts an attempt for each row whose revision is unchanged, and gives their entities at this
  /// moment: what is sent is exactly the revision that is named. Rows that are gone are left out.
  func beginSending(_ writes: [PendingWrite]) throws(StoreError) -> [OutgoingWrite]

  /// The backend accepted these. For each: if its revision is unchanged the row goes and `stored` (what
  /// the backend answered) replaces the entity; else the row stays, a create becomes an update, and
  /// `stored` becomes its base. One transaction for all.
  func confirm(_ done: [(write: PendingWrite, stored: [UInt8]?)]) throws(StoreError)

  /// The backend refused these, or no answer came: their error is kept with the row.
  func recordFailure(_ failed: [(write: PendingWrite, error: StoreError)]) throws(StoreError)

  /// A create that turned out to exist already is sent as an update from now on.
  func turnIntoUpdate(_ id: String, in collection: String) throws(StoreError)

  /// Replaces what a pending create or update sends, but for members that are not `known`; attempts and error start
  /// anew. False: not pending.
  func editPending(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, _ id: String, known: KnownMembers?,
    in collection: String
  ) throws(StoreError) -> Bool

  /// Sets writes aside whose revision is unchanged: they stay, with their error and what the backend has,
  /// and are not sent until they are changed, edited or released.
  func quarantine(_ refused: [QuarantinedWrite]) throws(StoreError)

  /// The backend's versions win. Where the revision is unchanged, the row goes and the entity becomes
  /// theirs; else it stays, and what the backend has is its base.
  func takeTheirs(_ settled: [(write: PendingWrite, theirs: TheirVersion)]) throws(StoreError)

  /// Our version wins, or another one, over what the backend has: that becomes the base, and the write
  /// waits. False: it was changed, or is gone; nothing happens then.
  func rebase(
    _ write: PendingWrite, onto theirs: TheirVersion, as change: RebasedChange
  ) throws(StoreError) -> Bool

  /// Lets a write that was set aside wait again; after a conflict over the version that it met. False: it
  /// is not pending.
  func releasePending(_ id: String, in collection: String) throws(StoreError) -> Bool

  /// Forgets one pending write and makes the entity what the backend has, as far as one knows; and all records of
  /// requests, so that the next read brings it. False: not pending, and nothing is forgotten.
  func revertPending(_ id: String, in collection: String) throws(StoreError) -> Bool

  /// Forgets one pending write, leaving the entity, of which `differing` then knows no version; and all records of
  /// requests. False: not pending, and nothing is forgotten.
  func dropPending(_ id: String, in collection: String) throws(StoreError) -> Bool

  /// The same for the pending writes of the entities that match (nil: all, deletions included); gives how many.
  func purge(_ query: Query?, in collection: String) throws(StoreError) -> Int

  /// Deletes what matches (nil: everything), pending writes and request records included. Nothing is
  /// queued.
  func clear(_ query: Query?, in collection: String) throws(StoreError) -> Int

  /// Deletes everything of this tag.
  func wipe() throws(StoreError)
}

extension LocalStore {
  /// The same for as long as it takes.
  package func find(
    _ query: Query, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> any EntityCursor {
    try find(query, in: collection, writtenSince: writtenSince, within: .unlimited)
  }

  package func count(
    _ query: Query, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> Int {
    try count(query, in: collection, writtenSince: writtenSince, within: .unlimited)
  }

  package func group(
    _ grouping: Grouping, of query: Query, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> [JSONObject] {
    try group(grouping, of: query, in: collection, writtenSince: writtenSince, within: .unlimited)
  }

  /// For stores that have no shorter way than looking at each entity.
  package func group(
    _ grouping: Grouping, of query: Query, in collection: String, writtenSince: Timestamp?,
    within budget: WorkBudget
  ) throws(StoreError) -> [JSONObject] {
    var groups = Groups(grouping)
    try each(of: query, in: collection, writtenSince: writtenSince, within: budget) {
      groups.add($0)
    }
    return groups.results
  }

  /// For stores that have no shorter way than a cursor.
  package func each(
    of query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    let cursor = try find(
      query.selection, in: collection, writtenSince: writtenSince, within: budget)
    defer { cursor.close() }
    while try cursor.next(body) != nil {}
  }

  package func forget(_ ids: [String], in collection: String) throws(StoreError) -> Int {
    try forget(ids, in: collection, at: nil)
  }

  /// For stores that have no indexes.
  package func createIndex(_ spec: IndexSpec, in collection: String) throws(StoreError) {
    throw StoreError(.unsupported, "This store has no indexes.")
  }

  package func dropIndex(_ name: String, in collection: String) throws(StoreError) -> Bool { false }

  package func indexes(in collection: String) throws(StoreError) -> [StoredIndex] { [] }

  package func explain(_ query: Query, in collection: String) throws(StoreError) -> Explanation {
    throw StoreError(.unsupported, "This store explains nothing.")
  }

  /// For stores that have no bytes to lend.
  package func lend(
    _ id: String, in collection: String, writtenSince: Timestamp?,
    to body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) -> Bool {
    let entity = try entity(id, in: collection, writtenSince: writtenSince)
    entity?.withUnsafeBytes(body)
    return entity != nil
  }
}

/// A place in the life of a collection: rows written before it are older.
package struct RefreshMark: Sendable, Equatable {
  package var generation: Int64
  package init(generation: Int64) { self.generation = generation }
}

/// An entity after a local save.
package struct SavedEntity: Sendable, Equatable {
  package var id: String
  package var bytes: [UInt8]
  package init(id: String, bytes: [UInt8]) {
    self.id = id
    self.bytes = bytes
  }
}

/// A pending write with the bytes to send (nil for a deletion).
package struct OutgoingWrite: Sendable, Equatable {
  package var write: PendingWrite
  package var body: [UInt8]?
  /// What must be true on the backend for it to be carried out.
  package var condition = RemoteCondition.none
  package init(write: PendingWrite, body: [UInt8]?) {
    self.write = write
    self.body = body
  }
}

/// Which version of an entity there is: its `_kmd.lmt`, nil if it has none.
package struct EntityVersion: Sendable, Equatable {
  package var id: String
  package var lastModified: String?
  package init(id: String, lastModified: String?) {
    self.id = id
    self.lastModified = lastModified
  }
}

/// What a read request is remembered by: the filter and the fields, as canonical text.
package struct RequestKey: Sendable {
  package var filter: String
  package var fields: String
  package init(filter: String, fields: String) {
    self.filter = filter
    self.fields = fields
  }
}

// By bytes: as `String`s, two texts that differ in the form of an accent would be one.
extension RequestKey: Equatable {
  package static func == (left: RequestKey, right: RequestKey) -> Bool {
    left.filter.utf8.elementsEqual(right.filter.utf8)
      && left.fields.utf8.elementsEqual(right.fields.utf8)
  }
}

extension LocalStore {
  /// Saves entities whose members are all known.
  package func save(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in collection: String
  ) throws(StoreError) -> [SavedEntity] {
    try save(bytes, outlines, known: nil, in: collection)
  }
}
