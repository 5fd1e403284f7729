internal import KVJSON

/// A JSON number: exact if it is an integer of 64 bits, else the nearest double.
enum Number: Equatable, Sendable {
  case int(Int64)
  case double(Double)

  var double: Double {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    }
  }

  /// Negative, 0 or positive, exact also between integers and doubles.
  static func compare(_ left: Number, _ right: Number) -> Int {
    if case .int(let a) = left, case .int(let b) = right { return a < b ? -1 : a > b ? 1 : 0 }
    let (a, b) = (left.split, right.split)
    if a.double != b.double { return a.double < b.double ? -1 : 1 }
    return a.rest < b.rest ? -1 : a.rest > b.rest ? 1 : 0
  }

  /// The nearest double, and what an integer has beyond it: comparing the two, one after the other,
  /// compares the numbers.
  var split: (double: Double, rest: Int16) {
    switch self {
    case .double(let value): return (value == 0 ? 0 : value, 0)
    case .int(let value):
      let double = Double(value)
      // 2^63 itself is no Int64; its neighbours lie 512 apart, so the rest always fits.
      guard let back = Int64(exactly: double) else {
        return (double, Int16(truncatingIfNeeded: (value &- Int64.max) &- 1))
      }
      return (double, Int16(truncatingIfNeeded: value &- back))
    }
  }

  /// The fraction dropped; nil if it does not fit.
  var whole: Int64? {
    switch self {
    case .int(let value): value
    case .double(let value): Int64(exactly: value.rounded(.towardZero))
    }
  }

  init?(_ value: JSONValue) {
    switch value {
    case .int(let number): self = .int(number)
    case .double(let number): self = .double(number)
    default: return nil
    }
  }

  /// Reads validated digits.
  init(_ scanner: ByteScanner, _ range: Range<Int>) {
    var at = range.lowerBound
    let isNegative = at < range.upperBound && scanner.base[at] == UInt8(ascii: "-")
    if isNegative { at &+= 1 }
    let start = at
    var value: Int64 = 0
    while at < range.upperBound, scanner.base[at] &- 0x30 <= 9, at &- start < 18 {
      value = value &* 10 &+ Int64(scanner.base[at] &- 0x30)
      at &+= 1
    }
    if at == range.upperBound {
      self = .int(isNegative ? 0 &- value : value)
      return
    }
    self = Number.parse(scanner, range)
  }

  /// Fractions, exponents and more than 18 digits.
  private static func parse(_ scanner: ByteScanner, _ range: Range<Int>) -> Number {
    let bytes = UnsafeBufferPointer(start: scanner.base + range.lowerBound, count: range.count)
    let text = String(decoding: bytes, as: UTF8.self)
    if let value = Int64(text) { return .int(value) }
    return .double(Double(text) ?? 0)
  }
}
