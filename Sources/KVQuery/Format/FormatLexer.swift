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

  private let bytes: [UInt8]
  private(set) var place = 0
  /// A point behind these belongs to a path, not to a number.
  private var endsOperand = false
  /// Digits behind such a point are a name: `a.0.1`.
  private var isBehindPoint = false

  init(_ text: String) { bytes = Array(text.utf8) }

  /// The next token and where it starts.
  mutating func next() throws(QueryError) -> (token: Token, start: Int) {
    while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
    let start = place
    guard place < bytes.count else { return (.end, start) }
    let token = try read()
    switch token {
    case .word, .string, .variable, .argument, .symbol(")"), .symbol("]"), .symbol("}"):
      endsOperand = true
    case .number, .symbol, .end: endsOperand = isBehindPoint
    }
    isBehindPoint = token == .symbol(".")
    return (token, start)
  }

  private mutating func read() throws(QueryError) -> Token {
    let byte = bytes[place]
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try quoted(byte))
    case UInt8(ascii: "%") where !follows("%%"): return .argument(try argument())
    case UInt8(ascii: "$"):
      place += 1
      return .variable(try name(after: "$"))
    case UInt8(ascii: "#"):
      place += 1
      return .word(try name(after: "#"), isEscaped: true)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return isBehindPoint ? digits() : try number()
    case UInt8(ascii: ".") where !endsOperand && isDigit(place + 1): return try number()
    case _ where isNameByte(byte) || follows("%%"):
      return .word(try name(after: ""), isEscaped: false)
    default: return try symbol()
    }
  }

  // MARK: Names

  /// Letters of any script, digits, underscores, and `%%` for a per cent sign.
  private mutating func name(after mark: String) throws(QueryError) -> String {
    var name: [UInt8] = []
    while place < bytes.count {
      if follows("%%") {
        name.append(UInt8(ascii: "%"))
        place += 2
      } else if isNameByte(bytes[place]) {
        name.append(bytes[place])
        place += 1
      } else {
        break
      }
    }
    guard !name.isEmpty else { throw error("expected a name behind \(mark)") }
    return String(decoding: name, as: UTF8.self)
  }

  private func isNameByte(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte == UInt8(ascii: "_") || byte &- 0x30 <= 9 || (byte | 0x20) &- 0x61 < 26
  }

  private func isDigit(_ at: Int) -> Bool { at < bytes.count && bytes[at] &- 0x30 <= 9 }

  private func follows(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard place + count <= bytes.count else { return false }
    return (0..<count).allSatisfy { bytes[place + $0] == text.utf8Start[$0] }
  }

  // MARK: Constants

  private mutating func quoted(_ quote: UInt8) throws(QueryError) -> String {
    let start = place
    place += 1
    var text: [UInt8] = []
    while place < bytes.count, bytes[place] != quote {
      if bytes[place] == UInt8(ascii: "\\") {
        text += try escape()
      } else {
        text.append(bytes[place])
        place += 1
      }
    }
    guard place < bytes.count else {
      throw QueryError(.syntax, "expected a closing quote", at: start)
    }
    place += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escape() throws(QueryError) -> [UInt8] {
    guard place + 1 < bytes.count else { throw error("expected a character behind the backslash") }
    let letter = bytes[place + 1]
    switch letter {
    case UInt8(ascii: "n"): return skip(2, [0x0A])
    case UInt8(ascii: "r"): return skip(2, [0x0D])
    case UInt8(ascii: "t"): return skip(2, [0x09])
    case UInt8(ascii: "b"): return skip(2, [0x08])
    case UInt8(ascii: "f"): return skip(2, [0x0C])
    case UInt8(ascii: "x"), UInt8(ascii: "u"), UInt8(ascii: "U"):
      let most = letter == UInt8(ascii: "x") ? 2 : letter == UInt8(ascii: "u") ? 4 : 8
      var end = place + 2
      while end < bytes.count, end < place + 2 + most, hexDigit(bytes[end]) != nil { end += 1 }
      let digits = String(decoding: bytes[place + 2..<end], as: UTF8.self)
      guard end == place + 2 + most, let code = UInt32(digits, radix: 16),
        let scalar = Unicode.Scalar(code)
      else { throw error("expected \(most) hexadecimal digits of a character") }
      return skip(2 + most, Array(String(scalar).utf8))
    default:
      return skip(2, letter < 0x80 ? [letter] : [UInt8(ascii: "\\"), letter])
    }
  }

  private mutating func skip(_ count: Int, _ text: [UInt8]) -> [UInt8] {
    place += count
    return text
  }

  private func hexDigit(_ byte: UInt8) -> UInt8? {
    let lower = byte | 0x20
    return byte &- 0x30 <= 9 ? byte &- 0x30 : lower &- 0x61 < 6 ? lower &- 0x57 : nil
  }

  /// A place in an array, as a name.
  private mutating func digits() -> Token {
    let start = place
    while isDigit(place) { place += 1 }
    return .word(String(decoding: bytes[start..<place], as: UTF8.self), isEscaped: true)
  }

  private mutating func number() throws(QueryError) -> Token {
    let start = place
    let isHex = follows("0x") || follows("0X")
    if isHex { place += 2 }
    while place < bytes.count, isHex ? hexDigit(bytes[place]) != nil : isDigit(place) { place += 1 }
    if isHex { return try hexadecimal(from: start) }
    if place < bytes.count, bytes[place] == UInt8(ascii: "."), isDigit(place + 1) {
      place += 1
      while isDigit(place) { place += 1 }
    }
    try exponent()
    if place < bytes.count, isNameByte(bytes[place]) { throw error("expected an operator") }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    if let integer = Int64(text) { return .number(.int(integer)) }
    let padded = text.hasPrefix(".") ? "0" + text : text
    guard let double = Double(padded), double.isFinite else {
      throw QueryError(.syntax, "the number is out of range", at: start)
    }
    return .number(.double(double))
  }

  private mutating func hexadecimal(from start: Int) throws(QueryError) -> Token {
    let digits = String(decoding: bytes[start + 2..<place], as: UTF8.self)
    guard !digits.isEmpty else { throw error("expected hexadecimal digits") }
    guard let value = Int64(digits, radix: 16) else {
      throw QueryError(.syntax, "the number is out of range", at: start)
    }
    return .number(.int(value))
  }

  private mutating func exponent() throws(QueryError) {
    guard place < bytes.count, bytes[place] | 0x20 == UInt8(ascii: "e") else { return }
    var at = place + 1
    if at < bytes.count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") {
      at += 1
    }
    place = at
    guard isDigit(place) else { throw error("expected the digits of an exponent") }
    while isDigit(place) { place += 1 }
  }

  // MARK: Arguments and symbols

  /// `%@`, `%K`, or a conversion of `printf`, whose length modifiers mean nothing here.
  private mutating func argument() throws(QueryError) -> Character {
    let start = place
    place += 1
    while place < bytes.count, "hlqLjzt".utf8.contains(bytes[place]) { place += 1 }
    guard place < bytes.count, "@KdDiuUxXoOfFeEgGaAsScC".utf8.contains(bytes[place]) else {
      throw QueryError(.syntax, "expected %@, %K, %d, %f or another conversion", at: start)
    }
    place += 1
    return Character(Unicode.Scalar(bytes[place - 1]))
  }

  private static let symbols = [
    "&&", "||", "==", "=<", "=>", "!=", "<>", "<=", ">=", "**", ":=", "=", "<", ">", "!", "+", "-",
    "*", "/", "(", ")", "{", "}", "[", "]", ",", ".", "@",
  ]

  private mutating func symbol() throws(QueryError) -> Token {
    for symbol in FormatLexer.symbols where bytes[place...].starts(with: symbol.utf8) {
      place += symbol.utf8.count
      return .symbol(symbol)
    }
    throw error("unexpected character")
  }

  private func error(_ message: String) -> QueryError {
    QueryError(.syntax, message, at: min(place, bytes.count))
  }
}
