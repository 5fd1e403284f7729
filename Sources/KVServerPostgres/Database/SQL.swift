/// A piece of SQL with the values of its parameters, which cannot get out of step: a literal binds the values that it
/// names, and takes in other pieces with theirs. Parameters are numbered (`$1`) when a whole statement is made of it.
///
///     let rows: SQL = "\(condition) AND n > \(bind: last)"
struct SQL: Sendable, ExpressibleByStringInterpolation {
  fileprivate enum Part: Sendable {
    case text(String)
    case value(SQLValue)
  }

  private var parts: [Part]

  init(stringLiteral text: String) { parts = [.text(text)] }

  init(stringInterpolation literal: StringInterpolation) { parts = literal.parts }

  /// The statement, with its values in the order of their numbers.
  var statement: (text: String, values: [SQLValue]) {
    var (text, values): (String, [SQLValue]) = ("", [])
    for part in parts {
      switch part {
      case .text(let piece): text += piece
      case .value(let value):
        values.append(value)
        text += "$\(values.count)"
      }
    }
    return (text, values)
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) { parts.append(.text(literal)) }

    /// Takes in another piece, with its values.
    mutating func appendInterpolation(_ piece: SQL) { parts += piece.parts }

    /// Puts text in as it is: names of tables and columns of our own, never a value.
    mutating func appendInterpolation(sql text: String) { parts.append(.text(text)) }

    mutating func appendInterpolation(bind value: Int64?) { parts.append(.value(.integer(value))) }
    mutating func appendInterpolation(bind value: Int) {
      parts.append(.value(.integer(Int64(value))))
    }
    mutating func appendInterpolation(bind value: Bool?) { parts.append(.value(.flag(value))) }
    mutating func appendInterpolation(bind text: String?) {
      parts.append(.value(.bytes(text.map { Array($0.utf8) })))
    }
    mutating func appendInterpolation(bind bytes: [UInt8]) { parts.append(.value(.bytes(bytes))) }
    /// An array of texts.
    mutating func appendInterpolation(bind texts: [String]?) {
      parts.append(.value(.list(texts.map { $0.map { Array($0.utf8) } })))
    }
    mutating func appendInterpolation(bind list: [[UInt8]]) { parts.append(.value(.list(list))) }
    mutating func appendInterpolation(bind numbers: [Int64]) {
      parts.append(.value(.integers(numbers)))
    }
  }
}

/// A value of a parameter, as it travels: in PostgreSQL's binary format. Nil is NULL.
///
/// Texts travel and are stored as bytes: they compare by bytes whatever the database's collation is, and none is
/// refused for a character that PostgreSQL's own texts cannot have.
enum SQLValue: Sendable {
  case integer(Int64?)
  case flag(Bool?)
  case bytes([UInt8]?)
  case list([[UInt8]]?)
  case integers([Int64])

  /// The number of the type in PostgreSQL's catalogue.
  var type: UInt32 {
    switch self {
    case .integer: 20
    case .flag: 16
    case .bytes: 17
    case .list: 1001
    case .integers: 1016
    }
  }

  var encoded: [UInt8]? {
    switch self {
    case .integer(let value): value.map { Self.bigEndian($0) }
    case .flag(let value): value.map { [$0 ? 1 : 0] }
    case .bytes(let bytes): bytes
    case .list(let elements): elements.map { Self.array(of: $0, type: 17) }
    case .integers(let numbers): Self.array(of: numbers.map { Self.bigEndian($0) }, type: 20)
    }
  }

  private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  /// One dimension that begins at 1, without NULLs.
  private static func array(of elements: [[UInt8]], type: Int32) -> [UInt8] {
    var bytes = bigEndian(Int32(elements.isEmpty ? 0 : 1)) + bigEndian(Int32(0)) + bigEndian(type)
    guard !elements.isEmpty else { return bytes }
    bytes += bigEndian(Int32(clamping: elements.count)) + bigEndian(Int32(1))
    for element in elements { bytes += bigEndian(Int32(clamping: element.count)) + element }
    return bytes
  }
}
