internal import Glibc
internal import KVSync

/// Growing memory at a fixed place between two changes: what a cursor lends to C. One thread at a time.
final class TextBuffer {
  private var start: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0

  deinit { free(start) }

  func clear() { count = 0 }

  func cut(to count: Int) { self.count = min(count, self.count) }

  /// False if there is no memory.
  @discardableResult
  func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard reserve(bytes.count) else { return false }
    if let start, let source = bytes.baseAddress { memcpy(start + count, source, bytes.count) }
    count += bytes.count
    return true
  }

  @discardableResult
  func append(_ text: StaticString) -> Bool {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// What is in it, with a NUL behind that does not count. Valid until the next change.
  func text() throws(StoreError) -> UnsafeBufferPointer<CChar> {
    guard reserve(0), let start else { throw TextBuffer.noMemory }
    start.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
    return UnsafeBufferPointer(start: start.assumingMemoryBound(to: CChar.self), count: count)
  }

  static var noMemory: StoreError { StoreError(.internal, "There is no memory left.") }

  /// Makes room for so many bytes and a NUL.
  private func reserve(_ more: Int) -> Bool {
    let needed = count + more + 1
    if needed <= capacity { return true }
    let larger = max(needed, capacity * 2, 1024)
    guard let moved = realloc(start, larger) else { return false }
    start = moved
    capacity = larger
    return true
  }
}
