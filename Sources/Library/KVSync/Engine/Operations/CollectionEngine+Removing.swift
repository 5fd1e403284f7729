internal import KVBase
internal import KVJSON
package import KVQuery

extension CollectionEngine {
  // MARK: One

  /// Removes one entity; gives 1, or 0 if there was none.
  package func remove(
    id: String, if condition: WriteCondition = .none, options: CallOptions,
    early: (Int) -> Void = { _ in }
  ) throws(StoreError) -> Answered<Int> {
    try Self.checked(id)
    try check(condition)
    switch writePolicy(options) {
    case .forceLocal:
      let local = try localStore(for: "remove locally")
      return Answered(try local.remove(id, if: condition, in: collection), isLocal: true)
    case .forceNetwork:
      return Answered(
        try DirectWriter(self, options.call).remove(id, if: condition), isLocal: false)
    case .silentLocalThenNetwork, .localThenNetwork:
      return try removeBoth(id, if: condition, options: options, early: early)
    }
  }

  private func removeBoth(
    _ id: String, if condition: WriteCondition, options: CallOptions, early: (Int) -> Void
  ) throws(StoreError) -> Answered<Int> {
    let isSilent = options.writePolicy == .silentLocalThenNetwork
    let local = try localStore(for: "remove locally")
    _ = try writer()
    let removed = try local.remove(id, if: condition, in: collection)
    if !isSilent { early(removed) }
    do throws(StoreError) {
      if try local.pending(id, in: collection) != nil {
        try Pusher(self, isSilent ? options.impatient.call : options.call).sendOne(id)
      } else if removed == 0 {
        // Not here, but perhaps there.
        return Answered(try DirectWriter(self, options.call).remove(id, if: .none), isLocal: false)
      }
      return Answered(removed, isLocal: false)
    } catch {
      // Without a queued deletion nothing of it would ever be sent: then being offline is a failure.
      guard isSilent, error.isOffline, removed > 0 else { throw error }
      return Answered(removed, isLocal: true)
    }
  }

  // MARK: Many

  /// Removes what matches; gives how many.
  package func remove(
    _ query: Query, _ options: CallOptions, early: (Int) -> Void = { _ in }
  ) throws(StoreError) -> Answered<Int> {
    switch writePolicy(options) {
    case .forceLocal:
      let local = try localStore(for: "remove locally")
      return Answered(
        try local.remove(query, in: collection, writtenSince: writtenSince(options)), isLocal: true)
    case .forceNetwork:
      let direct = try DirectWriter(self, options.call)
      let count = try direct.removing(query) { () throws(StoreError) in
        let count = try direct.remote.remove(query, in: collection, call: options.call)
        guard let local else { return count }
        let ids = try ids(of: query, local)
        guard direct.remote.removesByReading else {
          try forget(ids, local)
          return count
        }
        let refresher = Refresher(self, local, remote: direct.remote, call: options.call)
        return try count + removeMissed(ids, query, by: refresher)
      }
      return Answered(count, isLocal: false)
    case .silentLocalThenNetwork, .localThenNetwork:
      return try removeBoth(query, options: options, early: early)
    }
  }

  private func removeBoth(
    _ query: Query, options: CallOptions, early: (Int) -> Void
  ) throws(StoreError) -> Answered<Int> {
    let isSilent = options.writePolicy == .silentLocalThenNetwork
    let call = isSilent ? options.impatient.call : options.call
    let local = try localStore(for: "remove locally")
    let direct = try DirectWriter(self, call)
    let removed = try local.remove(query, in: collection, writtenSince: writtenSince(options))
    if !isSilent { early(removed) }
    do throws(StoreError) {
      let count = try direct.removing(query) { () throws(StoreError) in
        try direct.remote.remove(query, in: collection, call: call)
      }
      try confirmDeletions(matching: query, local, remote: direct.remote, call: call)
      return Answered(max(count, removed), isLocal: false)
    } catch {
      guard isSilent, error.isOffline else { throw error }
      return Answered(removed, isLocal: true)
    }
  }

  /// After the backend has deleted what matched there: takes the queued deletions of what matched here off
  /// the queue. The backend's version of an entity need not have matched; what it still has is deleted
  /// there by its id.
  private func confirmDeletions(
    matching query: Query, _ local: any Outbox, remote: any Remote, call: Call
  ) throws(StoreError) {
    let matcher = query.of(format).matcher
    var order: Int64 = 0
    while case let page = try local.pending(
      in: collection, after: order, limit: 500, onlyWaiting: false),
      let last = page.last
    {
      order = last.order
      var deletions: [PendingWrite] = []
      for write in page where write.operation == .delete {
        guard let base = try local.pending(write.id, in: collection)?.base else { continue }
        do throws(QueryError) {
          if try matcher?.matches(base) ?? true { deletions.append(write) }
        } catch {
          throw StoreError(error)
        }
      }
      let left = try backendEntities(deletions.map(\.id), remote, call: call)
      let gone = deletions.filter { left[RecordID($0.id)] == nil }
      try sendGate.fence.settling(gone.map(\.id)) { () throws(StoreError) in
        try local.confirm(gone.map { AcceptedWrite($0, stored: nil) })
      }
      let result = try Pusher(self, call).send(left.keys.map(\.text))
      if let error = result.errors.first { throw error }
    }
  }

  // MARK: What matches here

  /// After a delete by query on the backend: the same here, except for what has changes to send.
  private func forget(_ ids: [String], _ local: any LocalStore) throws(StoreError) {
    try sendGate.fence.settling(ids) { () throws(StoreError) in
      _ = try local.forget(ids, in: collection)
      try local.noteDeletions(ids, in: collection)
    }
  }

  private func ids(of query: Query, _ local: any EntityReader) throws(StoreError) -> [String] {
    let cursor = try local.find(query.selection, in: collection, writtenSince: nil)
    defer { cursor.close() }
    var ids: [String] = []
    while let id = try cursor.next({ bytes in (try? EntityScanner.outline(of: bytes, format))?.id })
    {
      if let id { ids.append(id) }
    }
    return ids
  }

  /// After a delete by query on a backend that reads what matches: brings what matches here up to date, and deletes what that
  /// read has missed, unless others have changed it so that it no longer matches. Gives how many it has deleted there.
  private func removeMissed(
    _ ids: [String], _ query: Query, by refresher: Refresher
  ) throws(StoreError) -> Int {
    let removal = MatchingRemoval(
      refresher.remote, query.selection, in: collection, call: refresher.call)
    var (ids, removed) = (ids, 0)
    for _ in 0..<MatchingRemoval.maxAttempts {
      var there: [(id: String, entity: BackendEntity)] = []
      try refresher.refresh(ids) { there.append(($0.text, $1)) }
      var deletions: [(id: String, write: RemoteWrite)] = []
      for (id, entity) in there {
        if let write = try removal.deletion(of: id, entity) { deletions.append((id, write)) }
      }
      guard !deletions.isEmpty else { return removed }
      var changed: [String] = []
      removed += try removal.send(deletions.map(\.write), changed: &changed)
      ids = deletions.map(\.id)
    }
    throw StoreError(.conflict, "Others keep changing what is to be removed.")
  }
}
