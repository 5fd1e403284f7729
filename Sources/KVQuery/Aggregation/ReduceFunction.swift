/// The `reduce` of a `_group` request: JavaScript, of which no word is run here. What SDKs send for counts,
/// sums, averages and extremes is recognised, one or several at once; what is not recognised for certain
/// is refused.
package struct ReduceFunction: Sendable, Equatable {
  /// What the function leaves in the members of a group.
  package private(set) var members: [Grouping.Member] = []

  /// Reads `function(doc, out) { … }`; nil if it does anything else.
  package init?(_ source: String) {
    guard let tokens = JavaScriptToken.read(source) else { return nil }
    var parser = ReduceParser(tokens)
    guard let statements = parser.function(), !statements.isEmpty else { return nil }
    for place in statements.indices {
      guard take(statements, place) else { return nil }
    }
  }

  /// Takes in one statement, in the light of those around it; false: that is nothing known.
  private mutating func take(_ statements: [ReduceStatement], _ place: Int) -> Bool {
    switch statements[place] {
    case .increment(let name, let field):
      return add(name, field.map { .numbers(Path(utf8: $0)) } ?? Self.counted(name, statements))
    case .add(let name, let field): return add(name, .sum(Path(utf8: field)))
    case .extreme(let name, let field, let isMinimum):
      let path = Path(utf8: field)
      return add(name, isMinimum ? .minimum(path) : .maximum(path))
    case .divide(let name, let sum, let count):
      // Both must have taken in this entity already.
      guard case .sum(let path)? = self[sum], self[count] == .numbers(path) else { return false }
      return add(name, .average(path))
    case .mean(let name, let field, let count):
      // The counter must not have taken it in yet.
      guard self[count] == nil, statements[place...].contains(where: { $0.increments(count) })
      else { return false }
      return add(name, .average(Path(utf8: field)))
    }
  }

  /// What a counter without a condition of its own counts: all entities, or those that an average is of.
  private static func counted(
    _ name: [UInt8], _ statements: [ReduceStatement]
  ) -> Grouping.Aggregate? {
    var aggregate = Grouping.Aggregate.count
    for statement in statements {
      let field: [UInt8]?
      switch statement {
      case .mean(_, let path, name): field = path
      case .divide(_, let sum, name):
        field = statements.lazy.compactMap { $0.field(addedTo: sum) }.first
      default: continue
      }
      guard let field else { return nil }
      let numbers = Grouping.Aggregate.numbers(Path(utf8: field))
      guard aggregate == .count || aggregate == numbers else { return nil }
      aggregate = numbers
    }
    return aggregate
  }

  private subscript(_ name: [UInt8]) -> Grouping.Aggregate? {
    members.first { $0.name.utf8.elementsEqual(name) }?.aggregate
  }

  private mutating func add(_ name: [UInt8], _ aggregate: Grouping.Aggregate?) -> Bool {
    guard let aggregate, self[name] == nil else { return false }
    members.append(Grouping.Member(String(decoding: name, as: UTF8.self), aggregate))
    return true
  }
}

extension Path {
  fileprivate init(utf8 bytes: [UInt8]) { self.init(String(decoding: bytes, as: UTF8.self)) }
}
