internal import KVBase

/// Counts the work of one search in one text, and limits it.
///
/// The limit grows with the text and does not depend on the machine: the same query has the same answer, or
/// the same error, everywhere. The caller's `WorkBudget` is checked in between.
struct SearchEffort {
  /// Steps for any text, and for each byte of it: a search that is linear in the text never runs out.
  private static let base = 1_000_000
  private static let perByte = 32
  /// Steps after which the budget is looked at, and what a call counts for at least: some microseconds.
  private static let stepsPerLook = 4096
  private static let leastPerCall = 64

  private var left: Int
  private var unlooked = 0
  private let budget: WorkBudget
  /// Why the search has to end; nil while it may go on.
  private(set) var error: QueryError?

  init(forTextOf count: Int, within budget: WorkBudget) {
    left = SearchEffort.allowed(forTextOf: count)
    self.budget = budget
  }

  static func allowed(forTextOf count: Int) -> Int { base &+ perByte &* count }

  /// Counts steps; false if the search has to end, see `error`.
  @inline(__always)
  mutating func spend(_ steps: Int) -> Bool {
    left &-= steps
    unlooked &+= max(steps, SearchEffort.leastPerCall)
    if left >= 0, unlooked < SearchEffort.stepsPerLook { return true }
    return mayGoOn()
  }

  private mutating func mayGoOn() -> Bool {
    unlooked = 0
    guard left >= 0 else {
      error = QueryError(.budget, "a regular expression needs too many steps")
      return false
    }
    guard budget.exhaustion == nil else {
      error = .exhausted
      return false
    }
    return true
  }
}
