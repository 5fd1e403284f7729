internal import KVBase

/// When a request that failed goes out again: the only code that decides it.
///
/// Only what is safe to repeat gets here: reads, and writes that carry the id of their entity. The pauses
/// grow twofold and are drawn at random from nothing to their full length ("full jitter"), so that clients
/// that failed together do not come back together. They end with the call's deadline: a pause that would
/// outlast it is not begun.
package struct Retry: Sendable {
  /// How often a request is sent again at the most; 0: never.
  package var limit: Int
  /// Whether a request without an answer is sent again. Not where something local takes its place at once.
  package var afterSilence = true
  /// The clock that waits, and the source of randomness.
  package var clock: any RetryClock

  /// The longest first pause, in seconds.
  private static let first = 0.2
  /// No pause is longer, unless the backend asks for it.
  private static let longest = 30.0

  package init(limit: Int, clock: any RetryClock = SystemRetryClock()) {
    self.limit = limit
    self.clock = clock
  }

  package static let off = Retry(limit: 0)

  /// Seconds to wait before the attempt after `attempt`, which counts from 0. What the backend asked for is
  /// waited for in any case.
  func pause(after attempt: Int, _ error: StoreError) -> Double {
    Self.pause(after: attempt, first: Self.first, longest: Self.longest, share: clock.random())
      + (error.answer?.retryAfter ?? 0)
  }

  /// `share`: of the full length, from 0 to 1.
  package static func pause(
    after attempt: Int, first: Double, longest: Double, share: Double
  ) -> Double {
    var full = first
    for _ in 0..<min(max(0, attempt), 64) where full < longest { full *= 2 }
    return min(full, longest) * share
  }

  /// Whether another attempt may come to something else.
  func isWorthwhile(after attempt: Int, _ error: StoreError) -> Bool {
    attempt < limit && error.failureClass == .passing && (afterSilence || !error.isOffline)
  }
}

extension StoreError {
  /// This error with the number of its attempt, from 0.
  func of(attempt: Int) -> StoreError {
    var error = self
    error.followsFailure = attempt > 0 && (isRefusal || failureClass == .conflict)
    return error
  }
}

/// What a retry needs of the world, so that tests need not wait.
package protocol RetryClock: Sendable {
  /// From 0 to 1.
  func random() -> Double
  /// Waits for some seconds. False, and at once, if the deadline comes first. Throws `.cancelled` the moment the call is.
  func wait(_ seconds: Double, _ call: Call) throws(StoreError) -> Bool
}

/// The clock and the random numbers of the system.
package struct SystemRetryClock: RetryClock {
  package init() {}

  package func random() -> Double { Double.random(in: 0...1) }

  package func wait(_ seconds: Double, _ call: Call) throws(StoreError) -> Bool {
    guard seconds < call.deadline.remainingSeconds else { return false }
    let isOver = Monitor(false)
    let isCancelled = call.cancellation.notifying {
      isOver.withLockNotifyingAll { $0 = true }
    } during: {
      isOver.wait(until: .after(seconds: seconds)) { $0 ? true : nil } ?? false
    }
    if isCancelled { throw StoreError(.cancelled, "The call was cancelled.") }
    return true
  }
}

extension Call {
  /// Runs a request that is safe to repeat, again if that is worthwhile. `body` starts from the beginning each
  /// time.
  package func repeating<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    var attempt = 0
    while true {
      do throws(StoreError) { return try body() } catch {
        guard retry.isWorthwhile(after: attempt, error),
          try retry.clock.wait(retry.pause(after: attempt, error), self)
        else { throw error.of(attempt: attempt) }
        attempt += 1
      }
    }
  }
}
