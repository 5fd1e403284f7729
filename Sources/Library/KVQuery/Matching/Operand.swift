internal import KVCollation
internal import KVJSON

/// The operand that an entity's values are compared with, prepared once.
///
/// Plain members beside the kind instead of an enumeration with payloads: looking at one copies nothing.
struct Operand: Sendable {
  let kind: RawValue.Kind
  private let bool: Bool
  private let number: Number
  /// The UTF-8 of a string, or its key; an object or array encoded (see `ValueEncoding`).
  private let bytes: [UInt8]
  /// The order of texts; nil: by code point.
  private let collation: Collation?

  init(_ value: JSONValue, _ collation: Collation? = nil) {
    self.collation = collation
    kind = value.kind
    bool = value == .bool(true)
    number = Number(value) ?? .int(0)
    switch value {
    case .string(let value): bytes = collation?.key(of: value) ?? Array(value.utf8)
    case .array, .object:
      var encoded: [UInt8] = []
      ValueEncoding.append(value, to: &encoded, collation)
      bytes = encoded
    case .null, .bool, .int, .double: bytes = []
    }
  }

  /// Compares a value; nil if it is of another type. A missing one compares as null.
  func order(of value: RawValue?) -> Int? {
    guard let value else { return kind == .null ? 0 : nil }
    guard value.kind == kind else { return nil }
    switch kind {
    case .null: return 0
    case .bool: return (value.bool ? 1 : 0) - (bool ? 1 : 0)
    case .number: return Number.compare(value.number, number)
    case .string:
      return value.withText { text in
        collation.withKey(of: text) { key in
          bytes.withUnsafeBufferPointer { ValueEncoding.compare(key, $0) }
        }
      }
    case .object, .array:
      var encoded: [UInt8] = []
      ValueEncoding.append(value, to: &encoded, collation)
      return ValueEncoding.compare(encoded, bytes)
    }
  }

  func equals(_ value: RawValue?) -> Bool { order(of: value) == 0 }

  func holds(_ comparison: Test.Comparison, _ value: RawValue?) -> Bool {
    guard let order = order(of: value) else { return false }
    return switch comparison {
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

/// Several operands, any of which may be equal.
struct OperandSet: Sendable {
  /// Above so many, values are looked up by their encoding.
  private static let few = 8

  private let list: [Operand]
  private let encodings: Set<[UInt8]>
  private let hasNull: Bool
  private let collation: Collation?

  init(_ values: [JSONValue], _ collation: Collation? = nil) {
    self.collation = collation
    hasNull = values.contains(.null)
    guard values.count > OperandSet.few else {
      list = values.map { Operand($0, collation) }
      encodings = []
      return
    }
    list = []
    encodings = Set(
      values.map { value in
        var encoded: [UInt8] = []
        ValueEncoding.append(value, to: &encoded, collation)
        return encoded
      })
  }

  func contains(_ value: RawValue?) -> Bool {
    guard let value else { return hasNull }
    guard encodings.isEmpty else {
      var encoded: [UInt8] = []
      ValueEncoding.append(value, to: &encoded, collation)
      return encodings.contains(encoded)
    }
    return list.contains { $0.equals(value) }
  }
}
