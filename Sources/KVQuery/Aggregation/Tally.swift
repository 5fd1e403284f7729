/// What is known of the numbers at one path in one group: enough for every aggregate.
struct Tally: Sendable {
  private(set) var count: Int64 = 0
  /// Exact as long as it is an integer.
  private(set) var sum = Number.int(0)
  private(set) var least: Number?
  private(set) var greatest: Number?

  mutating func add(_ number: Number) {
    count &+= 1
    sum = sum.plus(number)
    if let best = least, Number.compare(number, best) >= 0 {} else { least = number }
    if let best = greatest, Number.compare(number, best) <= 0 {} else { greatest = number }
  }

  var average: Number? { count == 0 ? nil : .double(sum.double / Double(count)) }
}

extension Number {
  /// The sum; a double if one of them is, or if 64 bits do not hold it.
  fileprivate func plus(_ other: Number) -> Number {
    if case .int(let a) = self, case .int(let b) = other {
      let (sum, overflow) = a.addingReportingOverflow(b)
      if !overflow { return .int(sum) }
    }
    return .double(double + other.double)
  }
}
