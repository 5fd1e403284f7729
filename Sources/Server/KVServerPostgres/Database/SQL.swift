internal import KVQuery
internal import KVServerCore

/// A piece of SQL with the values of its parameters, which cannot get out of step: a literal binds the values that it
/// names, and takes in other pieces with theirs. Parameters are numbered (`$1`) when a whole statement is made of it.
///
///     let rows: SQL = "\(condition) AND n > \(bind: last)"
struct SQL: SQLPiece {
  /// Stands in `template` for each value.
  private static let mark: UInt8 = 1

  /// The text without the values: statements that differ only in their values have the same.
  fileprivate(set) var template: String
  fileprivate(set) var values: [SQLValue] = []
  /// Whether a connection prepares it, so that PostgreSQL parses it once, and plans it without looking at the values once
  /// that turned out to be as good.
  private(set) var isPrepared = true

  init(stringLiteral text: String) { template = text }

  init(stringInterpolation literal: StringInterpolation) { self = literal.piece }

  /// The same statement, which is planned for its values each time: for those whose best plan depends on them.
  var plannedEachTime: SQL {
    var statement = self
    statement.isPrepared = false
    return statement
  }

  /// The end of a transaction. It is not prepared, as it has no plan; so its name is in what is sent, for those who watch.
  static let commit = ("COMMIT" as SQL).plannedEachTime

  /// The statement as PostgreSQL takes it.
  var text: String {
    var (text, number): ([UInt8], Int) = ([], 0)
    text.reserveCapacity(template.utf8.count + 2 * values.count)
    for byte in template.utf8 {
      if byte == Self.mark {
        number += 1
        text += "$\(number)".utf8
      } else {
        text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  struct StringInterpolation: SQLPieces {
    fileprivate var piece: SQL = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      piece.template.reserveCapacity(2 * literalCapacity)
    }

    mutating func appendLiteral(_ literal: String) { piece.template += literal }

    /// Takes in another piece, with its values.
    mutating func appendInterpolation(_ other: SQL) {
      piece.template += other.template
      piece.values += other.values
      if !other.isPrepared { piece.isPrepared = false }
    }

    /// Puts text in as it is: names of tables and columns of our own, never a value.
    mutating func appendInterpolation(sql text: String) { piece.template += text }

    mutating func appendInterpolation(bind value: Int64?) { append(.integer(value)) }
    mutating func appendInterpolation(bind value: Int) { append(.integer(Int64(value))) }
    mutating func appendInterpolation(bind value: Bool?) { append(.flag(value)) }
    mutating func appendInterpolation(bind text: String?) {
      append(.bytes(text.map { Array($0.utf8) }))
    }
    mutating func appendInterpolation(bind bytes: [UInt8]) { append(.bytes(bytes)) }
    /// An array of texts.
    mutating func appendInterpolation(bind texts: [String]?) {
      append(.list(texts.map { $0.map { Array($0.utf8) } }))
    }
    mutating func appendInterpolation(bind list: [[UInt8]]) { append(.list(list)) }
    mutating func appendInterpolation(bind numbers: [Int64]) { append(.integers(numbers)) }

    private mutating func append(_ value: SQLValue) {
      piece.template.unicodeScalars.append(Unicode.Scalar(SQL.mark))
      piece.values.append(value)
    }
  }
}

/// A statement whose text is made once, for values that come later: making the text of what each request asks takes longer than
/// sending it.
struct SQLForm: Sendable {
  private let statement: SQL
  /// Of each parameter, which of the values it is; nil: it is always the same.
  private let places: [Int?]

  /// `examples`: a value for each one that comes later, all different; `statement`: what it is with these.
  init(_ examples: [SQLValue], _ statement: SQL) {
    self.statement = statement
    places = statement.values.map { examples.firstIndex(of: $0) }
  }

  /// The statement with these values, in the order of the examples.
  func with(_ values: [SQLValue]) -> SQL {
    var sql = statement
    for (parameter, place) in places.enumerated() {
      if let place { sql.values[parameter] = values[place] }
    }
    return sql
  }
}

// MARK: Dialect

extension SQL {
  /// `user` is a reserved word here.
  static let user: SQL = "usr"

  static func isAny(_ column: SQL, of texts: [String]) -> SQL {
    "\(column) = ANY(\(bind: texts))"
  }
}

/// A value of a parameter, as it travels: in PostgreSQL's binary format. Nil is NULL.
///
/// Texts travel and are stored as bytes: they compare by bytes whatever the database's collation is, and none is
/// refused for a character that PostgreSQL's own texts cannot have.
enum SQLValue: Sendable, Equatable {
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

  /// Adds the value to what is sent; false: it is NULL.
  func append(to message: inout [UInt8]) -> Bool {
    switch self {
    case .integer(let value?): Self.append(value, to: &message)
    case .flag(let value?): message.append(value ? 1 : 0)
    case .bytes(let bytes?): message += bytes
    case .list(let elements?):
      Self.appendHead(of: elements.count, type: 17, to: &message)
      for element in elements {
        Self.append(Int32(clamping: element.count), to: &message)
        message += element
      }
    case .integers(let numbers):
      Self.appendHead(of: numbers.count, type: 20, to: &message)
      for number in numbers {
        Self.append(Int32(8), to: &message)
        Self.append(number, to: &message)
      }
    case .integer(nil), .flag(nil), .bytes(nil), .list(nil): return false
    }
    return true
  }

  private static func append(_ value: some FixedWidthInteger, to message: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { message.append(contentsOf: $0) }
  }

  /// What stands before the elements of an array that has one dimension, begins at 1 and has no NULLs.
  private static func appendHead(of count: Int, type: Int32, to message: inout [UInt8]) {
    append(Int32(count == 0 ? 0 : 1), to: &message)
    append(Int32(0), to: &message)
    append(type, to: &message)
    guard count > 0 else { return }
    append(Int32(clamping: count), to: &message)
    append(Int32(1), to: &message)
  }
}
