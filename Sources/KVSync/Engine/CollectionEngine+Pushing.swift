internal import KVBase

extension CollectionEngine {
  /// How many pending writes are looked at together.
  private static let pageSize = 500

  // MARK: Push

  /// Sends all waiting writes of the collection, oldest first, each at most once. With `call.retriesQuarantined` those
  /// that were set aside wait as well.
  ///
  /// What the backend refuses stays with its error and holds up nothing; what it would refuse again is set
  /// aside. When nobody answers, or
  /// the session has ended, the rest is not tried: that error is thrown, and what was accepted before
  /// is accepted.
  package func push(_ call: Call) throws(StoreError) -> PushResult {
    let local = try localStore(for: "push")
    let remote = try backend(for: "push")
    let user = try writer()
    if call.retriesQuarantined { try local.releaseQuarantined(in: collection) }
    let result = try inFlight.pushing(call) { () throws(StoreError) in
      var push = Push(self, local, remote: remote, call: call, user: user)
      // What is saved meanwhile goes behind: it is for the next push.
      var left = try local.waitingCount(in: collection)
      call.progress.update { $0.entitiesTotal = UInt64(max(0, left)) }
      var order: Int64 = 0
      while left > 0 {
        let page = try local.pending(
          in: collection, after: order, limit: min(left, Self.pageSize), onlyWaiting: true)
        guard let last = page.last else { break }
        order = last.order
        left -= page.count
        try send(page, &push)
      }
      return try push.result()
    }
    var asked = try asking(result, call)
    asked.quarantined = max(
      0, try local.pendingCount(in: collection) - local.waitingCount(in: collection))
    return asked
  }

  /// Sends the pending write of one entity, if there is one; throws if the backend refuses it.
  func sendOne(_ id: String, _ call: Call) throws(StoreError) {
    let result = try send([id], call)
    if let error = result.errors.first { throw error }
  }

  /// Sends the pending writes of some entities. Errors have the `id`; their `index` counts writes.
  func send(_ ids: [String], _ call: Call) throws(StoreError) -> PushResult {
    try asking(try sendOnce(ids, call), call)
  }

  /// The same; nobody is asked about conflicts.
  func sendOnce(_ ids: [String], _ call: Call) throws(StoreError) -> PushResult {
    let local = try localStore(for: "push")
    var push = Push(self, local, remote: try backend(for: "push"), call: call, user: try writer())
    var seen: Set<RecordID> = []
    var page: [PendingWrite] = []
    for id in ids where seen.insert(RecordID(id)).inserted {
      guard let write = try local.pending(id, in: collection)?.write else { continue }
      page.append(write)
      guard page.count == Self.pageSize else { continue }
      try send(page, &push)
      page = []
    }
    try send(page, &push)
    return try push.result()
  }

  /// Sends a page as its entities are once nobody else sends them.
  private func send(_ page: [PendingWrite], _ push: inout Push) throws(StoreError) {
    guard !page.isEmpty else { return }
    try inFlight.sending(page.map(\.id), push.call) { () throws(StoreError) in
      try push.send(page)
    }
  }
}
