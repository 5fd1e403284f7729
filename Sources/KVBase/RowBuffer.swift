internal import Glibc

/// Texts one behind the other in memory of their own, each followed by a NUL: made once, filled and taken from
/// many times. One thread at a time.
///
/// Taking a text copies nothing; its bytes stay where they are until the block is changed.
package final class RowBuffer {
  private struct Fields {
    var start: UnsafeMutableRawPointer?
    var capacity = 0
    /// How many bytes are in use.
    var count = 0
    var texts: [Range<Int>] = []
    /// The place of the next one that `next` takes.
    var next = 0
  }

  /// On the heap by itself: reaching it costs no check for exclusive access.
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

  /// How many texts are in it, taken or not.
  package var count: Int { fields.pointee.texts.count }

  /// How long the texts are together.
  package var size: Int { fields.pointee.count }

  /// Whether there is a text that `next` has not taken.
  package var hasNext: Bool { fields.pointee.next < fields.pointee.texts.count }

  /// Takes the next text, its NUL not counted.
  package func next() -> UnsafeBufferPointer<CChar>? {
    guard hasNext, let start = fields.pointee.start else { return nil }
    let text = fields.pointee.texts[fields.pointee.next]
    fields.pointee.next += 1
    return UnsafeBufferPointer(
      start: (start + text.lowerBound).assumingMemoryBound(to: CChar.self), count: text.count)
  }

  /// A text, whether taken or not.
  package subscript(_ place: Int) -> UnsafeRawBufferPointer {
    let text = fields.pointee.texts[place]
    return UnsafeRawBufferPointer(
      start: fields.pointee.start.map { $0 + text.lowerBound }, count: text.count)
  }

  /// Copies a text behind the others; false if there is no memory.
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

  /// Puts the texts into another order: at each place the one that was at the place given. None is taken then.
  package func arrange(_ places: [Int]) {
    let texts = fields.pointee.texts
    fields.pointee.texts = places.map { texts[$0] }
    fields.pointee.next = 0
  }

  /// Leaves the texts of a range to take, and no others.
  package func keep(_ places: Range<Int>) {
    let places = places.clamped(to: 0..<count)
    fields.pointee.texts.removeSubrange(places.upperBound...)
    fields.pointee.next = places.lowerBound
  }

  /// Takes all texts out; the memory stays.
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
