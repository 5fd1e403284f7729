internal import KVBase

/// Time as writes and reads see it: never set back, and never ahead of a write that is not yet visible.
///
/// A client that read at `readStart()` and later asks for what changed since then misses nothing: a write
/// that its read did not see has that time or a later one.
final class ServerClock: Sendable {
  private struct State {
    var last: Int64
    /// Times of writes whose commit is not known to be visible, oldest first.
    var inFlight: [Int64] = []
  }

  private let state: Monitor<State>
  private let now: @Sendable () -> Timestamp

  /// `after`: the latest time that the data holds, in milliseconds.
  init(after: Int64, now: @escaping @Sendable () -> Timestamp = { Timestamp.now() }) {
    state = Monitor(State(last: after))
    self.now = now
  }

  /// The time of a write, taken inside its transaction, so that times follow the order of commits.
  /// `endWrite` must follow when the commit is visible or the write has failed.
  func beginWrite() -> Timestamp {
    let now = now().milliseconds
    return state.peek { state in
      state.last = max(state.last, now)
      state.inFlight.append(state.last)
      return Timestamp(milliseconds: state.last)
    }
  }

  /// The time of a write to something that was last written at `previous`: later than that. Times
  /// run ahead of the wall clock while one entity is written more than a thousand times a second.
  func time(_ now: Timestamp, after previous: Timestamp) -> Timestamp {
    if now > previous { return now }
    return state.peek { state in
      state.last = max(state.last, previous.milliseconds + 1)
      return Timestamp(milliseconds: previous.milliseconds + 1)
    }
  }

  func endWrite(_ time: Timestamp) {
    state.peek { state in
      guard let place = state.inFlight.firstIndex(of: time.milliseconds) else { return }
      state.inFlight.remove(at: place)
    }
  }

  /// The time of a read, taken before its snapshot.
  func readStart() -> Timestamp {
    let now = now().milliseconds
    return state.peek { state in
      state.last = max(state.last, now)
      return Timestamp(milliseconds: state.inFlight.first ?? state.last)
    }
  }

  /// The latest time given out, to go on from after a restart.
  var last: Timestamp { Timestamp(milliseconds: state.peek { $0.last }) }
}
