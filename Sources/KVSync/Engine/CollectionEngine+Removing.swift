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
      return Answered(try local.remove(query, in: collection), isLocal: true)
    case .forceNetwork:
      let direct = try DirectWriter(self, options.call)
      let count = try direct.removing(query) { () throws(StoreError) in
        let count = try direct.remote.remove(query, in: collection, call: options.call)
        if let local { try forgetRemoved(query, local) }
        return count
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
    let removed = try local.remove(query, in: collection)
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

  /// After a delete by query on the backend: the same here, except for what has changes to send.
  private func forgetRemoved(
    _ query: Query, _ local: any EntityReader & Replica
  ) throws(StoreError) {
    let cursor = try local.find(query.selection, in: collection, writtenSince: nil)
    defer { cursor.close() }
    var ids: [String] = []
    while let id = try cursor.next({ bytes in (try? EntityScanner.outline(of: bytes, format))?.id })
    {
      if let id { ids.append(id) }
    }
    try sendGate.fence.settling(ids) { () throws(StoreError) in
      _ = try local.forget(ids, in: collection)
    }
  }
}
