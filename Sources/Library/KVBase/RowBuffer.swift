internal import Glibc

/// A buffer of texts, one after the other in memory of their own, each followed by a NUL: made once, filled and read
/// many times. One thread at a time.
///
/// Reading a text copies nothing; its bytes stay where they are until the block is changed.
package final class RowBuffer {
  private struct Fields {
    var start: UnsafeMutableRawPointer?
    var capacity = 0
    /// The number of bytes in use.
    var count = 0
    var texts: [Range<Int>] = []
    /// The index of the text that `next` returns.
    var next = 0
  }

  /// The fields, on the heap by themselves: reaching them costs no check for exclusive access.
  private let fields: UnsafeMutablePointer<Fields>

  /// `texts`: how many to expect.
  package init(texts: Int = 0) {
    fields = .allocate(capacity: 1)
    fields.initialize(to: Fields())
    fields.pointee.texts.reserveCapacity(texts)
    if texts > 0 { _ = reserve(texts * 512) }
  }

  deinit {
    free(fields.pointee.start)
    fields.deinitialize(count: 1)
    fields.deallocate()
  }

  /// The number of texts, whether `next` has returned them or not.
  package var count: Int { fields.pointee.texts.count }

  /// The total length of the texts in bytes, with their NULs.
  package var size: Int { fields.pointee.count }

  /// Whether `next` has another text to return.
  package var hasNext: Bool { fields.pointee.next < fields.pointee.texts.count }

  /// Returns the next text, its NUL not counted; nil at the end.
  package func next() -> UnsafeBufferPointer<CChar>? {
    guard hasNext, let start = fields.pointee.start else { return nil }
    let text = fields.pointee.texts[fields.pointee.next]
    fields.pointee.next += 1
    return UnsafeBufferPointer(
      start: (start + text.lowerBound).assumingMemoryBound(to: CChar.self), count: text.count)
  }

  /// The text at an index, whether `next` has returned it or not.
  package subscript(_ index: Int) -> UnsafeRawBufferPointer {
    let text = fields.pointee.texts[index]
    return UnsafeRawBufferPointer(
      start: fields.pointee.start.map { $0 + text.lowerBound }, count: text.count)
  }

  /// Copies a text after the others; false if there is no memory.
  package func append(_ text: UnsafeRawBufferPointer) -> Bool {
    let start = fields.pointee.count
    let end = start + text.count
    guard reserve(end + 1), let memory = fields.pointee.start else { return false }
    if let source = text.baseAddress { memcpy(memory + start, source, text.count) }
    memory.storeBytes(of: 0, toByteOffset: end, as: UInt8.self)
    fields.pointee.count = end + 1
    fields.pointee.texts.append(start..<end)
    return true
  }

  /// Puts the texts into another order, given by their present indexes. `next` begins at the first one again.
  package func reorder(by indexes: [Int]) {
    let texts = fields.pointee.texts
    fields.pointee.texts = indexes.map { texts[$0] }
    fields.pointee.next = 0
  }

  /// Limits what `next` returns to the texts of a range.
  package func limit(to range: Range<Int>) {
    let kept = range.clamped(to: 0..<count)
    fields.pointee.texts.removeSubrange(kept.upperBound...)
    fields.pointee.next = kept.lowerBound
  }

  /// Removes all texts; the memory stays.
  package func clear() {
    fields.pointee.count = 0
    fields.pointee.texts.removeAll(keepingCapacity: true)
    fields.pointee.next = 0
  }

  private func reserve(_ needed: Int) -> Bool {
    guard needed > fields.pointee.capacity else { return true }
    let larger = max(needed, fields.pointee.capacity * 2, 1024)
    guard let moved = realloc(fields.pointee.start, larger) else { return false }
    (fields.pointee.start, fields.pointee.capacity) = (moved, larger)
    return true
  }
}
