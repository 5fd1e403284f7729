/// What is known of the numbers at one path in one group: enough for every aggregate. The order in which
/// they come makes no difference.
struct Tally: Sendable {
  private(set) var count: Int64 = 0
  private(set) var least: Number?
  private(set) var greatest: Number?
  private var whole: Int128 = 0
  private var fractions = DoubleSum()

  init() {}

  /// Of integers that were counted elsewhere.
  init(count: Int64, sum: Int64, _ least: Int64, _ greatest: Int64) {
    (self.count, whole) = (count, Int128(sum))
    (self.least, self.greatest) = (.int(least), .int(greatest))
  }

  mutating func add(_ number: Number) {
    count &+= 1
    switch number {
    case .int(let value): whole &+= Int128(value)
    case .double(let value): fractions.add(value)
    }
    if let best = least, Number.compare(number, best) >= 0 {} else { least = number }
    if let best = greatest, Number.compare(number, best) <= 0 {} else { greatest = number }
  }

  /// An integer if all are and 64 bits hold it, else the nearest double.
  var sum: Number {
    if fractions.isEmpty, let sum = Int64(exactly: whole) { return .int(sum) }
    return .double(total)
  }

  var average: Number? { count == 0 ? nil : .double(total / Double(count)) }

  private var total: Double {
    var all = fractions
    all.add(Double(whole))
    return all.value
  }
}

/// A sum of doubles that keeps what each addition rounds off (Knuth's TwoSum), so that its order shows in
/// none but the last of some hundred bits.
private struct DoubleSum: Sendable {
  private(set) var isEmpty = true
  private var high = 0.0
  private var low = 0.0

  mutating func add(_ value: Double) {
    isEmpty = false
    let sum = high + value
    let part = sum - high
    low += (high - (sum - part)) + (value - part)
    high = sum
  }

  var value: Double { high + low }
}
