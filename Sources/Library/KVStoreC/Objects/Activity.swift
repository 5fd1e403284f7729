internal import KVBase
internal import KVSync
internal import Synchronization

/// Counts what is under way on a client, and lets closing wait for its end. Safe from any thread;
/// entering and leaving cost one atomic operation each.
final class Activity: Sendable {
  /// The highest bit says that nothing may begin; the others count.
  private static let closing: UInt64 = 1 << 63

  private let word = Atomic<UInt64>(0)
  private let isOver = Monitor(false)

  /// Counts something that begins; `leave` must follow.
  func enter() throws(StoreError) {
    let before = word.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue
    guard before & Activity.closing == 0 else {
      leave()
      throw StoreError(.misuse, "The client is closed.")
    }
  }

  func leave() {
    let after = word.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
    if after == Activity.closing { isOver.withLockNotifyingAll { $0 = true } }
  }

  /// Leaves something for as long as `body` runs, so that it may close the client; back inside, it has to
  /// notice that.
  func suspended<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    leave()
    defer { word.wrappingAdd(1, ordering: .acquiringAndReleasing) }
    return try body()
  }

  /// Refuses what begins from now on.
  func beginClosing() { word.bitwiseOr(Activity.closing, ordering: .acquiringAndReleasing) }

  /// Waits, after `beginClosing`, until everything has left.
  func waitUntilOver() {
    if word.load(ordering: .acquiring) == Activity.closing { return }
    _ = isOver.wait { $0 ? true : nil }
  }
}
