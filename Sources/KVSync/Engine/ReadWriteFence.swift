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
    /// The reads that are under way, by their numbers.
    var reads: [Int: Read] = [:]
    var lastNumber = 0
    var moment = 0
    /// When the fate of an entity was settled last; empty while nobody reads.
    var settled: [RecordID: Settlement] = [:]

    mutating func settle(_ ids: some Sequence<String>, by reading: Reading? = nil) {
      moment += 1
      let settlement = Settlement(moment: moment, reading: reading?.number)
      for id in ids { settled[RecordID(id)] = settlement }
    }
  }

  private struct Read {
    /// What it asks for in full; nil: nothing.
    let query: Query?
    /// Whether another read was under way at the same time.
    var isOverlapped: Bool
  }

  private struct Settlement {
    let moment: Int
    /// The read that has settled it, by its number; nil: something else, of which every read has to know.
    let reading: Int?

    func concerns(_ reading: Reading) -> Bool {
      moment > reading.moment && self.reading != reading.number
    }
  }

  private let state = Monitor(State())

  /// When a read began.
  struct Reading {
    fileprivate let number: Int
    fileprivate let moment: Int
    /// What was written since then is newer than this in the local store; nil: it does not matter to this read.
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
      for number in state.reads.keys { state.reads[number]?.isOverlapped = true }
      state.reads[state.lastNumber] = Read(query: query, isOverlapped: !state.reads.isEmpty)
      return Reading(number: state.lastNumber, moment: state.moment, mark: mark)
    }
    defer {
      state.withLock { state in
        state.reads[reading.number] = nil
        if state.reads.isEmpty { state.settled = [:] }
      }
    }
    return try body(reading)
  }

  /// What other reads ask for that are under way.
  func queries(besides reading: Reading) -> [Query] {
    state.withLock { state in
      state.reads.filter { $0.key != reading.number }.compactMap(\.value.query)
    }
  }

  /// Stores a part of a read's answer. `isSettled` tells of an id whether a write has settled it since the
  /// read began; nil: none has been. `isOverlapped`: another read may have brought some of it by a later answer.
  func storing<R>(
    _ reading: Reading,
    _ body: (_ isSettled: ((String) -> Bool)?, _ isOverlapped: Bool) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try state.withLock { (state) throws(StoreError) in
      let isOverlapped = state.reads[reading.number]?.isOverlapped ?? false
      guard state.moment > reading.moment else { return try body(nil, isOverlapped) }
      let settled = state.settled
      return try body({ settled[RecordID($0)]?.concerns(reading) ?? false }, isOverlapped)
    }
  }

  /// Deletes what a read says is gone, which other reads under way have to know: the answer of one of them may be older.
  /// `body` receives those that nothing has settled since the read began, and gives those of them of which it cannot tell
  /// either whether they are gone: the read has to ask for these again.
  func forgetting(
    _ ids: [String], of reading: Reading, _ body: ([String]) throws(StoreError) -> [String]
  ) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      let unsettled = ids.filter { state.settled[RecordID($0)]?.concerns(reading) != true }
      let doubtful = try body(unsettled)
      if state.reads.count > 1 { state.settle(unsettled, by: reading) }
      if !doubtful.isEmpty { state.settle(doubtful) }
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

  /// Makes the local store agree with what live data says of an entity. `body` tells whether it does: what is
  /// older than what is here settles nothing.
  func settling(_ id: String, _ body: () throws(StoreError) -> Bool) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      guard try body(), !state.reads.isEmpty else { return }
      state.settle([id])
    }
  }

  /// What was settled since a read began.
  func settled(since reading: Reading) -> [String] {
    state.withLock { state in
      guard state.moment > reading.moment else { return [] }
      return state.settled.filter { $0.value.concerns(reading) }.map(\.key.text)
    }
  }
}
