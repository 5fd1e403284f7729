internal import KVBase

/// Keeps a read that is under way from undoing what a write has settled since it began.
///
///     read    begins ─────── evaluated ──────────────────── stored
///     write            sent ────────── accepted, confirmed
///
/// The answer of that read shows the entity as it was before the write, and nothing is pending any more
/// that would protect it. So what a write settles is remembered for as long as reads are under way.
/// Storing an answer and confirming a write exclude each other; both are short.
final class Settlements: Sendable {
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
    let reading = state.peek { state in
      state.reads += 1
      return Reading(moment: state.moment)
    }
    defer {
      state.peek { state in
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
    try state.peek { (state) throws(StoreError) in
      guard state.moment > reading.moment else { return try body(nil) }
      let settled = state.settled
      return try body { id in settled[RecordID(id)].map { $0 > reading.moment } ?? false }
    }
  }

  /// Makes the local store agree with what the backend has accepted of these entities.
  func settling<R>(
    _ ids: some Sequence<String>, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try state.peek { (state) throws(StoreError) in
      if state.reads > 0 {
        state.moment += 1
        for id in ids { state.settled[RecordID(id)] = state.moment }
      }
      return try body()
    }
  }
}
