internal import Glibc

/// Bytes under construction, then a body: C can take them over without a copy.
///
/// One thread at a time. A failed allocation does not trap: `isComplete` becomes false.
///
/// `@unchecked Sendable`: filled by one thread, then only read.
package final class Payload: @unchecked Sendable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  package private(set) var count = 0
  /// False once memory ran out; what was appended since is missing.
  package private(set) var isComplete = true
  /// The budget that its memory is reserved from.
  private let budget: (any MemoryReserve)?
  /// How many bytes are expected in all.
  private let expected: Int

  package init(capacity: Int = 0) {
    budget = nil
    expected = 0
    reserve(capacity)
  }

  /// For bytes that come piece by piece, and memory that is reserved as they come. It is released with the
  /// payload.
  package init(expecting bytes: Int, within budget: any MemoryReserve) {
    self.budget = budget
    expected = bytes
  }

  package convenience init(_ bytes: some Collection<UInt8>) {
    self.init(capacity: bytes.count)
    append(bytes)
  }

  package convenience init(_ text: String) { self.init(text.utf8) }

  deinit {
    free(base)
    budget?.release(capacity)
  }

  /// Lends the bytes until `body` returns. It must not change the payload.
  package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E)
    -> R
  {
    // Without this the payload could end as soon as its address has been taken.
    try withExtendedLifetime(self) { () throws(E) in
      try body(UnsafeRawBufferPointer(start: base, count: count))
    }
  }

  /// The address at which C may read the bytes; nil when there are none.
  package var mutableBase: UnsafeMutableRawPointer? { base }

  package func append(_ source: UnsafeRawBufferPointer) {
    guard let from = source.baseAddress, !source.isEmpty, reserve(source.count) else { return }
    guard let base else { return }
    (base + count).copyMemory(from: from, byteCount: source.count)
    count += source.count
  }

  package func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  package func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  package func append(_ bytes: some Collection<UInt8>) {
    let done: Void? = bytes.withContiguousStorageIfAvailable {
      append(UnsafeRawBufferPointer($0))
    }
    if done == nil { for byte in bytes { append(byte: byte) } }
  }

  package func append(byte: UInt8) {
    guard reserve(1), let base else { return }
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Forgets everything, the memory included.
  package func discard() {
    free(base)
    budget?.release(capacity)
    (base, count, capacity) = (nil, 0, 0)
  }

  /// Forgets the bytes, and keeps the memory for others.
  package func empty() { count = 0 }

  /// Makes room for `more` bytes; false if there is none.
  @discardableResult
  package func reserve(_ more: Int) -> Bool {
    let (needed, overflow) = count.addingReportingOverflow(more)
    if !overflow, needed <= capacity { return isComplete }
    isComplete = isComplete && !overflow && grow(to: size(for: needed))
    return isComplete
  }

  /// Twice as much as before, but no more than is expected.
  private func size(for needed: Int) -> Int {
    let double = max(needed, capacity &* 2, 64)
    return needed <= expected ? min(double, expected) : double
  }

  private func grow(to size: Int) -> Bool {
    guard budget?.reserve(size - capacity) != false else { return false }
    guard let grown = realloc(base, size) else {
      budget?.release(size - capacity)
      return false
    }
    base = grown
    capacity = size
    return true
  }
}
