internal import KVBase

/// Something that one thread waits for and another one lets happen: tests order their events with it
/// instead of sleeping.
package final class Gate: Sendable {
  private let isOpen = Monitor(false)

  package init() {}

  package func open() { isOpen.withLockNotifyingAll { $0 = true } }

  /// Waits until it is open; false if that takes more than ten minutes.
  @discardableResult
  package func wait() -> Bool {
    isOpen.wait(until: .after(seconds: 600)) { $0 ? true : nil } ?? false
  }
}
