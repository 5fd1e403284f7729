internal import KVBase

/// Keeps a read that is under way from undoing what a write has settled since it began.
///
///     read    begins ─────── evaluated ──────────────────── stored
///     write            sent ────────── accepted, confirmed
///
/// The answer of that read shows the entity as it was before the write, and nothing is pending any more
/// that would protect it. So what a write settles is remembered for as long as reads are under way, and so is
/// what live data says. Storing an answer and confirming a write exclude each other; both are short.
final class ReadWriteFence: Sendable {
  private struct State {
    var reads = 0
    var moment = 0
    /// When the fate of an entity was settled last; empty while nobody reads.
    var settled: [RecordID: Int] = [:]
  }

  private let state = Monitor(State())

  /// When a read began.
  struct Reading {
    fileprivate let moment: Int
  }

  /// Runs a read, from before its request is sent until its answer is stored.
  func reading<R>(_ body: (Reading) throws(StoreError) -> R) throws(StoreError) -> R {
    let reading = state.withLock { state in
      state.reads += 1
      return Reading(moment: state.moment)
    }
    defer {
      state.withLock { state in
        state.reads -= 1
        if state.reads == 0 { state.settled = [:] }
      }
    }
    return try body(reading)
  }

  /// Stores a part of a read's answer. `isSettled` tells of an id whether a write has settled it since the
  /// read began; nil: none has been.
  func storing<R>(
    _ reading: Reading, _ body: (_ isSettled: ((String) -> Bool)?) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try state.withLock { (state) throws(StoreError) in
      guard state.moment > reading.moment else { return try body(nil) }
      let settled = state.settled
      return try body { id in settled[RecordID(id)].map { $0 > reading.moment } ?? false }
    }
  }

  /// Makes the local store agree with what the backend has accepted of these entities.
  func settling<R>(
    _ ids: some Sequence<String>, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try state.withLock { (state) throws(StoreError) in
      if state.reads > 0 {
        state.moment += 1
        for id in ids { state.settled[RecordID(id)] = state.moment }
      }
      return try body()
    }
  }

  /// Makes the local store agree with what live data says of an entity. `body` tells whether it does: what is
  /// older than what is here settles nothing.
  func settling(_ id: String, _ body: () throws(StoreError) -> Bool) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      guard try body(), state.reads > 0 else { return }
      state.moment += 1
      state.settled[RecordID(id)] = state.moment
    }
  }

  /// What was settled since a read began.
  func settled(since reading: Reading) -> [String] {
    state.withLock { state in
      guard state.moment > reading.moment else { return [] }
      return state.settled.filter { $0.value > reading.moment }.map(\.key.text)
    }
  }
}
