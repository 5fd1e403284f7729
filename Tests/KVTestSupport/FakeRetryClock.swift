internal import KVBase
package import KVSync

/// Pauses that nobody waits for: they are written down. Lots are drawn as a test wants.
package final class FakeRetryClock: RetryClock {
  private let waited = Monitor<[Double]>([])
  private let share: @Sendable () -> Double
  /// Runs in place of each pause.
  private let meanwhile: @Sendable () -> Void

  package init(
    share: @escaping @Sendable () -> Double = { 1 }, meanwhile: @escaping @Sendable () -> Void = {}
  ) {
    self.share = share
    self.meanwhile = meanwhile
  }

  /// The seconds of each pause so far.
  package var pauses: [Double] { waited.withLock { $0 } }

  package func random() -> Double { share() }

  package func wait(_ seconds: Double, _ call: Call) throws(StoreError) -> Bool {
    guard seconds < call.deadline.remainingSeconds else { return false }
    waited.withLock { $0.append(seconds) }
    meanwhile()
    if call.cancellation.isCancelled { throw StoreError(.cancelled, "The call was cancelled.") }
    return true
  }
}
