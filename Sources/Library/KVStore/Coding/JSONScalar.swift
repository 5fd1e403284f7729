internal import KVJSON

/// A type that is a single JSON value. Decoding is strict: a string is not a number, 1 is not a bool, and no number
/// changes its value.
protocol JSONScalar: Codable {
  /// The JSON value. Nil if JSON cannot represent it.
  var json: JSONValue? { get }
  /// Reads the JSON value. Nil if it has another type or is out of range.
  init?(json: JSONValue)
  /// The expected value, for error messages.
  static var expected: String { get }
  /// Two different values, by which members are told apart.
  static var probes: (Self, Self) { get }
}

extension Bool: JSONScalar {
  var json: JSONValue? { .bool(self) }
  init?(json: JSONValue) {
    guard let value = json.boolValue else { return nil }
    self = value
  }
  static var expected: String { "true or false" }
  static var probes: (Bool, Bool) { (false, true) }
}

extension String: JSONScalar {
  var json: JSONValue? { .string(self) }
  init?(json: JSONValue) {
    guard let value = json.stringValue else { return nil }
    self = value
  }
  static var expected: String { "a text" }
  static var probes: (String, String) { ("Member Zero", "Member One") }
}

extension Double: JSONScalar {
  var json: JSONValue? { isFinite ? .double(self) : nil }
  init?(json: JSONValue) {
    switch json {
    case .double(let value): self = value
    case .int(let value):
      guard let exact = Double(exactly: value) else { return nil }
      self = exact
    default: return nil
    }
  }
  static var expected: String { "a number in the range of 64-bit floating point" }
  static var probes: (Double, Double) { (41.5, 42.5) }
}

extension Float: JSONScalar {
  var json: JSONValue? { Double(self).json }
  init?(json: JSONValue) {
    guard let value = Double(json: json), Float(value).isFinite else { return nil }
    self = Float(value)
  }
  static var expected: String { "a number in the range of 32-bit floating point" }
  static var probes: (Float, Float) { (41.5, 42.5) }
}

/// The common part of all integer types.
protocol JSONInteger: JSONScalar, FixedWidthInteger {}

extension JSONInteger {
  var json: JSONValue? { Int64(exactly: self).map { .int($0) } }

  init?(json: JSONValue) {
    switch json {
    case .int(let value): self.init(exactly: value)
    // Such as 3.0. A larger one may be the rounded value of another integer.
    case .double(let value) where value.magnitude < 0x1p53: self.init(exactly: value)
    default: return nil
    }
  }

  static var expected: String { "a whole number from \(Self.min) to \(Self.max)" }
  static var probes: (Self, Self) { (41, 42) }
}

extension Int: JSONInteger {}
extension Int8: JSONInteger {}
extension Int16: JSONInteger {}
extension Int32: JSONInteger {}
extension Int64: JSONInteger {}
extension UInt: JSONInteger {}
extension UInt8: JSONInteger {}
extension UInt16: JSONInteger {}
extension UInt32: JSONInteger {}
extension UInt64: JSONInteger {}
