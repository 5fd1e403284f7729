internal import KVBase
internal import KVJSON
internal import KVQuery

/// Streams answers of the backend into the local store.
struct PageIngestor {
  let refresher: Refresher
  var call: Call
  let reading: ReadWriteFence.Reading
  /// The part of the operation's progress that this read is.
  let progress: Progress.Part

  init(_ refresher: Refresher, reading: ReadWriteFence.Reading) {
    self.refresher = refresher
    self.call = refresher.call
    self.reading = reading
    progress = refresher.call.progress.part()
  }

  var engine: CollectionEngine { refresher.engine }
  var local: any LocalStore { refresher.local }
  var remote: any Remote { refresher.remote }

  /// Takes in one answer; from its start again if it broke off. What of it was stored stays, and is
  /// stored once more.
  @discardableResult
  func ingest(_ query: Query, _ refreshed: inout Refreshed) throws(StoreError) -> ReadAnswer {
    try repeating(&refreshed) { (refreshed) throws(StoreError) in
      try remote.find(query, in: engine.collection, call: call) { (batch) throws(StoreError) in
        try store(batch, &refreshed)
      }
    }
  }

  /// Runs a read, again if that is worthwhile: then from what was refreshed before it.
  func repeating<R>(
    _ refreshed: inout Refreshed, _ body: (inout Refreshed) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let before = refreshed
    return try call.repeating { () throws(StoreError) in
      progress.subtract(refreshed.received - before.received)
      refreshed = before
      return try body(&refreshed)
    }
  }

  func store(_ batch: RecordBatch, _ refreshed: inout Refreshed) throws(StoreError) {
    refreshed.removed += try forget(known: batch.deletions)
    guard batch.count > 0 else { return }
    if let moment = batch.moment, let mark = reading.mark {
      // Before anything is replaced that the backend had when it had other data.
      _ = try local.noteEpoch(moment, in: engine.collection, from: mark)
    }
    refreshed.pulled += try refresher.arrivals.store(
      batch.bytes, batch.outlines, in: local, of: reading)
    refreshed.received += batch.count
    if refreshed.ids != nil { refreshed.ids?.append(contentsOf: batch.outlines.compactMap(\.id)) }
    progress.advance(by: batch.count)
  }

  /// Deletes what an answer says is gone of what is here, unless a later version is; that counts as seen then. What is not
  /// here needs no tombstone: this read has asked for everything.
  func forget(known deletions: [ChangeBatch.Deletion]) throws(StoreError) -> Int {
    guard !deletions.isEmpty else { return 0 }
    let known = Set(try known(deletions.map(\.id)).map(RecordID.init))
    return try refresher.forget(deletions.filter { known.contains(RecordID($0.id)) }, of: reading)
  }
}

extension PageIngestor {
  /// Takes in all parts, some at the same time as far as the backend lets. The first error ends them all.
  func ingest(_ pages: Pages, of selection: Query) throws(StoreError) -> Refreshed {
    let stop = Cancellation()
    let first = Monitor<StoreError?>(nil)
    var ingestor = self
    ingestor.call.cancellation = stop
    let each: @Sendable (Int) -> Refreshed = { [ingestor] number in
      var refreshed = Refreshed()
      do throws(StoreError) {
        try ingestor.ingestPart(
          from: pages.starts[number], pages.wish, of: selection, refreshed: &refreshed)
      } catch {
        first.withLock { $0 = $0 ?? error }
        stop.cancel()
      }
      return refreshed
    }
    let parts = call.cancellation.notifying {
      stop.cancel()
    } during: {
      concurrentMap(pages.starts.count, threads: remote.limits.connections, each)
    }
    if let error = first.withLock({ $0 }) { throw error }
    return parts.reduce(into: Refreshed()) { $0.add($1) }
  }

  private func ingestPart(
    from start: PageToken, _ wish: PageWish, of selection: Query, refreshed: inout Refreshed
  ) throws(StoreError) {
    var next: PageToken? = start
    while let token = next {
      next = try repeating(&refreshed) { (refreshed) throws(StoreError) in
        let page = try remote.page(
          at: token, of: selection, wish: wish, in: engine.collection, call: call
        ) {
          (batch) throws(StoreError) in try store(batch, &refreshed)
        }
        refreshed.add(page)
        return page.next
      }
      if let limit = wish.maxRecords, refreshed.received >= limit, next != nil {
        (refreshed.isCapped, refreshed.isComplete) = (true, false)
        return
      }
    }
  }
}

/// Lists what the backend has by its versions, and fetches what differs.
extension PageIngestor {
  /// A query's entities: which there are, and of which version.
  func versions(
    of query: Query
  ) throws(StoreError) -> ([EntityVersion], ReadAnswer) {
    try versions(of: query) { (wanted, receive) throws(StoreError) in
      try remote.find(wanted, in: engine.collection, call: call, receive: receive)
    }
  }

  /// The versions of one page.
  func versions(
    at token: PageToken, of query: Query, wish: PageWish
  ) throws(StoreError) -> ([EntityVersion], PageAnswer) {
    try versions(of: query) { (wanted, receive) throws(StoreError) in
      try remote.page(
        at: token, of: wanted, wish: wish, in: engine.collection, call: call, receive: receive)
    }
  }

  private func versions<Answer>(
    of query: Query,
    _ read: (Query, (RecordBatch) throws(StoreError) -> Void) throws(StoreError) -> Answer
  ) throws(StoreError) -> ([EntityVersion], Answer) {
    var wanted = query.selection
    wanted.fields = engine.format.idPaths + [engine.format.versionPath].compactMap { $0 }
    return try call.repeating { () throws(StoreError) in
      var versions: [EntityVersion] = []
      let answer = try read(wanted) { (batch) throws(StoreError) in
        _ = try forget(known: batch.deletions)
        versions += zip(try batch.ids(), batch.outlines).map {
          EntityVersion(id: $0, version: $1.version(in: batch.bytes))
        }
      }
      return (versions, answer)
    }
  }

  /// Takes in the entities of some ids.
  func fetch(
    _ ids: [String], _ refreshed: inout Refreshed
  ) throws(StoreError) {
    for some in ids.chunks(of: remote.limits.idsPerQuery) {
      try repeating(&refreshed) { (refreshed) throws(StoreError) in
        _ = try remote.find(ids: Array(some), in: engine.collection, call: call) {
          (batch) throws(StoreError) in try store(batch, &refreshed)
        }
      }
    }
  }
}

/// The end of a read. An entity that one query has lost may be what another one, which was read before, has cached: it
/// stays for as long as the backend has it and that other query asks for it.
extension PageIngestor {
  /// How many entities that did not come are looked at together.
  private static let pageSize = 1_000

  /// Ends a read of a query. What was settled meanwhile is asked for once more. If the answer was complete,
  /// entities that match here and did not come leave the local store, and so does what is known of them only from an
  /// answer that may be old: another query that holds such an entity gets it as it is now.
  func finish(
    _ query: Query, from mark: RefreshMark, isComplete: Bool, startedAt: BackendMoment?
  ) throws(StoreError) -> Int {
    let key = RequestKey(filter: query.filterText, fields: "")
    if !query.isPaged { try refresher.recheckSettled(during: reading, of: query) }
    if isComplete { try refetchHeld(query, key, from: mark) }
    if isComplete, let startedAt,
      try local.noteEpoch(startedAt, in: engine.collection, from: mark)
    {
      try keepLost(query, from: mark)
    }
    return try local.finishRefresh(
      of: engine.collection, from: mark, deletingUnseen: isComplete ? query.selection : nil,
      recording: isComplete ? startedAt.map { (key, $0) } : nil)
  }

  /// Keeps what the backend confirmed when it had other data, and has not, or older. What only does not match the query any
  /// more is not lost.
  private func keepLost(_ query: Query, from mark: RefreshMark) throws(StoreError) {
    let isOfAll = query.matcher == nil
    var order: Int64 = 0
    while true {
      let unseen = try local.unseen(
        query.selection, from: mark, in: engine.collection, after: order, limit: Self.pageSize,
        within: call.budget)
      guard let last = unseen.last else { return }
      order = last.order
      let ids = unseen.map(\.id)
      let found = isOfAll ? [:] : try engine.backendEntities(ids, remote, call: call)
      try local.keepLost(
        ids.map { ($0, found[RecordID($0)].map { .entity($0.bytes) } ?? .gone) },
        in: engine.collection, from: mark)
    }
  }

  private func refetchHeld(
    _ query: Query, _ key: RequestKey, from mark: RefreshMark
  ) throws(StoreError) {
    let others = try refresher.heldQueries(but: key, during: reading)
    guard !others.isEmpty else { return }
    var order: Int64 = 0
    while true {
      let unseen = try local.unseen(
        query.selection, from: mark, in: engine.collection, after: order, limit: Self.pageSize,
        within: call.budget)
      guard let last = unseen.last else { return }
      order = last.order
      var held: [String] = []
      for row in unseen {
        let entity = try local.entity(row.id, in: engine.collection, writtenSince: nil)
        if let entity, others.contains(where: { $0.holds(entity) }) { held.append(row.id) }
      }
      _ = try settle(held, heldBy: others)
    }
  }

  /// Brings entities up to date that one of these queries asks for as they are on the backend; gives the ids
  /// of the others. The backend is asked only about what is here.
  func settle(_ ids: [String], heldBy others: [Query]) throws(StoreError) -> [String] {
    guard !ids.isEmpty, !others.isEmpty else { return ids }
    var gone = Set(ids.map(RecordID.init))
    for (key, entity) in try engine.backendEntities(try known(ids), remote, call: call)
    where engine.keeps(entity.bytes) && others.contains(where: { $0.holds(entity.bytes) }) {
      let outline = try refresher.arrivals.accepted(entity.bytes, as: key.text)
      try refresher.arrivals.store(entity.bytes, outline, in: local, of: reading)
      gone.remove(key)
    }
    return ids.filter { gone.contains(RecordID($0)) }
  }

  /// The ids of these that are in the local store.
  private func known(_ ids: [String]) throws(StoreError) -> [String] {
    var known: [String] = []
    for id in ids where try local.lend(id, in: engine.collection, writtenSince: nil, to: { _ in }) {
      known.append(id)
    }
    return known
  }
}
