/// Walking over text that was validated when it was stored: three times as fast, because nothing is
/// checked but where things end. Bytes that are not valid JSON give nonsense, but nothing at or after `end`
/// is ever read.
extension ByteScanner {
  /// The position after the string that starts at `position`.
  @inlinable @inline(__always)
  package func passString(_ position: Int) -> Int {
    var at = position &+ 1
    while at &+ 8 <= end {
      let word = UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self)
      let found = ByteScanner.quotesOrSlashes(word)
      guard found != 0 else {
        at &+= 8
        continue
      }
      at &+= found.trailingZeroBitCount &>> 3
      if base[at] == UInt8(ascii: "\"") { return at &+ 1 }
      at &+= 2
    }
    while at < end {
      if base[at] == UInt8(ascii: "\"") { return at &+ 1 }
      at &+= base[at] == UInt8(ascii: "\\") ? 2 : 1
    }
    return end
  }

  /// The high bit of each quote and backslash; only the lowest one is exact.
  @inlinable @inline(__always)
  static func quotesOrSlashes(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let slash = word ^ (ones &* 0x5C)
    let found = ((quote &- ones) & ~quote) | ((slash &- ones) & ~slash)
    return found.littleEndian & (ones &* 0x80)
  }

  /// The position after the value that starts at `position`.
  @inlinable @inline(__always)
  package func passValue(_ position: Int) -> Int {
    guard position < end else { return end }
    switch base[position] {
    case UInt8(ascii: "\""): return passString(position)
    case UInt8(ascii: "{"), UInt8(ascii: "["): return passContainer(position)
    default: return passScalar(position)
    }
  }

  @inlinable
  package func passContainer(_ position: Int) -> Int {
    var at = position
    var depth = 0
    while at < end {
      switch base[at] {
      case UInt8(ascii: "\""):
        at = passString(at)
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth &+= 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth &-= 1
        if depth <= 0 { return at &+ 1 }
      default: break
      }
      at &+= 1
    }
    return end
  }

  /// A number or a word: letters, digits, `+`, `-` and `.` are the only such bytes above the comma.
  @inlinable @inline(__always)
  package func passScalar(_ position: Int) -> Int {
    var at = position &+ 1
    while at < end {
      let byte = base[at]
      guard byte > UInt8(ascii: ",") || byte == UInt8(ascii: "+"), byte | 0x20 != UInt8(ascii: "}")
      else { return at }
      at &+= 1
    }
    return end
  }

  /// The position of the first byte from `position` that is neither white space nor `punctuation`.
  @inlinable @inline(__always)
  package func pass(_ punctuation: UInt8, _ position: Int) -> Int {
    var at = position
    while at < end, base[at] <= 0x20 || base[at] == punctuation { at &+= 1 }
    return at
  }
}

/// The members of a validated object.
package struct TrustedMembers {
  @usableFromInline let scanner: ByteScanner
  @usableFromInline var position: Int

  /// Starts at the `{` at `position`.
  @inlinable @inline(__always)
  package init(_ scanner: ByteScanner, at position: Int) {
    self.scanner = scanner
    self.position = position &+ 1
  }

  /// The next member; nil at the closing brace.
  @inlinable @inline(__always)
  package mutating func next() -> MemberCursor.Member? {
    let start = scanner.pass(UInt8(ascii: ","), position)
    guard start < scanner.end, scanner.base[start] == UInt8(ascii: "\"") else { return nil }
    let nameEnd = scanner.passString(start)
    let value = scanner.pass(UInt8(ascii: ":"), nameEnd)
    guard value < scanner.end, nameEnd &- start >= 2 else { return nil }
    position = scanner.passValue(value)
    // The bounds are in order: a name has its two quotes, and a value at least one byte.
    return MemberCursor.Member(
      name: Range(uncheckedBounds: (start &+ 1, nameEnd &- 1)),
      value: Range(uncheckedBounds: (value, position)))
  }
}

/// The elements of a validated array.
package struct TrustedElements {
  @usableFromInline let scanner: ByteScanner
  @usableFromInline var position: Int

  /// Starts at the `[` at `position`.
  @inlinable @inline(__always)
  package init(_ scanner: ByteScanner, at position: Int) {
    self.scanner = scanner
    self.position = position &+ 1
  }

  /// The next element; nil at the closing bracket.
  @inlinable @inline(__always)
  package mutating func next() -> Range<Int>? {
    let start = scanner.pass(UInt8(ascii: ","), position)
    guard start < scanner.end, scanner.base[start] != UInt8(ascii: "]") else { return nil }
    position = scanner.passValue(start)
    return Range(uncheckedBounds: (start, position))
  }
}
