internal import Glibc

/// A text that identifies something – an entity, a collection, a user, a device – compared, ordered and hashed by
/// its UTF-8 bytes, as SQLite and backends do.
///
/// `String` compares by canonical equivalence: `é` as one character and as `e` with a mark are equal, and would be
/// one key of a dictionary where there are two records. So ids and names are never keys, nor compared, as `String`.
package struct RecordID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: RecordID, right: RecordID) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  package static func < (left: RecordID, right: RecordID) -> Bool {
    left.text.withBorrowedBytes { left in
      right.text.withBorrowedBytes { right in
        let order = compareBytes(left, right, count: min(left.count, right.count))
        return order == 0 ? left.count < right.count : order < 0
      }
    }
  }

  package func hash(into hasher: inout Hasher) {
    text.withBorrowedBytes { hasher.combine(bytes: $0) }
    // No byte of UTF-8: where one text of several ends is a part of the hash.
    hasher.combine(0xFF as UInt8)
  }

  package var description: String { text }
}

extension String {
  /// Whether another text consists of the same bytes: what is asked of two texts that identify something, never
  /// `==`.
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    return withBorrowedBytes { left in
      other.withBorrowedBytes { right in compareBytes(left, right, count: left.count) == 0 }
    }
  }
}

/// Compares the first `count` bytes as `memcmp` does.
private func compareBytes(
  _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, count: Int
) -> Int32 {
  guard let start = left.baseAddress, let otherStart = right.baseAddress else { return 0 }
  return memcmp(start, otherStart, count)
}
