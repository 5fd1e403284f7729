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
    let left = try narrow(to: query, in: refresher.local, call)
    let refreshed = try refresher.refresh(query, how)
    return counts.withLock { counts in
      counts.deleted = refreshed.removed + left
      (counts.isDelta, counts.isComplete) = (refreshed.isDelta, refreshed.isComplete)
      counts.isCapped = refreshed.isCapped
      return counts
    }
  }

  /// Keeps only what a query asks for from now on: the rest leaves, except for pending writes, at the first read of each
  /// process and whenever something else may be here; gives how many entities went. Other queries are read in full again if
  /// this one was not read in full yet: their entities may have gone. That is noted first, as the process may end before
  /// the second transaction.
  private func narrow(
    to query: Query, in local: any LocalStore, _ call: Call
  ) throws(StoreError) -> Int {
    sendGate.kept.keep(query)
    let key = RequestKey(filter: query.filterText, fields: "")
    let known = try local.requests(in: collection)
    if !known.contains(key) {
      if !known.isEmpty { try local.forgetRequest(nil, in: collection) }
      sendGate.kept.sweepAgain()
    }
    // Another process may push these.
    if try local.pendingCount(in: collection) > 0 { sendGate.kept.sweepAgain() }
    return try sweepUnkept(key, in: local, call)
  }

  /// Something else than what is kept may be here: a write was dropped, or the local data changed otherwise.
  package func sweepUnkeptAgain() { sendGate.kept.sweepAgain() }

  /// Brings the local store up to what a live message says of a collection of which only what matches is kept (nil: all);
  /// gives what it has changed here.
  package func applySynced(
    _ change: LiveChange, matching matcher: Matcher?
  ) throws(StoreError) -> [ReceivedRecord] {
    let local = try localStore(for: "take in live data")
    guard let id = change.id else { return [] }
    let before = try local.entity(id, in: collection, writtenSince: nil)
    try arrivals.apply(change, matching: matcher, keepsOthers: false, in: local)
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
