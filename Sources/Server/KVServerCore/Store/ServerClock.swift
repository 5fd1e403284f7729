package import KVBase

/// Time as writes and reads see it: never set back, and never ahead of a write that is not yet visible.
///
/// A client that read at `readStart()` and later asks for what changed since then misses nothing: a write
/// that its read did not see has that time or a later one.
///
/// Times that reads are given are covered by one that is stored with the data, somewhat ahead. So it is known for which
/// spans this data gave out no times; a client that has one of these has it from other data, of which this is an older
/// copy.
package final class ServerClock: Sendable {
  /// No write has a time between these two.
  package struct Gap: Sendable, Equatable {
    package var after: Int64
    package var until: Int64

    package init(after: Int64, until: Int64) {
      self.after = after
      self.until = until
    }
  }

  /// How many milliseconds restored data is ahead of the wall clock at first. The data that it replaces was less ahead, so what is
  /// written from now on is later than all that was lost.
  package static let restoredLead: Int64 = 20_000

  /// How many milliseconds the stored time is ahead when it is set. After a crash the clock goes on from there.
  private static let reserve: Int64 = 10_000
  /// The same while times are ahead of the wall clock, when each write takes a millisecond: so they are not further ahead after each of
  /// several crashes.
  private static let reserveAhead: Int64 = 100
  /// How many milliseconds the wall clock may be behind, because times run ahead of it, before it counts as set back.
  private static let tolerance: Int64 = 1_000

  private struct State {
    var last: Int64
    /// No read is given a later time.
    var covered: Int64
    /// Times of writes whose commit is not known to be visible, oldest first.
    var sendGate: [Int64] = []
    /// When something was deleted last, or what may have been deleted before the start.
    var lastDeletion: Int64
    /// Writes that were committed.
    var writes = 0
  }

  private let state: Monitor<State>
  private let gaps: [Gap]
  private let now: @Sendable () -> Timestamp

  /// `after`: the latest time that the data holds, in milliseconds. `covered`: what is stored of times.
  package init(
    after: Int64, covered: Int64 = .max, gaps: [Gap] = [],
    now: @escaping @Sendable () -> Timestamp = { Timestamp.now() }
  ) {
    state = Monitor(State(last: after, covered: covered, lastDeletion: after))
    self.gaps = gaps
    self.now = now
  }

  // MARK: Writes

  /// The time of a write, taken inside its transaction, so that times follow the order of commits.
  /// `endWrite` must follow when the commit is visible or the write has failed. While the wall clock is far behind, because it
  /// was ahead before, each write has a time of its own: what is written after a copy was made is later than what the copy has.
  package func beginWrite() -> Timestamp {
    let now = now().milliseconds
    return state.withLock { state in
      let isSetBack = now < state.last - Self.tolerance
      state.last = isSetBack ? state.last + 1 : max(state.last, now)
      state.sendGate.append(state.last)
      return Timestamp(milliseconds: state.last)
    }
  }

  /// The time of a write to something that was last written at `previous`: later than that. Times
  /// run ahead of the wall clock while one entity is written more than a thousand times a second.
  package func time(_ now: Timestamp, after previous: Timestamp) -> Timestamp {
    if now > previous { return now }
    return state.withLock { state in
      state.last = max(state.last, previous.milliseconds + 1)
      return Timestamp(milliseconds: previous.milliseconds + 1)
    }
  }

  /// The time at which something is deleted that was last written at `previous`: later than that.
  package func deletionTime(_ now: Timestamp, after previous: Timestamp) -> Timestamp {
    let time = time(now, after: previous)
    state.withLock { $0.lastDeletion = max($0.lastDeletion, time.milliseconds) }
    return time
  }

  /// The time at which something is created: later than all deletions before, one of which may have been its own.
  package func creationTime(_ now: Timestamp) -> Timestamp {
    time(now, after: Timestamp(milliseconds: state.withLock { $0.lastDeletion }))
  }

  package func endWrite(_ time: Timestamp) {
    state.withLock { state in
      state.writes += 1
      guard let index = state.sendGate.firstIndex(of: time.milliseconds) else { return }
      state.sendGate.remove(at: index)
    }
  }

  /// How many writes have ended.
  package var writes: Int { state.withLock { $0.writes } }

  // MARK: Reads

  /// The time of a read, taken before its snapshot.
  package func readStart() -> Timestamp {
    let now = now().milliseconds
    return state.withLock { state in
      state.last = max(state.last, now)
      return Timestamp(milliseconds: min(state.sendGate.first ?? state.last, state.covered))
    }
  }

  /// The time that has to be stored so that reads are given the present one; nil: there is no need.
  package func timeToStore() -> Int64? {
    let now = now().milliseconds
    return state.withLock { state in
      let time = max(now, state.last)
      guard time > state.covered else { return nil }
      return time + (time > now + Self.tolerance ? Self.reserveAhead : Self.reserve)
    }
  }

  /// Says that a time is stored.
  package func cover(_ stored: Int64) { state.withLock { $0.covered = max($0.covered, stored) } }

  /// Whether this data may have given out a time.
  package func hasGiven(_ time: Timestamp) -> Bool {
    time <= last
      && !gaps.contains { $0.after < time.milliseconds && time.milliseconds < $0.until }
  }

  /// The latest time given out, to go on from after a restart.
  package var last: Timestamp { Timestamp(milliseconds: state.withLock { $0.last }) }
}
