internal import KVBase
internal import KVJSON
internal import KVQuery

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
    if !query.isPaged { try refresher.recheckSettled(during: reading) }
    if isComplete { try refetchHeld(query, key, from: mark) }
    return try local.finishRefresh(
      of: engine.collection, from: mark, deletingUnseen: isComplete ? query.selection : nil,
      recording: isComplete ? startedAt.map { (key, $0) } : nil)
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
    where others.contains(where: { $0.holds(entity.bytes) }) {
      let outline = try engine.accepted(entity.bytes, as: key.text)
      try engine.store(entity.bytes, outline, in: local, of: reading)
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

extension Query {
  /// Whether it asks for an entity. What cannot be evaluated here is kept rather than lost.
  fileprivate func holds(_ entity: [UInt8]) -> Bool {
    do throws(QueryError) { return try matcher?.matches(entity) ?? true } catch { return true }
  }
}
