internal import Glibc
internal import Synchronization

/// A moment on the monotonic clock by which something has to be done, or never. One that allows for progress moves on with it.
package struct Deadline: Sendable, Equatable {
  private let moment: Int64?
  private let patience: Patience?

  /// Nanoseconds on `CLOCK_MONOTONIC`; nil means never.
  package var nanoseconds: Int64? { patience?.end.load(ordering: .relaxed) ?? moment }

  package static let never = Deadline(nanoseconds: nil)

  package init(nanoseconds: Int64?) { (moment, patience) = (nanoseconds, nil) }

  private init(_ patience: Patience) { (moment, self.patience) = (nil, patience) }

  /// So many seconds from now. Negative, infinite or absurdly long spans mean never.
  package static func after(seconds: Double) -> Deadline {
    guard seconds >= 0, seconds < 1e9 else { return .never }
    return Deadline(nanoseconds: monotonicNanoseconds() + Int64(seconds * 1e9))
  }

  /// So many seconds without progress from now on: see `noteProgress`. Negative, infinite or absurdly long spans mean never.
  package static func after(secondsWithoutProgress seconds: Double) -> Deadline {
    guard seconds >= 0, seconds < 1e9 else { return .never }
    return Deadline(Patience(Int64(seconds * 1e9)))
  }

  /// Has the time begin anew, if the deadline allows for progress. From any thread.
  package func noteProgress() { patience?.begin() }

  /// The same once so many bytes have travelled that it is progress: 16 KiB. A transfer that only drips makes none.
  package func noteProgress(bytes: Int) { patience?.add(bytes) }

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

extension Deadline {
  /// The end of a deadline that allows for progress.
  private final class Patience: Sendable, Equatable {
    private static let step = 16 << 10

    let end: Atomic<Int64>
    private let span: Int64
    /// Bytes since it began anew.
    private let bytes = Atomic(0)

    init(_ span: Int64) {
      self.span = span
      end = Atomic(monotonicNanoseconds() &+ span)
    }

    static func == (left: Patience, right: Patience) -> Bool { left === right }

    /// A deadline that has passed stays so: who looked at it may have given up.
    func begin() {
      let now = monotonicNanoseconds()
      var known = end.load(ordering: .relaxed)
      while known > now {
        let (done, found) = end.compareExchange(
          expected: known, desired: max(known, now &+ span), ordering: .relaxed)
        if done { return }
        known = found
      }
    }

    func add(_ count: Int) {
      guard bytes.wrappingAdd(count, ordering: .relaxed).newValue >= Self.step else { return }
      bytes.store(0, ordering: .relaxed)
      begin()
    }
  }
}

/// Nanoseconds on the monotonic clock, which no one sets back.
package func monotonicNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
