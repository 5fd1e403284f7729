/// The beginning of a member's name, prepared to be told apart from others: eight bytes at once. A plain
/// value, so that looking at it counts no references.
package struct MemberName: Sendable {
  /// What looking at the beginning has shown.
  package enum Verdict: Sendable {
    case same, different
    /// The whole names have to be compared.
    case undecided
  }

  /// The first eight bytes, as they lie in memory, and which bits of them count.
  @usableFromInline let word: UInt64
  @usableFromInline let mask: UInt64
  @usableFromInline let count: Int

  /// From UTF-8.
  package init(_ bytes: [UInt8]) {
    var word: UInt64 = 0
    for (place, byte) in bytes.prefix(8).enumerated() { word |= UInt64(byte) &<< UInt64(8 * place) }
    self.word = UInt64(littleEndian: word)
    let bits = UInt64(min(bytes.count, 8) * 8)
    mask = UInt64(littleEndian: bits == 64 ? .max : (1 &<< bits) &- 1)
    count = bytes.count
  }

  /// Compares with what is between the quotes at `range`.
  @inlinable @inline(__always)
  package func compare(_ scanner: ByteScanner, _ range: Range<Int>) -> Verdict {
    guard range.lowerBound &+ 8 <= scanner.end else { return .undecided }
    let found = UnsafeRawPointer(scanner.base + range.lowerBound).loadUnaligned(as: UInt64.self)
    if (found ^ word) & mask != 0 {
      // Different, unless a backslash is among them. (Behind the name a quote comes, which no name has.)
      return MemberName.hasSlash(found) ? .undecided : .different
    }
    guard count <= 8 else { return .undecided }
    return range.count == count ? .same : .different
  }

  @inlinable @inline(__always)
  static func hasSlash(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let slash = word ^ (ones &* 0x5C)
    return (slash &- ones) & ~slash & (ones &* 0x80) != 0
  }
}
