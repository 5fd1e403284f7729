internal import CSystem
internal import Glibc

/// A descriptor that an external event loop can wait on: readable while it is raised.
///
/// Neither raising nor lowering ever blocks. Safe from any thread.
package final class EventDescriptor: Sendable {
  package let number: Int32

  /// nil if the process has no descriptors left.
  package init?() {
    number = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    if number < 0 { return nil }
  }

  deinit { if number >= 0 { close(number) } }

  /// Makes it readable. Doing so twice is the same as once.
  package func raise() {
    var one: UInt64 = 1
    _ = write(number, &one, MemoryLayout<UInt64>.size)
  }

  /// Makes it unreadable.
  package func lower() {
    var count: UInt64 = 0
    _ = read(number, &count, MemoryLayout<UInt64>.size)
  }
}
