extension ByteScanner {
  /// The position after the closing quote of the string that starts at `position`.
  ///
  /// Plain ASCII goes by eight bytes at a time.
  @inline(__always)
  package func skipString(_ position: Int) throws(JSONError) -> Int {
    var at = try expect(UInt8(ascii: "\""), position)
    while true {
      while at &+ 8 <= end {
        let special = ByteScanner.specialBytes(
          UnsafeRawPointer(base + at).loadUnaligned(as: UInt64.self))
        guard special == 0 else {
          at &+= special.trailingZeroBitCount &>> 3
          break
        }
        at &+= 8
      }
      let first = try byte(at)
      if first == UInt8(ascii: "\"") { return at &+ 1 }
      at = try skipCharacter(first, at)
    }
  }

  /// The high bit of each byte that ends a plain run: a quote, a backslash, a control character or a byte
  /// above ASCII. Only the lowest one is exact, and only that one is looked at.
  @inline(__always)
  private static func specialBytes(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let slash = word ^ (ones &* 0x5C)
    let found =
      ((quote &- ones) & ~quote) | ((slash &- ones) & ~slash) | ((word &- ones &* 0x20) & ~word)
      | word
    return found.littleEndian & (ones &* 0x80)
  }

  /// Skips one character, escape or UTF-8 sequence.
  private func skipCharacter(_ first: UInt8, _ position: Int) throws(JSONError) -> Int {
    if first == UInt8(ascii: "\\") { return try skipEscape(position) }
    if first >= 0x80 { return try skipMultibyte(first, position) }
    guard first >= 0x20 else {
      throw JSONError(.syntax("control character in a JSON string"), at: position)
    }
    return position &+ 1
  }

  private func skipEscape(_ position: Int) throws(JSONError) -> Int {
    switch try byte(position &+ 1) {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return position &+ 2
    case UInt8(ascii: "u"):
      let unit = try hexUnit(position &+ 2)
      guard unit & 0xF800 == 0xD800 else { return position &+ 6 }
      let loneSurrogate = JSONError(.syntax("half a surrogate pair in JSON"), at: position)
      guard unit < 0xDC00 else { throw loneSurrogate }
      guard try byte(position &+ 6) == UInt8(ascii: "\\"),
        try byte(position &+ 7) == UInt8(ascii: "u"),
        try hexUnit(position &+ 8) & 0xFC00 == 0xDC00
      else { throw loneSurrogate }
      return position &+ 12
    default:
      throw JSONError(.syntax("unknown escape in a JSON string"), at: position)
    }
  }

  /// The UTF-16 unit written as four hex digits.
  func hexUnit(_ position: Int) throws(JSONError) -> UInt16 {
    var unit: UInt16 = 0
    for index in position..<position &+ 4 {
      let digit = try byte(index)
      let value: UInt8
      switch digit {
      case 0x30...0x39: value = digit &- 0x30
      case 0x41...0x46: value = digit &- 0x37
      case 0x61...0x66: value = digit &- 0x57
      default: throw unexpected(index)
      }
      unit = unit &<< 4 | UInt16(value)
    }
    return unit
  }

  /// A character of two to four bytes: shortest form, no surrogates, nothing above U+10FFFF.
  private func skipMultibyte(_ first: UInt8, _ position: Int) throws(JSONError) -> Int {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch first {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    case 0xF1...0xF3: length = 4
    default: throw JSONError(.syntax("invalid UTF-8"), at: position)
    }
    for index in 1..<length {
      let byte = try byte(position &+ index)
      guard index == 1 ? second ~= byte : byte & 0xC0 == 0x80 else {
        throw JSONError(.syntax("invalid UTF-8"), at: position)
      }
    }
    return position &+ length
  }

  // MARK: Decoding

  /// The text of a string; `range` is what is between the quotes and has been validated.
  package func text(_ range: Range<Int>) -> String {
    guard hasEscapes(range) else {
      let bytes = UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
      return String(decoding: bytes, as: UTF8.self)
    }
    return String(decoding: unescaped(range), as: UTF8.self)
  }

  /// The UTF-8 of a validated string without its escapes.
  package func unescaped(_ range: Range<Int>) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(range.count)
    var at = range.lowerBound
    while at < range.upperBound {
      if base[at] != UInt8(ascii: "\\") {
        out.append(base[at])
        at &+= 1
      } else {
        at = decodeEscape(at, before: range.upperBound, to: &out)
      }
    }
    return out
  }

  private func decodeEscape(_ position: Int, before limit: Int, to out: inout [UInt8]) -> Int {
    guard position &+ 1 < limit else { return limit }
    switch base[position &+ 1] {
    case UInt8(ascii: "b"): out.append(0x08)
    case UInt8(ascii: "f"): out.append(0x0C)
    case UInt8(ascii: "n"): out.append(0x0A)
    case UInt8(ascii: "r"): out.append(0x0D)
    case UInt8(ascii: "t"): out.append(0x09)
    case UInt8(ascii: "u"):
      let high = UInt32((try? hexUnit(position &+ 2)) ?? 0xFFFD)
      let isPair = high & 0xF800 == 0xD800
      let low = isPair ? UInt32((try? hexUnit(position &+ 8)) ?? 0xDC00) : 0
      let code = isPair ? 0x10000 &+ (high & 0x3FF) &<< 10 &+ (low & 0x3FF) : high
      out.append(contentsOf: String(Unicode.Scalar(code) ?? "\u{FFFD}").utf8)
      return position &+ (isPair ? 12 : 6)
    case let other: out.append(other)
    }
    return position &+ 2
  }
}
