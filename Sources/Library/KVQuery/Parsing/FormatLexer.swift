internal import KVJSON

/// The words of a predicate format, each with the byte offset at which it starts.
struct FormatLexer {
  enum Token: Equatable {
    /// A name; `isEscaped` if it was written with `#`, which makes a reserved word a name.
    case word(String, isEscaped: Bool)
    case number(JSONValue)
    case string(String)
    /// `%@`, `%K`, `%d`…: the letter.
    case argument(Character)
    case variable(String)
    case symbol(String)
    case end
  }

  let bytes: [UInt8]
  var position = 0
  /// A point after these belongs to a path, not to a number.
  private var endsOperand = false
  /// Digits after such a point are a name: `a.0.1`.
  private var isAfterPoint = false

  init(_ text: String) { bytes = Array(text.utf8) }

  /// The next token and where it starts.
  mutating func next() throws(QueryError) -> (token: Token, start: Int) {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
      position += 1
    }
    let start = position
    guard position < bytes.count else { return (.end, start) }
    let token = try read()
    switch token {
    case .word, .string, .variable, .argument, .symbol(")"), .symbol("]"), .symbol("}"):
      endsOperand = true
    case .number, .symbol, .end: endsOperand = isAfterPoint
    }
    isAfterPoint = token == .symbol(".")
    return (token, start)
  }

  private mutating func read() throws(QueryError) -> Token {
    let byte = bytes[position]
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try quoted(byte))
    case UInt8(ascii: "%") where !follows("%%"): return .argument(try argument())
    case UInt8(ascii: "$"):
      position += 1
      return .variable(try name(after: "$"))
    case UInt8(ascii: "#"):
      position += 1
      return .word(try name(after: "#"), isEscaped: true)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return isAfterPoint ? index() : try number()
    case UInt8(ascii: ".") where !endsOperand && isDigit(position + 1): return try number()
    case _ where isNameByte(byte) || byte == UInt8(ascii: "\\") || follows("%%"):
      return .word(try name(after: ""), isEscaped: false)
    default: return try symbol()
    }
  }

  // MARK: Names

  /// Letters of any script, digits, underscores, `%%` for a per cent sign, and characters by their numbers.
  private mutating func name(after mark: String) throws(QueryError) -> String {
    var name: [UInt8] = []
    while position < bytes.count {
      if follows("%%") {
        name.append(UInt8(ascii: "%"))
        position += 2
      } else if let character = try codedCharacter() {
        name += character
      } else if isNameByte(bytes[position]) {
        name.append(bytes[position])
        position += 1
      } else {
        break
      }
    }
    guard !name.isEmpty else { throw error("expected a name after \(mark)") }
    return String(decoding: name, as: UTF8.self)
  }

  func isNameByte(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte == UInt8(ascii: "_") || byte &- 0x30 <= 9 || (byte | 0x20) &- 0x61 < 26
  }

  /// An index into an array, as a name.
  private mutating func index() -> Token {
    let start = position
    while isDigit(position) { position += 1 }
    return .word(String(decoding: bytes[start..<position], as: UTF8.self), isEscaped: true)
  }

  func isDigit(_ at: Int) -> Bool { at < bytes.count && bytes[at] &- 0x30 <= 9 }

  func follows(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard position + count <= bytes.count else { return false }
    return (0..<count).allSatisfy { bytes[position + $0] == text.utf8Start[$0] }
  }

  // MARK: Arguments and symbols

  /// `%@`, `%K`, or a conversion of `printf`, whose length modifiers mean nothing here.
  private mutating func argument() throws(QueryError) -> Character {
    let start = position
    position += 1
    while position < bytes.count, "hlqLjzt".utf8.contains(bytes[position]) { position += 1 }
    guard position < bytes.count, "@KdDiuUxXoOfFeEgGaAsScC".utf8.contains(bytes[position]) else {
      throw QueryError(.syntax, "expected %@, %K, %d, %f or another conversion", at: start)
    }
    position += 1
    return Character(Unicode.Scalar(bytes[position - 1]))
  }

  private static let symbols = [
    "&&", "||", "==", "=<", "=>", "!=", "<>", "<=", ">=", "**", ":=", "=", "<", ">", "!", "+", "-",
    "*", "/", "(", ")", "{", "}", "[", "]", ",", ".", "@",
  ]

  private mutating func symbol() throws(QueryError) -> Token {
    for symbol in FormatLexer.symbols where bytes[position...].starts(with: symbol.utf8) {
      position += symbol.utf8.count
      return .symbol(symbol)
    }
    throw error("unexpected character")
  }

  func error(_ message: String) -> QueryError {
    QueryError(.syntax, message, at: min(position, bytes.count))
  }
}
