internal import Glibc
internal import KVBase
internal import KVJSON

extension Expression.Aggregate {
  /// The aggregate of a collection; nil of what is none. Missing elements count as 0 in sums and
  /// averages, and are ignored otherwise.
  func apply(_ value: JSONValue?) -> JSONValue? {
    guard let elements = value?.arrayValue else { return nil }
    let present = elements.filter { !$0.isNull }
    switch self {
    case .count: return .int(Int64(elements.count))
    case .sum: return .sum(of: elements)
    case .avg: return elements.isEmpty ? nil : Arithmetic.mean(elements)
    case .min: return present.min { Arithmetic.order($0, $1) < 0 }
    case .max: return present.max { Arithmetic.order($0, $1) < 0 }
    }
  }
}

extension Expression.Function {
  /// The function's value; null if an argument is null or of the wrong type.
  func apply(_ arguments: [JSONValue]) -> JSONValue {
    guard let first = arguments.first else { return .null }
    switch self {
    case .add, .subtract, .multiply, .divide, .power:
      guard arguments.count == 2 else { return .null }
      return Arithmetic.calculate(self, first, right: arguments[1])
    case .negate: return Arithmetic.calculate(.subtract, .int(0), right: first)
    case .sum, .count, .min, .max, .average, .median, .mode, .stddev: return overMany(arguments)
    case .sqrt, .ln, .log, .exp, .floor, .ceiling, .abs, .trunc: return ofNumber(first)
    case .uppercase: return first.stringValue.map { .string($0.uppercased()) } ?? .null
    case .lowercase: return first.stringValue.map { .string($0.lowercased()) } ?? .null
    case .length: return first.stringValue.map { .int(Int64($0.utf16.count)) } ?? .null
    case .date: return Arithmetic.date(first)
    case .string: return first.isNull ? .null : .string(first.stringValue ?? first.text)
    case .number: return Arithmetic.number(first)
    }
  }

  /// Whether it takes any number of values, or one array of them.
  var isOverMany: Bool {
    [.sum, .count, .min, .max, .average, .median, .mode, .stddev].contains(self)
  }

  private func overMany(_ arguments: [JSONValue]) -> JSONValue {
    let values = arguments.count == 1 ? arguments[0] : .array(arguments)
    let result: JSONValue? =
      switch self {
      case .sum: Expression.Aggregate.sum.apply(values)
      case .min: Expression.Aggregate.min.apply(values)
      case .max: Expression.Aggregate.max.apply(values)
      case .average: Expression.Aggregate.avg.apply(values)
      case .median: Statistics.median(values)
      case .mode: Statistics.mode(values)
      case .stddev: Statistics.deviation(values)
      default: Expression.Aggregate.count.apply(values)
      }
    return result ?? .null
  }

  private func ofNumber(_ value: JSONValue) -> JSONValue {
    guard let number = value.doubleValue else { return .null }
    if case .int = value, [.floor, .ceiling, .trunc].contains(self) { return value }
    if self == .abs, case .int(let integer) = value, integer != .min {
      return .int(Swift.abs(integer))
    }
    let result: Double =
      switch self {
      case .sqrt: number.squareRoot()
      case .ln: Glibc.log(number)
      case .log: Glibc.log10(number)
      case .exp: Glibc.exp(number)
      case .floor: number.rounded(.down)
      case .ceiling: number.rounded(.up)
      case .abs: Swift.abs(number)
      default: number.rounded(.towardZero)
      }
    return result.isFinite ? .double(result) : .null
  }
}

/// Numbers of two kinds, without overflow: what does not fit an integer becomes a double.
enum Arithmetic {
  /// Division never truncates: JSON does not tell 4 from 4.0, so results must not depend on it.
  static func calculate(
    _ function: Expression.Function, _ left: JSONValue, right: JSONValue
  ) -> JSONValue {
    if case .int(let a) = left, case .int(let b) = right,
      let result = whole(function, a, b: b)
    {
      return .int(result)
    }
    guard let a = left.doubleValue, let b = right.doubleValue else { return .null }
    let result: Double =
      switch function {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      case .divide: a / b
      default: pow(a, b)
      }
    return result.isFinite ? .double(result) : .null
  }

  /// The exact result; nil if it is no integer of 64 bits.
  private static func whole(_ function: Expression.Function, _ a: Int64, b: Int64) -> Int64? {
    let (result, overflow): (Int64, Bool)
    switch function {
    case .add: (result, overflow) = a.addingReportingOverflow(b)
    case .subtract: (result, overflow) = a.subtractingReportingOverflow(b)
    case .multiply: (result, overflow) = a.multipliedReportingOverflow(by: b)
    case .divide:
      guard b != 0, b != -1, a % b == 0 else { return nil }
      (result, overflow) = (a / b, false)
    case .power:
      let power = pow(Double(a), Double(b))
      guard Swift.abs(power) <= 0x1p53 else { return nil }
      return Int64(exactly: power)
    default: return nil
    }
    return overflow ? nil : result
  }

  /// The mean of as many as there are values: what is no number counts as 0.
  static func mean(_ values: [JSONValue]) -> JSONValue? {
    var sum = ExactSum()
    for case let number? in values.map({ Number($0) }) { sum.add(number) }
    return sum.mean(of: Int64(values.count)).map { .double($0) }
  }

  /// Compares by type, then by value.
  static func order(_ left: JSONValue, _ right: JSONValue) -> Int {
    var (a, b): ([UInt8], [UInt8]) = ([], [])
    ValueEncoding.append(left, to: &a)
    ValueEncoding.append(right, to: &b)
    return ValueEncoding.compare(a, b)
  }

  /// The number in a text; of a date the seconds since 2001.
  static func number(_ value: JSONValue) -> JSONValue {
    switch value {
    case .int, .double: return value
    case .bool(let flag): return .int(flag ? 1 : 0)
    case .string(let text):
      if let integer = Int64(text) { return .int(integer) }
      if let double = Double(text) { return double.isFinite ? .double(double) : .null }
      return Timestamp(text).map {
        .double((Double($0.milliseconds) - referenceDate) / 1000)
      } ?? .null
    case .null, .array, .object: return .null
    }
  }

  /// Milliseconds from 1970 to 2001, where Apple's dates begin.
  private static let referenceDate: Double = 978_307_200_000

  static func date(_ value: JSONValue) -> JSONValue {
    if let text = value.stringValue {
      return Timestamp(text).map { .string($0.description) } ?? .null
    }
    guard let seconds = value.doubleValue else { return .null }
    let milliseconds = (seconds * 1000).rounded() + referenceDate
    // Years 0000 to 9999, which the form can hold.
    guard milliseconds >= -62_167_219_200_000, milliseconds < 253_402_300_800_000 else {
      return .null
    }
    return .string(Timestamp(milliseconds: Int64(milliseconds)).description)
  }
}
