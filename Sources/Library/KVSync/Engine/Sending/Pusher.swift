internal import KVBase

/// Sends what the queue of a collection has, for one call; conflicts that are left open are asked about.
struct Pusher {
  /// How many pending writes are looked at together.
  private static let pageSize = 500

  let engine: CollectionEngine
  let local: any LocalStore
  let remote: LocalFilteringRemote
  let call: Call
  let user: String?

  /// Throws if the store has no queue or no backend, or no user is logged in.
  init(_ engine: CollectionEngine, _ call: Call) throws(StoreError) {
    self.engine = engine
    self.call = call
    local = try engine.localStore(for: "push")
    remote = try engine.backend(for: "push")
    user = try engine.writer()
  }

  /// Sends all waiting writes, oldest first, each at most once; see `CollectionEngine.push`.
  func push() throws(StoreError) -> PushResult {
    if call.retriesQuarantined { try local.releaseQuarantined(in: engine.collection) }
    var queue = OrderedQueue(self)
    let result = try engine.sendGate.pushing(call) { () throws(StoreError) in
      engine.peers == nil ? try sendWaiting() : try queue.send()
    }
    var asked = try engine.peers == nil ? asking(result) : queue.asking()
    let scope = engine.peers == nil ? engine.collection : nil
    asked.quarantined = max(
      0, try local.pendingCount(in: scope) - local.waitingCount(in: scope))
    return asked
  }

  private func sendWaiting() throws(StoreError) -> PushResult {
    var push = Push(engine, local, remote: remote, call: call, user: user)
    // What is saved meanwhile comes later in the queue: it is for the next push.
    var left = try local.waitingCount(in: engine.collection)
    call.progress.update { $0.entitiesTotal = UInt64(max(0, left)) }
    var order: Int64 = 0
    while left > 0 {
      let page = try local.pending(
        in: engine.collection, after: order, limit: min(left, Self.pageSize), onlyWaiting: true)
      guard let last = page.last else { break }
      order = last.order
      left -= page.count
      try send(page, &push)
    }
    return try push.result()
  }

  /// Sends the pending write of one entity, if there is one; throws if the backend refuses it.
  func sendOne(_ id: String) throws(StoreError) {
    if let error = try send([id]).errors.first { throw error }
  }

  /// Sends the pending writes of some entities. Errors have the `id`; their `index` counts writes.
  func send(_ ids: [String]) throws(StoreError) -> PushResult { try asking(try sendOnce(ids)) }

  /// The same, without asking the conflict handler.
  func sendOnce(_ ids: [String]) throws(StoreError) -> PushResult {
    guard engine.peers == nil else {
      var queue = OrderedQueue(self)
      return try queue.send(through: ids)
    }
    var push = Push(engine, local, remote: remote, call: call, user: user)
    var seen: Set<RecordID> = []
    var page: [PendingWrite] = []
    for id in ids where seen.insert(RecordID(id)).inserted {
      guard let write = try local.pending(id, in: engine.collection)?.write else { continue }
      page.append(write)
      guard page.count == Self.pageSize else { continue }
      try send(page, &push)
      page = []
    }
    try send(page, &push)
    return try push.result()
  }

  /// Sends the current entities of a page as soon as no other push sends them.
  func send(_ page: [PendingWrite], _ push: inout Push) throws(StoreError) {
    guard !page.isEmpty else { return }
    try engine.sendGate.sending(page.map(\.id), push.call) { () throws(StoreError) in
      try push.send(page)
    }
  }
}
