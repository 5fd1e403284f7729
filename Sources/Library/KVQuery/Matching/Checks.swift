internal import KVBase

/// Checks that all have to hold, within the caller's budget.
struct Checks: Sendable {
  private let list: [Check]
  private let budget: WorkBudget

  init(_ list: [Check], _ budget: WorkBudget) {
    self.list = list
    self.budget = budget
  }

  init(_ tests: [Test], within budget: WorkBudget) {
    self.init(tests.map { Check($0, within: budget) }, budget)
  }

  var isEmpty: Bool { list.isEmpty }

  /// Whether they hold for what is at `path` in `value`.
  func hold(for value: RawValue?, at path: RawValue.Components) throws(QueryError) -> Bool {
    for check in list {
      if budget.isExhausted { throw .exhausted }
      guard try check.holds(value, at: path) else { return false }
    }
    return true
  }

  /// Whether they hold for one element itself, which is not expanded if it is an array.
  func hold(forElement element: RawValue) throws(QueryError) -> Bool {
    for check in list {
      if budget.isExhausted { throw .exhausted }
      guard try check.holds(element: element) else { return false }
    }
    return true
  }
}
