internal import KVBase
internal import KVJSON
package import KVQuery

/// What keeps a collection in step with the backend in the background.
extension CollectionEngine {
  /// Brings what matches up to date, beside writes that wait: their entities are left as they are here. What does not
  /// match leaves the local store if another query was kept before. A record that cannot be read holds up no other.
  package func synchronise(
    _ query: Query, _ call: Call, how: Refreshing
  ) throws(StoreError) -> SyncedCounts {
    let counts = Monitor(SyncedCounts())
    var counting = call
    counting.received = { records in
      counts.withLock { $0.count(records) }
      call.received?(records)
    }
    let refresher = try refresher(for: "synchronise", counting)
    let left = try narrow(to: query, in: refresher.local)
    let refreshed = try refresher.refresh(query, how)
    return counts.withLock { counts in
      counts.deleted = refreshed.removed + left
      (counts.isDelta, counts.isComplete) = (refreshed.isDelta, refreshed.isComplete)
      counts.isCapped = refreshed.isCapped
      return counts
    }
  }

  /// Removes what a query does not ask for, but for pending writes, if it was not read in full yet; gives how many entities
  /// went. Other queries are read in full again then: their entities may have gone. That is noted first, as the process may
  /// end before the second transaction.
  private func narrow(to query: Query, in local: any LocalStore) throws(StoreError) -> Int {
    let key = RequestKey(filter: query.filterText, fields: "")
    let known = try local.requests(in: collection)
    guard !known.contains(key) else { return 0 }
    if !known.isEmpty { try local.forgetRequest(nil, in: collection) }
    guard query.filter != .everything else { return 0 }
    var others = Query()
    others.filter = .nor([query.filter])
    let mark = try local.beginRefresh(of: collection)
    return try local.finishRefresh(
      of: collection, from: mark, deletingUnseen: others, recording: nil)
  }

  /// Brings the local store up to what a live message says of a collection of which only what matches is kept (nil: all);
  /// gives what it has changed here.
  package func applySynced(
    _ change: LiveChange, matching matcher: Matcher?
  ) throws(StoreError) -> [ReceivedRecord] {
    let local = try localStore(for: "take in live data")
    guard let id = change.id else { return [] }
    var change = change
    if case .saved(let entity, _, _) = change, let matcher,
      let version = format.version(of: entity), try !matcher.admits(entity)
    {
      change = .deleted(id: id, at: version.text)
    }
    let before = try local.entity(id, in: collection, writtenSince: nil)
    try apply(change, matching: matcher)
    let after = try local.entity(id, in: collection, writtenSince: nil)
    switch (before, after) {
    case (nil, .some): return [ReceivedRecord(id, .create)]
    case (.some, nil): return [ReceivedRecord(id, .delete)]
    case (let before, let after):
      return before == after ? [] : [ReceivedRecord(id, .update)]
    }
  }
}

extension LiveChange {
  /// The id of the entity; nil: it is not about one.
  fileprivate var id: String? {
    switch self {
    case .saved(_, let id, _), .deleted(let id, _), .tooLarge(let id, _): id
    case .said: nil
    }
  }
}

extension SyncedCounts {
  fileprivate mutating func count(_ records: [ReceivedRecord]) {
    for record in records {
      switch record.change {
      case .create: added += 1
      case .update: updated += 1
      case .delete: break
      }
    }
  }
}
