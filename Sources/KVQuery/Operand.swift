internal import KVJSON

/// What an entity's values are compared with, prepared once.
struct Operand: Sendable {
  private enum Form: Sendable {
    case null
    case bool(Bool)
    case number(Number)
    case text([UInt8])
    /// An object or array, encoded (see `ValueEncoding`).
    case container([UInt8])
  }

  let kind: RawValue.Kind
  private let form: Form

  init(_ value: JSONValue) {
    kind = value.kind
    switch value {
    case .null: form = .null
    case .bool(let value): form = .bool(value)
    case .int(let value): form = .number(.int(value))
    case .double(let value): form = .number(.double(value))
    case .string(let value): form = .text(Array(value.utf8))
    case .array, .object:
      var encoded: [UInt8] = []
      ValueEncoding.append(value, to: &encoded)
      form = .container(encoded)
    }
  }

  /// How a value compares; nil if it is of another type. A missing one compares as null.
  func order(of value: RawValue?) -> Int? {
    guard let value else { return kind == .null ? 0 : nil }
    guard value.kind == kind else { return nil }
    switch form {
    case .null: return 0
    case .bool(let wanted): return (value.bool ? 1 : 0) - (wanted ? 1 : 0)
    case .number(let wanted): return Number.compare(value.number, wanted)
    case .text(let wanted):
      return value.withText { text in
        wanted.withUnsafeBufferPointer { ValueEncoding.compare(text, $0) }
      }
    case .container(let wanted):
      var encoded: [UInt8] = []
      ValueEncoding.append(value, to: &encoded)
      return ValueEncoding.compare(encoded, wanted)
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

  init(_ values: [JSONValue]) {
    hasNull = values.contains(.null)
    guard values.count > OperandSet.few else {
      list = values.map(Operand.init)
      encodings = []
      return
    }
    list = []
    encodings = Set(
      values.map { value in
        var encoded: [UInt8] = []
        ValueEncoding.append(value, to: &encoded)
        return encoded
      })
  }

  func contains(_ value: RawValue?) -> Bool {
    guard let value else { return hasNull }
    guard encodings.isEmpty else {
      var encoded: [UInt8] = []
      ValueEncoding.append(value, to: &encoded)
      return encodings.contains(encoded)
    }
    return list.contains { $0.equals(value) }
  }
}
