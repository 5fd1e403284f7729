internal import KVBase
internal import KVQuery

/// Keeps a read that is under way from undoing what a write has settled since it began.
///
///     read    begins ─────── evaluated ──────────────────── stored
///     write            sent ────────── accepted, confirmed
///
/// The answer of that read shows the entity as it was before the write, and nothing is pending any more
/// that would protect it. So what a write settles is remembered for as long as reads are under way, and so is
/// what live data says. Storing an answer and confirming a write exclude each other; both are short.
///
/// It also knows what the reads under way ask for: what one of them has brought is wanted here, although nothing says so
/// before that read is recorded.
final class ReadWriteFence: Sendable {
  private struct State {
    /// What the reads that are under way ask for in full, by their numbers; nil: nothing.
    var reads: [Int: Query?] = [:]
    var lastNumber = 0
    var moment = 0
    /// When the fate of an entity was settled last; empty while no read is under way.
    var settled: [RecordID: Int] = [:]
    /// When a live message about an entity was last left out, because the entity is not wanted here; empty while no
    /// read is under way.
    var leftOut: [RecordID: Int] = [:]

    mutating func settle(_ ids: some Sequence<String>) {
      moment += 1
      for id in ids { settled[RecordID(id)] = moment }
    }

    func isSettled(_ id: String, since reading: Reading) -> Bool {
      settled[RecordID(id)].map { $0 > reading.moment } ?? false
    }

    /// Whether an answer may show an entity as it was before a message that was left out, or before it was settled.
    func mayBeOlder(_ id: String, in reading: Reading) -> Bool {
      isSettled(id, since: reading)
        || leftOut[RecordID(id)].map { $0 > reading.moment } ?? false
    }

    /// Records doubtful entities as settled, so that the reads ask for them again, and returns the count.
    mutating func note(_ change: ReplicaChange) -> Int {
      if !change.doubtful.isEmpty { settle(change.doubtful) }
      return change.count
    }
  }

  private let state = Monitor(State())

  /// When a read began.
  struct Reading {
    fileprivate let number: Int
    fileprivate let moment: Int
    /// The mark that rows written since then have passed in the local store; nil: it does not matter to this read.
    let mark: RefreshMark?
  }

  /// Runs a read, from before its request is sent until its answer is stored. `query`: all that matches it will be here
  /// afterwards. `mark`: from before it.
  func reading<R>(
    _ query: Query? = nil, since mark: RefreshMark? = nil,
    _ body: (Reading) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let reading = state.withLock { state in
      state.lastNumber += 1
      state.reads.updateValue(query, forKey: state.lastNumber)
      return Reading(number: state.lastNumber, moment: state.moment, mark: mark)
    }
    defer {
      state.withLock { state in
        state.reads.removeValue(forKey: reading.number)
        if state.reads.isEmpty { (state.settled, state.leftOut) = ([:], [:]) }
      }
    }
    return try body(reading)
  }

  /// What other reads ask for that are under way.
  func queries(besides reading: Reading) -> [Query] {
    state.withLock { state in
      state.reads.filter { $0.key != reading.number }.compactMap(\.value)
    }
  }

  /// Stores a part of a read's answer; gives how many entities. `mayBeOlder` says of an id whether a write or a live message
  /// has settled it since the read began; nil: none has been. The reader has to ask again for what is doubtful.
  func storing(
    _ reading: Reading,
    _ body: (_ mayBeOlder: ((String) -> Bool)?) throws(StoreError) -> ReplicaChange
  ) throws(StoreError) -> Int {
    try state.withLock { (state) throws(StoreError) in
      guard state.moment > reading.moment else { return state.note(try body(nil)) }
      let before = state
      return state.note(try body { before.mayBeOlder($0, in: reading) })
    }
  }

  /// Deletes what a read says is gone; gives how many. `body` receives those that nothing has settled since the read began.
  func forgetting(
    _ ids: [String], of reading: Reading, _ body: ([String]) throws(StoreError) -> ReplicaChange
  ) throws(StoreError) -> Int {
    try state.withLock { (state) throws(StoreError) in
      let unsettled = ids.filter { !state.isSettled($0, since: reading) }
      return state.note(try body(unsettled))
    }
  }

  /// Makes the local store agree with what the backend has accepted of these entities.
  func settling<R>(
    _ ids: some Sequence<String>, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try state.withLock { (state) throws(StoreError) in
      if !state.reads.isEmpty {
        state.settle(ids)
      }
      return try body()
    }
  }

  /// What a live message means for the reads under way.
  enum Message {
    /// The local store agrees with it now.
    case settled
    /// It is older than what is here.
    case old
    /// The entity is not here and not wanted; an answer that shows it may be older than the message.
    case leftOut
  }

  /// Makes the local store agree with what live data says of an entity.
  func settling(_ id: String, _ body: () throws(StoreError) -> Message) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      let message = try body()
      guard !state.reads.isEmpty else { return }
      switch message {
      case .settled: state.settle([id])
      case .old: break
      case .leftOut:
        state.moment += 1
        state.leftOut[RecordID(id)] = state.moment
      }
    }
  }

  /// The entities that were settled since a read began.
  func settled(since reading: Reading) -> [String] {
    state.withLock { state in
      guard state.moment > reading.moment else { return [] }
      return state.settled.filter { $0.value > reading.moment }.map(\.key.text)
    }
  }
}
