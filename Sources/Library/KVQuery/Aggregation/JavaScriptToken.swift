/// A piece of JavaScript, as far as reduce functions need it. Names and texts are UTF-8.
enum JavaScriptToken: Equatable {
  case name([UInt8])
  case number(Int)
  case text([UInt8])
  /// A mark of one to three characters: `++`, `+=`, `===`, …
  case mark(String)

  static func name(_ word: StaticString) -> JavaScriptToken {
    .name(word.withUTF8Buffer { Array($0) })
  }

  /// Reads a source; nil for what these functions never contain, and for more than 10,000 bytes.
  static func read(_ source: String) -> [JavaScriptToken]? {
    var lexer = JavaScriptLexer(bytes: Array(source.utf8))
    guard lexer.bytes.count <= 10_000 else { return nil }
    var tokens: [JavaScriptToken] = []
    while lexer.skipSpace() {
      guard let token = lexer.next() else { return nil }
      tokens.append(token)
    }
    return tokens
  }
}

private struct JavaScriptLexer {
  let bytes: [UInt8]
  private var offset = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Whether something follows.
  mutating func skipSpace() -> Bool {
    while offset < bytes.count, bytes[offset] == 0x20 || 0x09...0x0D ~= bytes[offset] {
      offset += 1
    }
    return offset < bytes.count
  }

  mutating func next() -> JavaScriptToken? {
    let byte = bytes[offset]
    if Self.isDigit(byte) {
      return Int(String(decoding: consume(while: Self.isDigit), as: UTF8.self)).map { .number($0) }
    }
    if Self.isNameByte(byte) { return name(consume(while: Self.isNameByte)) }
    if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { return text(byte) }
    return mark()
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    byte | 0x20 &- 0x61 < 26 || isDigit(byte) || byte >= 0x80 || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "$")
  }

  private mutating func consume(while belongs: (UInt8) -> Bool) -> [UInt8] {
    let found = bytes[offset...].prefix(while: belongs)
    offset = found.endIndex
    return Array(found)
  }

  private func name(_ bytes: [UInt8]) -> JavaScriptToken? {
    let isName = String(decoding: bytes, as: UTF8.self).unicodeScalars.allSatisfy {
      $0.isASCII || $0.properties.isIDContinue
    }
    return isName ? .name(bytes) : nil
  }

  /// A text in quotes; the escapes in it are those of quotes and backslashes.
  private mutating func text(_ quote: UInt8) -> JavaScriptToken? {
    offset += 1
    var text: [UInt8] = []
    while offset < bytes.count, bytes[offset] != quote {
      if bytes[offset] == UInt8(ascii: "\\") {
        offset += 1
        guard offset < bytes.count, #"\"'"#.utf8.contains(bytes[offset]) else { return nil }
      }
      text.append(bytes[offset])
      offset += 1
    }
    guard offset < bytes.count else { return nil }
    offset += 1
    return .text(text)
  }

  /// The longer ones first.
  private static let marks = [
    "===", "++", "+=", "==", "!=", "&&", "(", ")", "{", "}", "[", "]", ";", ",", ".", "=", "+", "*",
    "/", "?", ":",
  ]

  private mutating func mark() -> JavaScriptToken? {
    for mark in Self.marks where bytes[offset...].starts(with: mark.utf8) {
      offset += mark.utf8.count
      return .mark(mark)
    }
    return nil
  }
}
