internal import CSystem

/// The memory of the process.
///
/// Swift ends the process where it has no memory for a buffer, and that is the host's process. So a buffer whose size comes
/// from outside is asked for first: `malloc` can fail. Who asks and then allocates has the memory in all likelihood, not for
/// certain: another thread may take it in between. Below `largeByteCount` nothing is checked.
@usableFromInline package enum Memory {
  /// The size in bytes from which on a buffer is asked for: 64 KiB, half of what glibc maps by itself.
  @usableFromInline package static let largeByteCount = 64 << 10

  /// What Swift allocates beside the elements of a buffer, and what it rounds up to, at the most.
  @usableFromInline package static let overhead = 64

  /// Whether so many bytes could be allocated now. C libraries that fail with "no memory" for a limit of their own, too,
  /// are told apart by this.
  @usableFromInline package static func isAvailable(_ byteCount: Int) -> Bool {
    kv_memory_is_available(byteCount) != 0
  }

  /// Whether Swift can make a buffer of so many bytes now. Costs nothing for a small one, and 100 ns for a large one.
  @inlinable @inline(__always)
  package static func allows(_ byteCount: Int) -> Bool {
    byteCount < largeByteCount - overhead || isAvailable(byteCount + overhead)
  }

  /// Throws `failure` if Swift can not make a buffer of so many bytes.
  @inlinable @inline(__always)
  package static func require<E: Error>(
    _ byteCount: Int, or failure: @autoclosure () -> E
  ) throws(E) {
    guard allows(byteCount) else { throw failure() }
  }
}

extension Array {
  /// Makes room for `count` more elements, as `append` does, but throws `failure` where that would end the process.
  @inlinable @inline(__always)
  package mutating func makeRoom<E: Error>(
    for count: Int, or failure: @autoclosure () -> E
  ) throws(E) {
    let needed = self.count + count
    guard needed > capacity else { return }
    let wanted = Swift.max(needed, capacity * 2)
    try Memory.require(wanted * MemoryLayout<Element>.stride, or: failure())
    reserveCapacity(wanted)
  }
}

extension [UInt8] {
  /// Copies bytes, but throws `failure` where there is no memory for them.
  @inlinable @inline(__always)
  package init<E: Error>(
    _ bytes: some Collection<UInt8>, or failure: @autoclosure () -> E
  ) throws(E) {
    try Memory.require(bytes.count, or: failure())
    self.init(bytes)
  }
}
