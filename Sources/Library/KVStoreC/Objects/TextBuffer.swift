internal import Glibc
internal import KVSync

/// Growing memory at a fixed address between two changes: what a cursor lends to C. One thread at a time.
final class TextBuffer {
  private var start: UnsafeMutableRawPointer?
  private var capacity = 0
  private var count = 0

  deinit { free(start) }

  func clear() { count = 0 }

  func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    let memory = try reserve(bytes.count)
    if let source = bytes.baseAddress { memcpy(memory + count, source, bytes.count) }
    count += bytes.count
  }

  func append(_ text: StaticString) throws(StoreError) {
    try append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Its content, and after it a NUL that `count` does not include. Valid until the next change.
  func text() throws(StoreError) -> UnsafeBufferPointer<CChar> {
    let memory = try reserve(0)
    memory.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
    return UnsafeBufferPointer(start: memory.assumingMemoryBound(to: CChar.self), count: count)
  }

  /// Makes room for so many bytes and a NUL; gives where the memory is.
  private func reserve(_ more: Int) throws(StoreError) -> UnsafeMutableRawPointer {
    let needed = count + more + 1
    if let start, needed <= capacity { return start }
    let larger = max(needed, capacity * 2, 1024)
    guard let moved = realloc(start, larger) else { throw StoreError.noMemory }
    (start, capacity) = (moved, larger)
    return moved
  }
}
