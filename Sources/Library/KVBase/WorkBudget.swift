internal import Synchronization

/// Limits how long work may go on: until its deadline, until its caller has gone, or
/// until it is cancelled. Once exhausted, it stays so.
///
/// The time is a deadline, or so many seconds of work: then it runs between `resume` and `pause` only, so that
/// waiting for a free thread, or for a client that reads slowly, costs none of it.
///
/// The work asks `isExhausted` between steps of up to some microseconds, and gives up if it is.
/// Nothing else has to watch the time: every 64th question looks at the clock, and every 10 ms at the asker.
/// Safe from any thread; a question costs a few nanoseconds.
package final class WorkBudget: Sendable {
  package enum Exhaustion: UInt8, Sendable {
    /// `cancel` was called.
    case cancelled = 1
    case timeIsOver
    /// No caller is left to take the result.
    case abandoned
  }

  /// A budget that is never exhausted.
  package static let unlimited = WorkBudget(isLimited: false, .never, isAbandoned: nil)

  private static let questionsPerLook = 64
  private static let nanosecondsPerProbe: Int64 = 10_000_000

  private let isLimited: Bool
  /// The end of the work on the monotonic clock; `never`: no end.
  private let deadline: Atomic<Int64>
  /// Nanoseconds of work that are left while the time does not run.
  private let left: Atomic<Int64>
  private let isAbandoned: (@Sendable () -> Bool)?
  /// An `Exhaustion`, 0 while there is none.
  private let reason = Atomic<UInt8>(0)
  private let questions = Atomic<Int>(0)
  /// When `isAbandoned` is asked next, on the monotonic clock.
  private let nextProbe: Atomic<Int64>

  private static let never = Int64.max

  /// `isAbandoned` says whether the asker has gone; it is called on the threads that do the work.
  package convenience init(
    until deadline: Deadline, isAbandoned: (@Sendable () -> Bool)? = nil
  ) {
    self.init(isLimited: true, deadline, isAbandoned: isAbandoned)
  }

  /// Makes a budget of some seconds of work, which begin with `resume`.
  package convenience init(seconds: Double, isAbandoned: (@Sendable () -> Bool)? = nil) {
    self.init(isLimited: true, .never, isAbandoned: isAbandoned)
    left.store(Int64(max(0, min(seconds, 1e9)) * 1e9), ordering: .relaxed)
  }

  private init(
    isLimited: Bool, _ deadline: Deadline, isAbandoned: (@Sendable () -> Bool)?
  ) {
    self.isLimited = isLimited
    self.deadline = Atomic(deadline.nanoseconds ?? Self.never)
    self.isAbandoned = isAbandoned
    left = Atomic(Self.never)
    nextProbe = Atomic(isLimited ? monotonicNanoseconds() &+ Self.nanosecondsPerProbe : 0)
  }

  /// Lets the time run. One thread at a time works between this and `pause`.
  package func resume() {
    let left = left.load(ordering: .relaxed)
    guard left != Self.never else { return }
    deadline.store(monotonicNanoseconds() &+ left, ordering: .relaxed)
  }

  /// Stops counting the time.
  package func pause() {
    guard left.load(ordering: .relaxed) != Self.never else { return }
    let end = deadline.exchange(Self.never, ordering: .relaxed)
    guard end != Self.never else { return }
    left.store(max(0, end &- monotonicNanoseconds()), ordering: .relaxed)
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
    if now >= deadline.load(ordering: .relaxed) {
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
