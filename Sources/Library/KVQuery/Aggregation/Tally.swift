/// Accumulates the numbers at one path in one group: enough for every aggregate. The order in which
/// they come makes no difference.
struct Tally: Sendable {
  private(set) var count: Int64 = 0
  private(set) var least: Number?
  private(set) var greatest: Number?
  private var total = ExactSum()

  init() {}

  /// Makes the tally of numbers that were counted elsewhere; the extremes may be unknown.
  init(count: Int64, _ total: ExactSum, least: Number?, greatest: Number?) {
    (self.count, self.total) = (count, total)
    (self.least, self.greatest) = (least, greatest)
  }

  mutating func add(_ number: Number) {
    count &+= 1
    total.add(number)
    note(number)
  }

  /// Adds all that another tally has accumulated.
  mutating func add(_ other: Tally) {
    count &+= other.count
    total.add(other.total)
    if let number = other.least { note(number) }
    if let number = other.greatest { note(number) }
  }

  private mutating func note(_ number: Number) {
    if let best = least, Number.compare(number, best) >= 0 {} else { least = number }
    if let best = greatest, Number.compare(number, best) <= 0 {} else { greatest = number }
  }

  /// The exact sum, rounded once: an integer if it is one that 64 bits hold, else the nearest double; nil beyond all
  /// doubles.
  var sum: Number? { total.number }

  /// The double nearest to the exact mean; nil of no numbers.
  var average: Number? { count == 0 ? nil : total.mean(of: count).map { .double($0) } }
}
