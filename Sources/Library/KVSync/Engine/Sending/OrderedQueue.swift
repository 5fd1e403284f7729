internal import KVBase

/// Sends what the queue of all collections has, in its order, for one call: a record's creation before those of the
/// records that lead to it, and their deletions before its own. What the backend refuses holds up nothing; what has no
/// answer holds up all that is behind it.
struct OrderedQueue {
  private static let pageSize = 500

  private struct Part {
    let pusher: Pusher
    var push: Push
  }

  private let asked: Pusher
  private var parts: [RecordID: Part] = [:]

  /// `asked`: of the collection whose push it is.
  init(_ asked: Pusher) { self.asked = asked }

  private var own: RecordID { RecordID(asked.engine.collection) }

  /// Sends what waits, each write at most once.
  mutating func send() throws(StoreError) -> PushResult {
    let local = asked.local
    // What is saved meanwhile comes later in the queue: it is for the next push.
    let count = try local.waitingCount(in: nil)
    asked.call.progress.update { $0.entitiesTotal = UInt64(max(0, count)) }
    try send(count, through: .max)
    var sum = PushResult()
    for part in parts.values { sum.add(try part.push.result()) }
    return sum
  }

  /// Sends the pending writes of some entities of the collection, and what is in front of them. The result is that of
  /// these entities.
  mutating func send(through ids: [String]) throws(StoreError) -> PushResult {
    var last: Int64 = 0
    for id in ids {
      last = max(
        last, try asked.local.pending(id, in: asked.engine.collection)?.write.order ?? 0)
    }
    try send(.max, through: last)
    guard var result = try parts[own]?.push.result() else { return PushResult() }
    let wanted = Set(ids.map(RecordID.init))
    result.errors.removeAll { error in error.id.map { !wanted.contains(RecordID($0)) } ?? false }
    return result
  }

  /// Asks about the conflicts of each collection, and sums up.
  func asking() throws(StoreError) -> PushResult {
    var sum = PushResult()
    for part in parts.values { sum.add(try part.pusher.asking(try part.push.result())) }
    return sum
  }

  private mutating func send(_ count: Int, through last: Int64) throws(StoreError) {
    var left = count
    var order: Int64 = 0
    while left > 0, order < last {
      let page = try asked.local.waiting(after: order, limit: min(left, Self.pageSize))
      guard let end = page.last else { return }
      order = end.order
      left -= page.count
      for run in page.prefix(while: { $0.order <= last }).runs { try send(run) }
    }
  }

  /// Sends writes of one collection.
  private mutating func send(_ run: [PendingWrite]) throws(StoreError) {
    let collection = RecordID(run[0].collection)
    var part = if let known = parts[collection] { known } else { try self.part(collection) }
    defer { parts[collection] = part }
    try part.pusher.send(run, &part.push)
  }

  private func part(_ collection: RecordID) throws(StoreError) -> Part {
    var pusher = asked
    if collection != own, let peers = asked.engine.peers {
      let (engine, call) = try peers(collection.text, asked.call)
      pusher = try Pusher(engine, call)
    }
    let push = Push(
      pusher.engine, pusher.local, remote: pusher.remote, call: pusher.call, user: pusher.user)
    return Part(pusher: pusher, push: push)
  }
}

extension Sequence<PendingWrite> {
  /// Cut where the collection changes.
  fileprivate var runs: [[PendingWrite]] {
    reduce(into: []) { runs, write in
      if let last = runs.last?.last, last.collection.hasSameBytes(as: write.collection) {
        runs[runs.count - 1].append(write)
      } else {
        runs.append([write])
      }
    }
  }
}

extension PushResult {
  fileprivate mutating func add(_ other: PushResult) {
    pushed += other.pushed
    errors += other.errors
    overwritten += other.overwritten
    discarded += other.discarded
  }
}
