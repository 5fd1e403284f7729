internal import Glibc

/// A moment on the monotonic clock by which something has to be done, or never.
package struct Deadline: Sendable, Equatable {
  /// Nanoseconds on `CLOCK_MONOTONIC`; nil means never.
  package let nanoseconds: Int64?

  package static let never = Deadline(nanoseconds: nil)

  package init(nanoseconds: Int64?) { self.nanoseconds = nanoseconds }

  /// So many seconds from now. Negative, infinite or absurdly long spans mean never.
  package static func after(seconds: Double) -> Deadline {
    guard seconds >= 0, seconds < 1e9 else { return .never }
    return Deadline(nanoseconds: monotonicNanoseconds() + Int64(seconds * 1e9))
  }

  package var hasPassed: Bool { remainingSeconds <= 0 }

  /// Seconds left, not below 0; infinite for `never`.
  package var remainingSeconds: Double {
    guard let nanoseconds else { return .infinity }
    return max(0, Double(nanoseconds - monotonicNanoseconds()) / 1e9)
  }

  /// The earlier of two deadlines.
  package func earlier(_ other: Deadline) -> Deadline {
    guard let mine = nanoseconds else { return other }
    guard let theirs = other.nanoseconds else { return self }
    return mine <= theirs ? self : other
  }
}

/// Nanoseconds on the monotonic clock, which no one sets back.
package func monotonicNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
