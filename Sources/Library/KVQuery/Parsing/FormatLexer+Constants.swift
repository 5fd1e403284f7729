internal import KVJSON

/// Texts and numbers.
extension FormatLexer {
  // MARK: Texts

  /// A text between two quotes of the kind that it begins with.
  mutating func quoted(_ quote: UInt8) throws(QueryError) -> String {
    let start = position
    position += 1
    var text: [UInt8] = []
    while position < bytes.count, bytes[position] != quote {
      if bytes[position] == UInt8(ascii: "\\") {
        text += try escape()
      } else {
        text.append(bytes[position])
        position += 1
      }
    }
    guard position < bytes.count else {
      throw QueryError(.syntax, "expected a closing quote", at: start)
    }
    position += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escape() throws(QueryError) -> [UInt8] {
    if let character = try codedCharacter() { return character }
    guard position + 1 < bytes.count else {
      throw error("expected a character after the backslash")
    }
    let letter = bytes[position + 1]
    position += 2
    switch letter {
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    default: return letter < 0x80 ? [letter] : [UInt8(ascii: "\\"), letter]
    }
  }

  /// A character by its number: `\101`, `\x41`, `\u0041`, in UTF-8; two of the last kind for one beyond 16 bits. Nil
  /// if there is something else here.
  mutating func codedCharacter() throws(QueryError) -> [UInt8]? {
    guard follows("\\"), position + 1 < bytes.count else { return nil }
    let letter = bytes[position + 1]
    let code: UInt32
    switch letter {
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      guard let octal = digits(3, radix: 8, at: position + 1) else { return nil }
      (code, position) = (octal, position + 4)
    case UInt8(ascii: "x"), UInt8(ascii: "X"): code = try hexadecimal(2)
    case UInt8(ascii: "u"), UInt8(ascii: "U"): code = try unit()
    default: return nil
    }
    guard let scalar = Unicode.Scalar(code) else { throw error("expected a whole character") }
    return Array(String(scalar).utf8)
  }

  /// Reads a backslash, a letter and that many hexadecimal digits.
  private mutating func hexadecimal(_ count: Int) throws(QueryError) -> UInt32 {
    guard let code = digits(count, radix: 16, at: position + 2) else {
      throw error("expected \(count) hexadecimal digits of a character")
    }
    position += 2 + count
    return code
  }

  /// A unit of UTF-16, with the one after it if it is the first of two.
  private mutating func unit() throws(QueryError) -> UInt32 {
    let first = try hexadecimal(4)
    guard 0xD800..<0xDC00 ~= first, follows("\\u") || follows("\\U") else { return first }
    let second = try hexadecimal(4)
    guard 0xDC00..<0xE000 ~= second else { return first }
    return 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
  }

  private func digits(_ count: Int, radix: Int, at start: Int) -> UInt32? {
    guard start + count <= bytes.count else { return nil }
    let digits = bytes[start..<start + count]
    guard digits.allSatisfy({ Self.digit($0).map { $0 < radix } ?? false }) else { return nil }
    return UInt32(String(decoding: digits, as: UTF8.self), radix: radix)
  }

  /// The value of a digit, at most hexadecimal.
  private static func digit(_ byte: UInt8) -> Int? {
    let lower = byte | 0x20
    return byte &- 0x30 <= 9 ? Int(byte &- 0x30) : lower &- 0x61 < 6 ? Int(lower &- 0x57) : nil
  }

  // MARK: Numbers

  /// Reads a number as in C: decimal, with or without a fraction and an exponent, `0x` hexadecimal, `0o` octal, `0b`
  /// binary.
  mutating func number() throws(QueryError) -> Token {
    if let radix = radix { return try integer(radix) }
    let start = position
    while isDigit(position) { position += 1 }
    if follows("."),
      isDigit(position + 1) || !(position + 1 < bytes.count && isNameByte(bytes[position + 1]))
    {
      position += 1
      while isDigit(position) { position += 1 }
    }
    try exponent()
    if position < bytes.count, isNameByte(bytes[position]) { throw error("expected an operator") }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if let integer = Int64(text) { return .number(.int(integer)) }
    // Swift's numbers have digits on both sides of the point.
    let padded = (text.hasPrefix(".") ? "0" : "") + text + (text.hasSuffix(".") ? "0" : "")
    guard let double = Double(padded), double.isFinite else {
      throw QueryError(.syntax, "the number is out of range", at: start)
    }
    return .number(.double(double))
  }

  private var radix: Int? {
    guard follows("0"), position + 1 < bytes.count else { return nil }
    switch bytes[position + 1] | 0x20 {
    case UInt8(ascii: "x"): return 16
    case UInt8(ascii: "o"): return 8
    case UInt8(ascii: "b"): return 2
    default: return nil
    }
  }

  private mutating func integer(_ radix: Int) throws(QueryError) -> Token {
    let start = position
    position += 2
    let digits = bytes[position...].prefix { Self.digit($0).map { $0 < radix } ?? false }
    position = digits.endIndex
    guard !digits.isEmpty, position == bytes.count || !isNameByte(bytes[position]) else {
      throw error("expected a digit of base \(radix)")
    }
    guard let value = Int64(String(decoding: digits, as: UTF8.self), radix: radix) else {
      throw QueryError(.syntax, "the number is out of range", at: start)
    }
    return .number(.int(value))
  }

  private mutating func exponent() throws(QueryError) {
    guard position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") else { return }
    position += 1
    if follows("+") || follows("-") { position += 1 }
    guard isDigit(position) else { throw error("expected the digits of an exponent") }
    while isDigit(position) { position += 1 }
  }
}
