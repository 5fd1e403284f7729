internal import KVBase

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
      return add(name, field.map { .numbers(Path($0)) } ?? Self.counted(name, statements))
    case .add(let name, let field): return add(name, .sum(Path(field)))
    case .extreme(let name, let field, let isMinimum):
      return add(name, isMinimum ? .minimum(Path(field)) : .maximum(Path(field)))
    case .divide(let name, let sum, let count):
      // Both must have taken in this entity already.
      guard case .sum(let path)? = self[sum], self[count] == .numbers(path) else { return false }
      return add(name, .average(path))
    case .mean(let name, let field, let count):
      // The counter must not have taken it in yet.
      guard self[count] == nil, statements[place...].contains(where: { $0.increments(count) })
      else { return false }
      return add(name, .average(Path(field)))
    }
  }

  /// What a counter without a condition of its own counts: all entities, or those that an average is of.
  private static func counted(
    _ name: String, _ statements: [ReduceStatement]
  ) -> Grouping.Aggregate? {
    var aggregate = Grouping.Aggregate.count
    for statement in statements {
      let field: String?
      switch statement {
      case .mean(_, let path, name): field = path
      case .divide(_, let sum, name):
        field = statements.lazy.compactMap { $0.field(addedTo: sum) }.first
      default: continue
      }
      guard let field else { return nil }
      let numbers = Grouping.Aggregate.numbers(Path(field))
      guard aggregate == .count || aggregate == numbers else { return nil }
      aggregate = numbers
    }
    return aggregate
  }

  private subscript(_ name: String) -> Grouping.Aggregate? {
    members.first { $0.name.hasSameBytes(as: name) }?.aggregate
  }

  private mutating func add(_ name: String, _ aggregate: Grouping.Aggregate?) -> Bool {
    guard let aggregate, self[name] == nil else { return false }
    members.append(Grouping.Member(name, aggregate))
    return true
  }
}

/// One step of a reduce function; members are those of the group, fields those of the entity.
enum ReduceStatement: Equatable {
  /// `out.a++`, `out.a += 1`, `out.a = out.a + 1`; `of`: only where that field is a number.
  case increment(String, of: String?)
  /// `out.a += doc.f`, `out.a = out.a + doc.f`
  case add(String, field: String)
  /// `out.a = Math.min(out.a, doc.f)`, or `max`
  case extreme(String, field: String, isMinimum: Bool)
  /// `out.a = out.s / out.c`
  case divide(String, sum: String, count: String)
  /// `out.a = (out.a * out.c + doc.f) / (out.c + 1)`
  case mean(String, field: String, count: String)

  /// The field that it reads, if any.
  var field: String? {
    switch self {
    case .increment, .divide: nil
    case .add(_, let field), .extreme(_, let field, _), .mean(_, let field, _): field
    }
  }

  fileprivate func increments(_ name: String) -> Bool {
    if case .increment(name, _) = self { true } else { false }
  }

  fileprivate func field(addedTo name: String) -> String? {
    if case .add(name, let field) = self { field } else { nil }
  }
}
