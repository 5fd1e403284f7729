internal import Synchronization

/// How much longer work for somebody may go on: until its deadline, until whoever asked for it has gone, or
/// until it is cancelled. Once exhausted, it stays so.
///
/// Whoever does the work asks `isExhausted` between steps of up to some microseconds, and gives up if it is.
/// Nothing else has to watch the time: every 64th question looks at the clock, and every 10 ms at the asker.
/// Safe from any thread; a question costs a few nanoseconds.
package final class WorkBudget: Sendable {
  package enum Exhaustion: UInt8, Sendable {
    /// Somebody called `cancel`.
    case cancelled = 1
    case timeIsOver
    /// Nobody is left to take the result.
    case abandoned
  }

  /// For work that nothing bounds.
  package static let unlimited = WorkBudget(isLimited: false, .never, isAbandoned: nil)

  private static let questionsPerLook = 64
  private static let nanosecondsPerProbe: Int64 = 10_000_000

  private let isLimited: Bool
  private let deadline: Deadline
  private let isAbandoned: (@Sendable () -> Bool)?
  /// An `Exhaustion`, 0 while there is none.
  private let reason = Atomic<UInt8>(0)
  private let questions = Atomic<Int>(0)
  /// When `isAbandoned` is asked next, on the monotonic clock.
  private let nextProbe: Atomic<Int64>

  /// `isAbandoned` says whether the asker has gone; it is called on the threads that do the work.
  package convenience init(
    until deadline: Deadline, isAbandoned: (@Sendable () -> Bool)? = nil
  ) {
    self.init(isLimited: true, deadline, isAbandoned: isAbandoned)
  }

  private init(
    isLimited: Bool, _ deadline: Deadline, isAbandoned: (@Sendable () -> Bool)?
  ) {
    self.isLimited = isLimited
    self.deadline = deadline
    self.isAbandoned = isAbandoned
    nextProbe = Atomic(isLimited ? monotonicNanoseconds() &+ Self.nanosecondsPerProbe : 0)
  }

  /// Whether the work has to end.
  package var isExhausted: Bool {
    guard isLimited else { return false }
    if reason.load(ordering: .relaxed) != 0 { return true }
    // Not one step, on purpose: threads that ask at the same time may share a number, which does no harm.
    let number = questions.load(ordering: .relaxed) &+ 1
    questions.store(number, ordering: .relaxed)
    return number % Self.questionsPerLook == 0 && look() != nil
  }

  /// Why the work has to end; nil while it may go on. Looks at the clock.
  package var exhaustion: Exhaustion? {
    guard isLimited else { return nil }
    return Exhaustion(rawValue: reason.load(ordering: .relaxed)) ?? look()
  }

  /// Ends the work at its next question. The first reason counts.
  package func cancel() { exhaust(.cancelled) }

  private func look() -> Exhaustion? {
    let now = monotonicNanoseconds()
    if let end = deadline.nanoseconds, now >= end {
      exhaust(.timeIsOver)
    } else if let isAbandoned, now >= nextProbe.load(ordering: .relaxed) {
      nextProbe.store(now &+ Self.nanosecondsPerProbe, ordering: .relaxed)
      if isAbandoned() { exhaust(.abandoned) }
    }
    return Exhaustion(rawValue: reason.load(ordering: .relaxed))
  }

  private func exhaust(_ cause: Exhaustion) {
    guard isLimited else { return }
    _ = reason.compareExchange(expected: 0, desired: cause.rawValue, ordering: .relaxed)
  }
}
