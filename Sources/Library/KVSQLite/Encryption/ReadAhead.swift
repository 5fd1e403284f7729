internal import CSQLite

/// Reads many pages at once where one is read after the other, which saves most calls to the system.
///
/// The pages that were read ahead are valid for one transaction. While it lasts, the pages of the file that it reads do not change:
/// in WAL mode a checkpoint overwrites only pages that all readers have in the log.
struct ReadAhead: ~Copyable {
  private static let size = 64 << 10
  /// After how many pages in a row it begins.
  private static let threshold = 3

  /// Nil: nothing was read ahead yet.
  private var buffer: UnsafeMutableRawPointer?
  private var start: Int64 = 0
  private var count = 0
  /// Where the page after the one that was read last begins.
  private var next: Int64 = -1
  private var inRow = 0

  deinit { buffer?.deallocate() }

  /// Gives the bytes at an offset. `read` reads from the file itself.
  mutating func read(
    _ target: UnsafeMutableRawPointer, count wanted: Int, at offset: Int64,
    with read: (UnsafeMutableRawPointer, Int, Int64) -> Int32
  ) -> Int32 {
    inRow = offset == next ? inRow + 1 : 0
    next = offset + Int64(wanted)
    if take(target, wanted, at: offset) { return SQLITE_OK }
    guard inRow >= Self.threshold else { return read(target, wanted, offset) }
    let buffer = buffer ?? .allocate(byteCount: Self.size, alignment: 4096)
    self.buffer = buffer
    count = 0
    // The end of the file: what there is of it is read page by page.
    guard read(buffer, Self.size, offset) == SQLITE_OK else { return read(target, wanted, offset) }
    (start, count) = (offset, Self.size)
    return take(target, wanted, at: offset) ? SQLITE_OK : SQLiteStatus.readFailed
  }

  /// Forgets what was read ahead.
  mutating func forget() { count = 0 }

  private func take(
    _ target: UnsafeMutableRawPointer, _ wanted: Int, at offset: Int64
  ) -> Bool {
    guard let buffer, offset >= start, offset + Int64(wanted) <= start + Int64(count) else {
      return false
    }
    target.copyMemory(from: buffer + Int(offset - start), byteCount: wanted)
    return true
  }
}
