internal import KVBase
internal import KVQuery

/// Which records of a collection are kept here while it is synchronised in the background, and whether the others have
/// left. Shared by all engines of the tag and collection in this process.
final class KeptRecords: Sendable {
  private struct State {
    /// Nil: all records are kept.
    var query: Query?
    /// Goes up when records may be here that are not kept.
    var wanted = 1
    var done = 0
  }

  private let state = Monitor(State())

  /// What is kept; nil: everything.
  var query: Query? { state.withLock { $0.query } }

  /// Keeps only what matches from now on.
  func keep(_ query: Query) {
    let new = query.filter == .everything ? nil : query.selection
    state.withLock { state in
      guard state.query != new else { return }
      state.query = new
      state.wanted += 1
    }
  }

  /// Records may be here that are not kept.
  func sweepAgain() { state.withLock { $0.wanted += 1 } }

  /// Runs `body` with what is kept if records may be here that are not. It returns whether all of these have left.
  func sweeping(_ body: (Query) throws(StoreError) -> Bool) throws(StoreError) {
    let (query, wanted) = state.withLock { ($0.done < $0.wanted ? $0.query : nil, $0.wanted) }
    guard let query, try body(query) else { return }
    state.withLock { $0.done = wanted }
  }
}

extension CollectionEngine {
  /// Whether an entity is kept here. What cannot be evaluated is kept rather than lost.
  func keeps(_ entity: [UInt8]) -> Bool { sendGate.kept.query?.of(format).holds(entity) ?? true }

  /// Lets entities leave the local store that are not kept, now that they are pushed. It runs after the backend has accepted
  /// them, so a failure must not undo that: the next read tries again.
  func releaseUnkept(_ ids: some Sequence<String>) {
    guard let local, let kept = sendGate.kept.query?.of(format) else { return }
    do throws(StoreError) {
      _ = try local.release(Array(ids), in: collection, at: nil) { !kept.holds($0) }
    } catch {
      sendGate.kept.sweepAgain()
    }
  }

  /// Lets all entities leave the local store that are not kept, except for those with a pending write; gives how many
  /// went. `key`: of the query that is kept. Other queries are read in full again then.
  func sweepUnkept(_ key: RequestKey, in local: any LocalStore, _ call: Call) throws(StoreError)
    -> Int
  {
    var count = 0
    try sendGate.kept.sweeping { (query) throws(StoreError) in
      let isFinal = try local.pendingCount(in: collection) == 0
      let kept = query.of(format)
      var others = Query()
      others.filter = .nor([query.filter])
      let mark = try local.beginRefresh(of: collection)
      var order: Int64 = 0
      while true {
        let unkept = try local.unseen(
          others, from: mark, in: collection, after: order, limit: 1_000, within: call.budget)
        guard let last = unkept.last else { return isFinal }
        if order == 0 {
          for other in try local.requests(in: collection) where other != key {
            try local.forgetRequest(other, in: collection)
          }
        }
        order = last.order
        count += try local.release(unkept.map(\.id), in: collection, at: nil) { !kept.holds($0) }
      }
    }
    return count
  }
}

extension Query {
  /// Whether it asks for an entity. What cannot be evaluated here is kept rather than lost.
  func holds(_ entity: [UInt8]) -> Bool {
    do throws(QueryError) { return try matcher?.matches(entity) ?? true } catch { return true }
  }
}
