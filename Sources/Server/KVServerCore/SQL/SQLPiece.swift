package import KVQuery

/// A piece of SQL with the values of its parameters, in the dialect of one storage. What storages say alike is written once, in
/// this folder, as literals of any such type:
///
///     let rows: Piece = "\(condition) AND n > \(bind: last)"
///
/// It uses what every dialect here has: `true`, `gr IS TRUE`, `ON CONFLICT (…)`. Where dialects differ, the requirements are.
package protocol SQLPiece: ExpressibleByStringInterpolation, Sendable
where
  StringLiteralType == String, StringInterpolation: SQLPieces, StringInterpolation.Piece == Self
{
  /// The column with the id of a user, in the tables that have one.
  static var user: Self { get }

  /// Tells whether a column has one of these texts.
  static func isAny(_ column: Self, of texts: [String]) -> Self

  /// What `IndexUse` says, with its values as this storage keeps the keys of indexes.
  init(_ fragment: IndexUse.Fragment)
}

/// The parts of a literal that is a piece of SQL.
package protocol SQLPieces: StringInterpolationProtocol where StringLiteralType == String {
  associatedtype Piece
  /// Takes in another piece, with its values.
  mutating func appendInterpolation(_ piece: Piece)
  /// Puts text in as it is: names of tables and columns of our own, never a value.
  mutating func appendInterpolation(sql text: String)
  /// Nil is NULL.
  mutating func appendInterpolation(bind value: Int64?)
  mutating func appendInterpolation(bind value: Int)
  /// Nil is NULL.
  mutating func appendInterpolation(bind text: String?)
}
