internal import KVCollation
internal import KVJSON

/// A value as an ordered index holds it. SQLite's own order of these, numbers before texts (byte by byte)
/// before blobs, is that of `Sorter`:
///
///     null, missing   -Infinity
///     number          itself, integer or double
///     text            itself
///     object, array,  a blob: their `ValueEncoding`
///     boolean
///
/// In an index with a collation a text is a blob as well: the byte of its type, and its key in the order of the language.
package enum IndexValue: Sendable, Hashable {
  case null
  case int(Int64)
  case double(Double)
  case text([UInt8])
  case blob([UInt8])

  /// The key of null and missing values: below all numbers. (Infinite ones are in no index.)
  package static let lowest = -Double.infinity

  /// A condition in SQL: that a column has a number. Null is below them, a text above.
  package static func isNumber(_ column: String) -> String { "(\(column)>-9e999 AND \(column)<'')" }

  /// The value, numbers without a fraction as integers; nil for an object or an array, which are kept in another
  /// order than they were written in.
  var json: JSONValue? {
    switch self {
    case .null, .double(Self.lowest): .null
    case .int(let number): .int(number)
    case .double(let number): .double(number)
    case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
    case .blob([RawValue.Kind.bool.rawValue, 0]): .bool(false)
    case .blob([RawValue.Kind.bool.rawValue, 1]): .bool(true)
    case .blob: nil
    }
  }

  /// Makes the key of a value; nil for a number beyond all doubles. `collation`: of the index.
  init?(_ value: RawValue?, _ collation: Collation? = nil) {
    guard let value else {
      self = .null
      return
    }
    switch value.kind {
    case .null: self = .null
    case .number: self.init(value.number)
    case .string: self = value.withText { IndexValue(text: $0, collation) }
    case .object, .array, .bool:
      var encoded: [UInt8] = []
      ValueEncoding.append(value, to: &encoded, collation)
      self = .blob(encoded)
    }
  }

  init?(_ value: JSONValue, _ collation: Collation? = nil) {
    switch value {
    case .null: self = .null
    case .int(let number): self.init(Number.int(number))
    case .double(let number): self.init(Number.double(number))
    case .string(let text):
      self = Array(text.utf8).withUnsafeBufferPointer { IndexValue(text: $0, collation) }
    case .object, .array, .bool:
      var encoded: [UInt8] = []
      ValueEncoding.append(value, to: &encoded, collation)
      self = .blob(encoded)
    }
  }

  private init(text: UnsafeBufferPointer<UInt8>, _ collation: Collation?) {
    self =
      collation.map { .blob([RawValue.Kind.string.rawValue] + $0.key(of: text)) }
      ?? .text(Array(text))
  }

  private init?(_ number: Number) {
    switch number {
    case .int(let value): self = .int(value)
    case .double(let value):
      guard value.isFinite else { return nil }
      self = Int64(exactly: value).map { .int($0) } ?? .double(value)
    }
  }
}
