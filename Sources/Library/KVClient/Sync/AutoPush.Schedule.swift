internal import KVBase
internal import KVSync

extension AutoPush {
  /// When to push next: a value, so that it can be tested without a clock.
  ///
  ///     resting ──a save, something found──▶ due ──pushed──▶ resting
  ///                                           │ no answer, refused, no user
  ///                                           ▼
  ///                                        waiting, each time up to twice as long ──its time is over──▶ due
  ///                                           ╰──────── the network is back, a login ─────────────────▶ due
  struct Schedule: Sendable, Equatable {
    /// Seconds until the queue is looked at anyway: another process may have saved.
    var rest = 1.0
    /// So many seconds after a save: what is saved with it goes along.
    static let gathering = 0.05
    /// The pause after the first failure and the longest one, in seconds.
    var firstPause = 1.0
    var longestPause = 60.0

    /// What a round of pushes came to.
    enum Outcome: Sendable, Equatable {
      /// Nothing waits any more.
      case empty
      /// Some writes were refused, and wait.
      case refused
      /// The backend did not answer, or no user may push.
      case failed
      /// Another process pushes for all.
      case notElected
    }

    private var failures = 0
    /// Whether a save ends the pause: not while the backend does not answer, which a save does not change.
    private(set) var isOpenToSaves = true

    /// Seconds until the next look. `share`: from 0 to 1.
    mutating func pause(after outcome: Outcome, share: Double) -> Double {
      isOpenToSaves = outcome != .failed
      switch outcome {
      case .empty, .notElected:
        failures = 0
        return rest
      case .refused, .failed: break
      }
      defer { failures += 1 }
      // Not nothing: a probe costs the backend more than us.
      return Retry.pause(
        after: failures, first: firstPause, longest: longestPause,
        share: (1 + share) / 2)
    }

    /// The network is back, or a user has logged in.
    mutating func startAnew() { failures = 0 }
  }
}
