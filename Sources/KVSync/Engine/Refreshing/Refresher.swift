internal import KVBase
internal import KVJSON
internal import KVQuery

/// Brings the local store up to date with what the backend has: one read of a query, for one call.
struct Refresher {
  /// How many entities are asked for together when a read is over.
  private static let recheckedAtOnce = 1_000

  let engine: CollectionEngine
  let local: any LocalStore
  let remote: any Remote
  let call: Call

  init(_ engine: CollectionEngine, _ local: any LocalStore, remote: any Remote, call: Call) {
    self.engine = engine
    self.local = local
    self.remote = remote
    self.call = call
  }

  var collection: String { engine.collection }
  var fence: ReadWriteFence { engine.sendGate.fence }

  /// Brings what matches up to date: by its changes if that is wanted and possible, else by reading all.
  func refresh(_ query: Query, _ how: CollectionEngine.Refreshing) throws(StoreError) -> Refreshed {
    if !query.isPaged {
      if how.usesChanges, let refreshed = try refreshByChanges(query) { return refreshed }
      if how.comparesVersions, let refreshed = try refreshByComparing(query, how.pageSize) {
        return refreshed
      }
    }
    switch how.paging {
    case .off: return try refreshWhole(query)
    case .pages(let size, let ranges):
      return try refreshPaged(query, PageWish(size: max(1, size), parts: ranges))
    }
  }

  /// Reads what matches from the backend into the local store; entities with pending writes are left as
  /// they are. Local entities that match and that the backend no longer has are deleted if the answer
  /// is certain to be complete. Memory: one batch.
  func refreshWhole(_ query: Query, collectingIds: Bool = false) throws(StoreError) -> Refreshed {
    // First: what is settled from now on, and not taken from the answer, counts as seen.
    let mark = try local.beginRefresh(of: collection)
    return try fence.reading(query.isPaged ? nil : query.selection, since: mark) {
      (reading) throws(StoreError) in
      let whole = query.whole
      var refreshed = Refreshed(ids: collectingIds ? [] : nil)
      var ingestor = PageIngestor(self, reading: reading)
      if !query.isPaged { ingestor.call.counted = ingestor.progress }
      let answer = try ingestor.ingest(whole, &refreshed)
      refreshed.isComplete = !query.isPaged && answer.isComplete
      refreshed.removed = try ingestor.finish(
        query, from: mark, isComplete: refreshed.isComplete, startedAt: answer.startedAt)
      return refreshed
    }
  }

  /// Asks once more for what was settled while a read was under way. Its answer, which is not taken for these,
  /// may have been the newer one: what it shows is not told again, once the read's moment is recorded.
  func recheckSettled(during reading: ReadWriteFence.Reading) throws(StoreError) {
    for some in fence.settled(since: reading).chunks(of: Self.recheckedAtOnce) {
      var ids = Array(some)
      while !ids.isEmpty { ids = try recheck(ids) }
    }
  }

  /// Brings some entities up to date; gives those that were settled once more meanwhile and are not here although the
  /// backend has had them: a write that was given up while it was sent may have been accepted after another read had
  /// deleted the entity.
  private func recheck(_ ids: [String]) throws(StoreError) -> [String] {
    try fence.reading { (again) throws(StoreError) in
      let found = try engine.backendEntities(ids, remote, call: call)
      for (id, entity) in found {
        let outline = try engine.accepted(entity.bytes, as: id.text)
        try engine.store(entity.bytes, outline, in: local, of: again)
      }
      _ = try engine.forget(ids.filter { found[RecordID($0)] == nil }, in: local, of: again)
      var missing: [String] = []
      for id in fence.settled(since: again) where found[RecordID(id)] != nil {
        let isHere = try local.lend(id, in: collection, writtenSince: nil) { _ in }
        if !isHere { missing.append(id) }
      }
      return missing
    }
  }

  /// The queries, but for the one of this read, that were read in full or are being read: what they ask for is wanted
  /// here.
  func heldQueries(
    but key: RequestKey, during reading: ReadWriteFence.Reading
  ) throws(StoreError) -> [Query] {
    let recorded = try local.requests(in: collection).filter { $0 != key }
    return recorded.compactMap { try? Query(filter: $0.filter) }
      + fence.queries(besides: reading)
  }
}
