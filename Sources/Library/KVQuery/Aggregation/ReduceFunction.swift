/// The `reduce` of a `_group` request: JavaScript, of which no word is run here. What SDKs send for counts,
/// sums, averages and extremes is recognised, one or several at once; what is not recognised for certain
/// is refused.
package struct ReduceFunction: Sendable, Equatable {
  /// The aggregates that the function computes, in the order of its statements.
  package private(set) var members: [Grouping.Member] = []

  /// The aggregates by their names.
  private var aggregates: [[UInt8]: Grouping.Aggregate] = [:]

  /// Reads `function(doc, out) { … }`; nil if it does anything else.
  package init?(_ source: String) {
    guard let tokens = JavaScriptToken.read(source) else { return nil }
    var parser = ReduceParser(tokens)
    guard let statements = parser.function(), !statements.isEmpty else { return nil }
    let counters = ReduceCounters(statements)
    for (index, statement) in statements.enumerated() {
      guard add(statement, at: index, counters: counters) else { return nil }
    }
  }

  /// Adds one statement, given those around it; false if it is of no known form.
  private mutating func add(
    _ statement: ReduceStatement, at index: Int, counters: ReduceCounters
  ) -> Bool {
    switch statement {
    case .increment(let name, let field):
      return add(name, field.map { .numbers(Path(utf8: $0)) } ?? counters.aggregate(of: name))
    case .add(let name, let field): return add(name, .sum(Path(utf8: field)))
    case .extreme(let name, let field, let isMinimum):
      let path = Path(utf8: field)
      return add(name, isMinimum ? .minimum(path) : .maximum(path))
    case .divide(let name, let sum, let count):
      // Both must have taken in this entity already.
      guard case .sum(let path)? = aggregates[sum], aggregates[count] == .numbers(path) else {
        return false
      }
      return add(name, .average(path))
    case .mean(let name, let field, let count):
      // The counter must not have taken it in yet.
      guard aggregates[count] == nil, counters.isIncremented(count, from: index) else {
        return false
      }
      return add(name, .average(Path(utf8: field)))
    }
  }

  private mutating func add(_ name: [UInt8], _ aggregate: Grouping.Aggregate?) -> Bool {
    guard let aggregate, aggregates.updateValue(aggregate, forKey: name) == nil else {
      return false
    }
    members.append(Grouping.Member(String(decoding: name, as: UTF8.self), aggregate))
    return true
  }
}

/// The meaning of a reduce function's counters without a condition of their own: all entities, or those that an
/// average is of.
private struct ReduceCounters {
  /// The numbers that a counter divides by; nil where that is not clear.
  private var numbers: [[UInt8]: Grouping.Aggregate?] = [:]
  private var lastIncrements: [[UInt8]: Int] = [:]

  init(_ statements: [ReduceStatement]) {
    var sums: [[UInt8]: [UInt8]] = [:]
    for case .add(let name, let field) in statements where sums[name] == nil { sums[name] = field }
    for (index, statement) in statements.enumerated() {
      switch statement {
      case .mean(_, let field, let counter): record(counter, field)
      case .divide(_, let sum, let counter): record(counter, sums[sum])
      case .increment(let name, _): lastIncrements[name] = index
      case .add, .extreme: break
      }
    }
  }

  private mutating func record(_ counter: [UInt8], _ field: [UInt8]?) {
    let found = field.map { Grouping.Aggregate.numbers(Path(utf8: $0)) }
    let isClear = numbers[counter].map { $0 == found } ?? true
    numbers[counter] = .some(isClear ? found : nil)
  }

  /// The aggregate that a counter stands for; nil if it is ambiguous.
  func aggregate(of name: [UInt8]) -> Grouping.Aggregate? {
    guard let known = numbers[name] else { return .count }
    return known
  }

  /// Whether the counter is incremented in that statement or a later one.
  func isIncremented(_ name: [UInt8], from index: Int) -> Bool {
    lastIncrements[name].map { $0 >= index } ?? false
  }
}

extension Path {
  fileprivate init(utf8 bytes: [UInt8]) { self.init(String(decoding: bytes, as: UTF8.self)) }
}
