internal import KVBase
internal import KVJSON
internal import KVQuery

/// Brings the local store up to date with what the backend has: one read of a query, for one call.
struct Refresher {
  /// How many entities that are asked for by their ids are taken in together.
  private static let recheckedAtOnce = 1_000
  /// Of how many entities, the latest ones, a read asks whether a write has arrived late.
  private static let lateWritesAtOnce = 100

  let engine: CollectionEngine
  let local: any LocalStore
  let remote: any Remote
  let call: Call
  let arrivals: Arrivals

  init(_ engine: CollectionEngine, _ local: any LocalStore, remote: any Remote, call: Call) {
    self.engine = engine
    self.local = local
    self.remote = remote
    self.call = call
    var arrivals = engine.arrivals
    arrivals.received = call.received
    self.arrivals = arrivals
  }

  var collection: String { engine.collection }
  var fence: ReadWriteFence { engine.sendGate.fence }

  /// Brings what matches up to date: by its changes if that is wanted and possible, else by reading all.
  func refresh(_ query: Query, _ how: CollectionEngine.Refreshing) throws(StoreError) -> Refreshed {
    let refreshed = try read(query, how)
    if query.filter != .everything || query.isPaged { removeUnreadLateWrites() }
    return refreshed
  }

  private func read(
    _ query: Query, _ how: CollectionEngine.Refreshing
  ) throws(StoreError) -> Refreshed {
    if !query.isPaged {
      if how.usesChanges, let refreshed = try refreshByChanges(query, how) { return refreshed }
      if how.comparesVersions, let refreshed = try refreshByComparing(query, how.pageSize) {
        return refreshed
      }
    }
    switch how.paging {
    case .off: return try refreshWhole(query)
    case .pages(let size, let ranges):
      var wish = PageWish(size: max(1, size), parts: ranges)
      wish.maxRecords = how.maxRecords
      return try refreshPaged(query, wish)
    }
  }

  /// Asks for what may have arrived on the backend after its entity was removed here, and queues its deletion once more: a read
  /// of all brings it by itself, one with a filter only what matches. It costs a request as long as something may arrive. A
  /// failure must not undo the read: the next one asks again.
  private func removeUnreadLateWrites() {
    do throws(StoreError) {
      let ids = try local.awaitedLateWrites(in: collection, limit: Self.lateWritesAtOnce)
      guard !ids.isEmpty else { return }
      for (id, entity) in try engine.backendEntities(ids, remote, call: call) {
        guard let tombstone = try local.tombstone(of: id.text, in: collection) else { continue }
        _ = try arrivals.remove(entity.bytes, id.text, ifLateBy: tombstone, local: local)
      }
    } catch {}
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
      refreshed.removed += try ingestor.finish(
        query, from: mark, isComplete: refreshed.isComplete, startedAt: answer.startedAt)
      return refreshed
    }
  }

  /// Asks once more for what was settled while a read was under way. Its answer, which is not taken for these,
  /// may have been the newer one: what it shows is not told again, once the read's moment is recorded. What is not here
  /// comes in only if this read or another one asks for it.
  func recheckSettled(
    during reading: ReadWriteFence.Reading, of query: Query
  ) throws(StoreError) {
    let settled = fence.settled(since: reading)
    guard !settled.isEmpty else { return }
    let key = RequestKey(filter: query.filterText, fields: "")
    let wanted = [query.of(engine.format)] + (try heldQueries(but: key, during: reading))
    try refresh(settled, wantedBy: wanted)
  }

  /// Brings the entities of some ids up to date. What the backend does not have leaves the local store, unless it has
  /// pending writes. `found` receives those that the backend has. `wanted`: the queries, one of which has to match what is
  /// not here yet, and what is not kept leaves; nil: the ids are asked for as such.
  func refresh(
    _ ids: [String], wantedBy wanted: [Query]? = nil,
    found: (RecordID, BackendEntity) -> Void = { _, _ in }
  ) throws(StoreError) {
    for some in ids.chunks(of: Self.recheckedAtOnce) {
      var ids = Array(some)
      while !ids.isEmpty { ids = try recheck(ids, wantedBy: wanted, found) }
    }
  }

  /// Brings some entities up to date; gives those that were settled once more meanwhile and are not here although the
  /// backend has had them: a write that was given up while it was sent may have been accepted after another read had
  /// deleted the entity.
  private func recheck(
    _ ids: [String], wantedBy wanted: [Query]?, _ receive: (RecordID, BackendEntity) -> Void
  ) throws(StoreError) -> [String] {
    let mark = try local.beginRefresh(of: collection)
    return try fence.reading(since: mark) { (again) throws(StoreError) in
      var gone = Dictionary(
        ids.map { (RecordID($0), ChangeBatch.Deletion(id: $0)) }, uniquingKeysWith: { $1 })
      var moment: BackendMoment?
      let found = try engine.backendEntities(ids, remote, call: call) {
        gone[RecordID($0.id)] = $0
      } moment: {
        moment = $0
      }
      // Before anything goes that the backend had when it had other data.
      if let moment { _ = try local.noteEpoch(moment, in: collection, from: mark) }
      for (id, entity) in found {
        let outline = try arrivals.accepted(entity.bytes, as: id.text)
        if let wanted {
          let isPending = try local.pending(id.text, in: collection) != nil
          // It has left, as one that the backend has no more.
          if !isPending, !engine.keeps(entity.bytes) { continue }
          if !wanted.contains(where: { $0.holds(entity.bytes) }),
            try !local.lend(id.text, in: collection, writtenSince: nil, to: { _ in })
          {
            gone[id] = nil
            continue
          }
        }
        try arrivals.store(entity.bytes, outline, in: local, of: again)
        gone[id] = nil
        receive(id, entity)
      }
      _ = try forget(Array(gone.values), of: again)
      var missing: [String] = []
      for id in fence.settled(since: again) where found[RecordID(id)] != nil {
        let isHere = try local.lend(id, in: collection, writtenSince: nil) { _ in }
        if !isHere { missing.append(id) }
      }
      return missing
    }
  }

  /// The queries, except the one of this read, that were read in full or are being read: what they select is wanted
  /// here.
  func heldQueries(
    but key: RequestKey, during reading: ReadWriteFence.Reading
  ) throws(StoreError) -> [Query] {
    let recorded = try local.requests(in: collection).filter { $0 != key }
    return recorded.compactMap { try? Query(filter: $0.filter) }
      + fence.queries(besides: reading)
  }
}

extension Refresher {
  /// A refresh for an answer of any size, page by page; parts of it at the same time, as far as the backend lets. Nothing
  /// is deleted unless the backend is sure that all has come.
  func refreshPaged(_ query: Query, _ wish: PageWish) throws(StoreError) -> Refreshed {
    let mark = try local.beginRefresh(of: collection)
    return try fence.reading(query.selection, since: mark) { (reading) throws(StoreError) in
      var pages = try remote.pages(of: query.selection, wish, in: collection, call: call)
      let ingestor = PageIngestor(self, reading: reading)
      // What the backend has of a query that it cannot answer is more than is taken in.
      if query.isRemote, let expected = pages.expected { ingestor.progress.expect(expected) }
      var refreshed = try ingestor.ingest(pages, of: query.selection)
      var end = try remote.end(
        of: pages, query.selection, having: refreshed.answered, in: collection, call: call)
      if case .again(let more) = end {
        pages = more
        ingestor.progress.subtract(refreshed.received)
        refreshed = try ingestor.ingest(pages, of: query.selection)
        end = try remote.end(
          of: pages, query.selection, having: refreshed.answered, in: collection, call: call)
      }
      refreshed.isComplete = end.isComplete && refreshed.isComplete
      refreshed.removed += try ingestor.finish(
        query, from: mark, isComplete: refreshed.isComplete,
        startedAt: pages.startedAt ?? refreshed.startedAt)
      return refreshed
    }
  }
}

extension PagesEnd {
  var isComplete: Bool {
    guard case .complete = self else { return false }
    return true
  }
}

/// Delta sync, for backends that keep a history.
extension Refresher {
  /// Asks for what has changed since this filter was read last; nil if that is not known, or the backend
  /// cannot tell: then everything has to be read.
  ///
  /// Each step may be repeated: until the new moment is recorded, at the end, the next time asks for the
  /// same changes again.
  func refreshByChanges(
    _ query: Query, _ how: CollectionEngine.Refreshing
  ) throws(StoreError) -> Refreshed? {
    let key = RequestKey(filter: query.filterText, fields: "")
    // First: a record that is forgotten from now on is not made anew by this read.
    let mark = try local.beginRefresh(of: collection)
    guard let since = try local.lastRequest(key, in: collection) else { return nil }
    return try fence.reading(query.selection, since: mark) {
      (reading) throws(StoreError) -> Refreshed? in
      let ingestor = PageIngestor(self, reading: reading)
      var refreshed = Refreshed()
      var left: [String] = []
      let answer = try ingestor.repeating(&refreshed) { (refreshed) throws(StoreError) in
        left = []
        return try remote.changes(of: query.selection, since: since, in: collection, call: call) {
          (batch) throws(StoreError) in
          switch batch {
          case .saved(let records): try ingestor.store(records, &refreshed)
          case .deleted(let gone): refreshed.removed += try forget(gone, of: reading)
          case .left(let ids): left += ids
          }
        }
      }
      guard let answer else {
        try local.forgetRequest(key, in: collection)
        return nil
      }
      left = try ingestor.settle(left, heldBy: try heldQueries(but: key, during: reading))
      refreshed.isDelta = true
      refreshed.removed += try arrivals.forget(left, in: local, of: reading)
      try recheckSettled(during: reading, of: query)
      if how.confirmsUnchanged {
        try local.confirm(query, in: collection, at: engine.clock())
      }
      _ = try local.finishRefresh(
        of: collection, from: mark, deletingUnseen: nil,
        recording: answer.startedAt.map { (key, $0) })
      return refreshed
    }
  }

  /// Deletes what the backend says is gone, unless a later version is here; gives how many.
  func forget(
    _ gone: [ChangeBatch.Deletion], of reading: ReadWriteFence.Reading
  ) throws(StoreError) -> Int {
    var removed = 0
    for (version, some) in Dictionary(grouping: gone, by: \.version) {
      removed += try arrivals.forget(
        some.map(\.id), in: local, of: reading, at: version)
    }
    return removed
  }
}
