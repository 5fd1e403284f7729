internal import KVSQLite

/// A parameter of statements that run row by row, by name: their texts and what is bound to them say the same name.
///
/// They are prepared once, for all rows. A fragment, which carries its values, would be written and found again for
/// each of them, in every save and every find by id.
struct Parameter: CustomStringConvertible {
  static let id = Parameter(number: 1)
  static let generation = Parameter(number: 2)
  /// Milliseconds.
  static let time = Parameter(number: 3)
  static let body = Parameter(number: 4)
  /// The row number of an entity.
  static let row = Parameter(number: 5)
  static let version = Parameter(number: 6)
  static let operation = Parameter(number: 7)
  static let revision = Parameter(number: 8)
  static let isConditional = Parameter(number: 9)
  /// A filter as JSON.
  static let condition = Parameter(number: 11)
  /// Updates as a JSON array, or NULL.
  static let operators = Parameter(number: 12)
  /// The generation of a refresh mark.
  static let mark = Parameter(number: 10)

  fileprivate let number: Int32

  /// The placeholder in the text of a statement.
  var description: String { "?\(number)" }
}

extension Statement {
  func bind(_ value: Int64, at parameter: Parameter) throws(SQLiteError) {
    try bind(value, at: parameter.number)
  }

  func bind(_ value: Int, at parameter: Parameter) throws(SQLiteError) {
    try bind(value, at: parameter.number)
  }

  /// Binds a copy of the text; nil is NULL.
  func bind(_ text: String?, at parameter: Parameter) throws(SQLiteError) {
    try bind(text, at: parameter.number)
  }

  /// Binds UTF-8 text where it is. The bytes must stay until the statement is reset or gone.
  func bind(
    borrowedText bytes: UnsafeRawBufferPointer, at parameter: Parameter
  ) throws(SQLiteError) {
    try bind(borrowedText: bytes, at: parameter.number)
  }
}
