package import KVJSON

/// A sum of numbers that loses nothing: it is rounded once, when it is read. So the order in which the numbers
/// come makes no difference, and what was added can be taken away again.
///
/// Most sums fit into two doubles and an integer, to which a number is added in a few instructions: each addition's
/// rounding error is a double itself (Knuth's TwoSum). What two of them do not hold is kept apart.
package struct ExactSum: Sendable {
  private var whole: Int128 = 0
  private var high = 0.0
  private var low = 0.0
  private var rest: FixedPoint?
  /// Whether there was a number beyond all doubles.
  private var isBeyond = false

  package init() {}

  mutating func add(_ number: Number) {
    switch number {
    case .int(let value): add(value)
    case .double(let value): add(value)
    }
  }

  package mutating func add(_ value: Int64) { whole &+= Int128(value) }

  package mutating func add(_ value: Double) {
    let (sum, error) = Self.sum(high, value)
    let (errors, left) = Self.sum(low, error)
    // Not a number either, if the sum is beyond all doubles.
    guard left == 0 else { return addExactly(value) }
    (high, low) = (sum, errors)
  }

  /// Adds all that was added to another sum.
  mutating func add(_ other: ExactSum) {
    whole &+= other.whole
    add(other.high)
    add(other.low)
    isBeyond = isBeyond || other.isBeyond
    guard let more = other.rest else { return }
    var exact = rest ?? FixedPoint()
    exact.add(more)
    rest = exact
  }

  package mutating func subtract(_ value: Int64) { whole &-= Int128(value) }

  package mutating func subtract(_ value: Double) { add(-value) }

  /// The rounded sum of two doubles, and what was rounded off.
  private static func sum(_ left: Double, _ right: Double) -> (Double, error: Double) {
    let sum = left + right
    let part = sum - left
    return (sum, (left - (sum - part)) + (right - part))
  }

  private mutating func addExactly(_ value: Double) {
    guard value.isFinite else {
      isBeyond = true
      return
    }
    let (sum, error) = Self.sum(high, value)
    let (errors, left) = Self.sum(low, error)
    var exact = rest ?? FixedPoint()
    if left.isFinite, sum.isFinite {
      (high, low) = (sum, errors)
      exact.add(left)
    } else {
      for part in [high, low, value] { exact.add(part) }
      (high, low) = (0, 0)
    }
    rest = exact
  }

  /// The whole sum as one number.
  private var total: FixedPoint {
    var total = rest ?? FixedPoint()
    total.add(high)
    total.add(low)
    total.add(whole)
    return total
  }

  // MARK: Results

  /// The sum: an integer if it is one that 64 bits hold, else the nearest double; nil beyond all doubles.
  var number: Number? {
    guard !isBeyond else { return nil }
    if rest == nil, high == 0, low == 0, let integer = Int64(exactly: whole) {
      return .int(integer)
    }
    let total = total
    return total.integer.map { .int($0) } ?? total.double.map { .double($0) }
  }

  /// The double nearest to the exact mean of so many numbers; nil of none, and beyond all doubles.
  func mean(of count: Int64) -> Double? {
    isBeyond ? nil : total.double(dividedBy: UInt64(clamping: count))
  }
}

extension JSONValue {
  /// The exact sum of those values that are numbers, rounded once: null beyond all doubles.
  package static func sum(of values: [JSONValue]) -> JSONValue {
    var sum = ExactSum()
    for case let number? in values.map({ Number($0) }) { sum.add(number) }
    return sum.number?.plain ?? .null
  }
}

// MARK: As it is kept

extension ExactSum {
  /// The sum as an index keeps it: an integer if 64 bits hold it, a double if it is one, else bytes. The same sum is
  /// kept as the same value.
  package var kept: IndexValue {
    if rest == nil, high == 0, low == 0, let integer = Int64(exactly: whole) {
      return .int(integer)
    }
    let total = total
    if let integer = total.integer { return .int(integer) }
    if let double = total.double, total.isExactly(double) { return .double(double) }
    return .blob(total.bytes)
  }

  /// Reads a sum from an index; nil for any other value.
  package init?(kept value: IndexValue) {
    switch value {
    case .int(let integer): whole = Int128(integer)
    case .double(let double) where double.isFinite: high = double
    case .blob(let bytes):
      guard let sum = FixedPoint(bytes: bytes) else { return nil }
      rest = sum
    case .null, .double, .text: return nil
    }
  }
}

extension FixedPoint {
  fileprivate func isExactly(_ double: Double) -> Bool {
    var difference = self
    difference.add(-double)
    return difference.double == 0
  }
}
