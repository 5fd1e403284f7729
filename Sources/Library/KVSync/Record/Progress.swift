internal import KVBase

/// How far an operation is. Written by the operation, read from any thread.
///
/// No figure ever moves backwards: what is done twice, because a request was repeated, counts once, and a total
/// grows if more comes than was announced.
package final class Progress: Sendable {
  package struct Snapshot: Sendable, Equatable {
    package var entitiesDone: UInt64 = 0
    package var entitiesTotal: UInt64 = 0
    package var bytesDone: UInt64 = 0
    package var bytesTotal: UInt64 = 0
    package init() {}
  }

  private struct State {
    var now = Snapshot()
    var changed: (@Sendable (Snapshot) -> Void)?
  }

  private let state = Monitor(State())

  package init() {}

  /// Calls `changed` for every change from now on, in place of an earlier function, on the thread that makes the change.
  package func follow(_ changed: @escaping @Sendable (Snapshot) -> Void) {
    state.withLock { $0.changed = changed }
  }

  package var snapshot: Snapshot { state.withLock { $0.now } }

  package func update(_ change: (inout Snapshot) -> Void) {
    let (now, changed) = state.withLock { state in
      let before = state.now
      change(&state.now)
      state.now.keepRising(since: before)
      return (state.now, state.now == before ? nil : state.changed)
    }
    changed?(now)
  }

  /// A part that begins now: it counts its own entities from 0, also those that it has to take back.
  package func part() -> Part { Part(of: self, startingAt: snapshot.entitiesDone) }

  /// Safe from any thread: several requests may belong to one part.
  package final class Part: Sendable {
    private let whole: Progress
    private let start: UInt64
    private let done = Monitor(0)

    fileprivate init(of whole: Progress, startingAt start: UInt64) {
      self.whole = whole
      self.start = start
    }

    /// Says how many entities the part has.
    package func expect(_ count: Int) {
      whole.update { $0.entitiesTotal = start + UInt64(max(0, count)) }
    }

    package func advance(by count: Int) {
      let now = done.withLock { done in
        done += count
        return start + UInt64(max(0, done))
      }
      whole.update { $0.entitiesDone = now }
    }

    /// Takes back entities that have to be read again.
    package func subtract(_ count: Int) { done.withLock { $0 -= count } }
  }
}

extension Progress.Snapshot {
  /// Takes back what has fallen below an earlier one.
  fileprivate mutating func keepRising(since before: Progress.Snapshot) {
    entitiesDone = max(entitiesDone, before.entitiesDone)
    bytesDone = max(bytesDone, before.bytesDone)
    // 0 means unknown and stays that.
    if entitiesTotal > 0 {
      entitiesTotal = max(entitiesTotal, before.entitiesTotal, entitiesDone)
    }
    if bytesTotal > 0 { bytesTotal = max(bytesTotal, before.bytesTotal, bytesDone) }
  }
}
