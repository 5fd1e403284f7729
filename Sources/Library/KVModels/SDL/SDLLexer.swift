/// The tokens of a text in GraphQL's schema definition language, as its specification (October 2021, section 2.1)
/// describes them. Comments, commas and white space separate tokens.
struct SDLLexer {
  enum Token: Equatable {
    case name(String)
    case int(Int64)
    case float(Double)
    case string(String)
    /// One of `! $ & ( ) : = @ [ ] { | } ...`.
    case punctuator(String)
    case end
  }

  private let bytes: [UInt8]
  private var offset = 0
  private var line = 1
  private var lineStart = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { (offset, lineStart) = (3, 3) }
  }

  /// The next token and where it starts.
  mutating func next() throws(SchemaError) -> (token: Token, start: SourceLocation) {
    skipIgnored()
    let start = location
    guard offset < bytes.count else { return (.end, start) }
    return (try read(), start)
  }

  private var location: SourceLocation {
    SourceLocation(line: line, column: offset - lineStart + 1)
  }

  private func byte(_ distance: Int = 0) -> UInt8 {
    offset + distance < bytes.count ? bytes[offset + distance] : 0
  }

  private mutating func skipIgnored() {
    while offset < bytes.count {
      switch bytes[offset] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ","), UInt8(ascii: "\r"): offset += 1
      case UInt8(ascii: "\n"): startLine()
      case UInt8(ascii: "#"): while offset < bytes.count, bytes[offset] != 0x0A { offset += 1 }
      default: return
      }
    }
  }

  private mutating func startLine() {
    offset += 1
    line += 1
    lineStart = offset
  }

  private mutating func read() throws(SchemaError) -> Token {
    switch byte() {
    case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "("),
      UInt8(ascii: ")"), UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "@"),
      UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "|"),
      UInt8(ascii: "}"):
      offset += 1
      return .punctuator(String(Unicode.Scalar(bytes[offset - 1])))
    case UInt8(ascii: ".") where byte(1) == UInt8(ascii: ".") && byte(2) == UInt8(ascii: "."):
      offset += 3
      return .punctuator("...")
    case UInt8(ascii: "\""):
      return .string(follows("\"\"\"") ? try blockString() : try quotedString())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case let first where Self.isNameByte(first): return .name(name())
    default: throw SchemaError("unexpected character", at: location)
    }
  }

  // MARK: Names and numbers

  /// An ASCII letter, a digit or the underscore.
  private static func isNameByte(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == 0x5F
  }

  private mutating func name() -> String {
    let start = offset
    while Self.isNameByte(byte()) { offset += 1 }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func number() throws(SchemaError) -> Token {
    let (start, location) = (offset, location)
    if byte() == UInt8(ascii: "-") { offset += 1 }
    let leadsWithZero = byte() == UInt8(ascii: "0")
    guard skipDigits() == 1 || !leadsWithZero else { throw badNumber(location) }
    var isFloat = false
    if byte() == UInt8(ascii: ".") {
      offset += 1
      isFloat = true
      guard skipDigits() > 0 else { throw badNumber(location) }
    }
    if byte() | 0x20 == UInt8(ascii: "e") {
      offset += 1
      isFloat = true
      if byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-") { offset += 1 }
      guard skipDigits() > 0 else { throw badNumber(location) }
    }
    guard !Self.isNameByte(byte()), byte() != UInt8(ascii: ".") else { throw badNumber(location) }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if !isFloat, let value = Int64(text) { return .int(value) }
    guard let value = Double(text), value.isFinite else { throw badNumber(location) }
    return .float(value)
  }

  private func badNumber(_ location: SourceLocation) -> SchemaError {
    SchemaError("this is not a number", at: location)
  }

  /// How many there were.
  private mutating func skipDigits() -> Int {
    let start = offset
    while byte() &- 0x30 < 10 { offset += 1 }
    return offset - start
  }

  // MARK: Strings

  private func follows(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard offset + count <= bytes.count else { return false }
    return (0..<count).allSatisfy { bytes[offset + $0] == text.utf8Start[$0] }
  }

  private mutating func quotedString() throws(SchemaError) -> String {
    let start = location
    offset += 1
    var text: [UInt8] = []
    while byte() != UInt8(ascii: "\"") {
      guard offset < bytes.count, byte() >= 0x20 || byte() == 0x09 else {
        throw SchemaError("the string does not end on its line", at: start)
      }
      if byte() == UInt8(ascii: "\\") {
        text += try escaped()
      } else {
        text.append(byte())
        offset += 1
      }
    }
    offset += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escaped() throws(SchemaError) -> [UInt8] {
    let start = location
    let letter = byte(1)
    offset += 2
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return try unicode(start)
    default: throw SchemaError("unknown escape in a string", at: start)
    }
  }

  /// Four hexadecimal digits, two times for a character beyond 16 bits, or any number of them in braces.
  private mutating func unicode(_ start: SourceLocation) throws(SchemaError) -> [UInt8] {
    let isBraced = byte() == UInt8(ascii: "{")
    if isBraced { offset += 1 }
    guard var code = hexadecimal(isBraced ? 1...6 : 4...4) else { throw badCharacter(start) }
    if isBraced {
      guard byte() == UInt8(ascii: "}") else { throw badCharacter(start) }
      offset += 1
    } else if code & 0xFC00 == 0xD800 {
      guard follows("\\u") else { throw badCharacter(start) }
      offset += 2
      guard let low = hexadecimal(4...4), low & 0xFC00 == 0xDC00 else { throw badCharacter(start) }
      code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF)
    }
    guard let scalar = Unicode.Scalar(code) else { throw badCharacter(start) }
    return Array(String(scalar).utf8)
  }

  private func badCharacter(_ start: SourceLocation) -> SchemaError {
    SchemaError("this is not a Unicode character", at: start)
  }

  private mutating func hexadecimal(_ counts: ClosedRange<Int>) -> UInt32? {
    var value: UInt32 = 0
    var count = 0
    while count < counts.upperBound, let digit = Self.hexadecimalDigit(byte()) {
      value = value << 4 | digit
      count += 1
      offset += 1
    }
    return counts.contains(count) ? value : nil
  }

  private static func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
    if byte &- 0x30 < 10 { return UInt32(byte &- 0x30) }
    let letter = (byte | 0x20) &- 0x61
    return letter < 6 ? UInt32(letter) + 10 : nil
  }

  /// A text between triple quotes: a description, nothing that a model is made of, so its indentation is kept.
  private mutating func blockString() throws(SchemaError) -> String {
    let start = location
    offset += 3
    var text: [UInt8] = []
    while !follows("\"\"\"") {
      guard offset < bytes.count else { throw SchemaError("the string has no end", at: start) }
      if follows("\\\"\"\"") {
        text += Array("\"\"\"".utf8)
        offset += 4
        continue
      }
      text.append(byte())
      if byte() == 0x0A { startLine() } else { offset += 1 }
    }
    offset += 3
    return String(decoding: text, as: UTF8.self)
  }
}
