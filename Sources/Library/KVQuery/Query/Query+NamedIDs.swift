internal import KVBase
internal import KVJSON

extension Query {
  /// The only keys that an entity can have which the filter selects.
  package struct NamedIDs: Sendable, Equatable {
    package var ids: [String]
    /// Whether the filter asks for nothing else.
    package var isExact: Bool
  }

  /// The keys that the filter names, beside whatever else it asks for; of several lists that a key would have to be in,
  /// the shortest. Nil if it names none.
  package var namedIDs: NamedIDs? {
    // Most queries that name ids have one test of one member.
    if format.id.count == 1, case .field(let path, let tests) = filter, tests.count == 1 {
      guard path.isMember(format.id[0].name), let values = tests[0].values else { return nil }
      return NamedIDs(ids: values.compactMap { format.key(ofEqual: [$0]) }, isExact: true)
    }
    let (tests, others) = filter.conjunction
    var lists: [[JSONValue]] = []
    for member in format.id {
      let named = tests.compactMap { $0.path.isMember(member.name) ? $0.test.values : nil }
      guard let shortest = named.min(by: { $0.count < $1.count }) else { return nil }
      lists.append(shortest)
    }
    // Of an id of several members, one value of each.
    guard lists.count == 1 || lists.allSatisfy({ $0.count == 1 }) else { return nil }
    let ids = lists.count == 1 ? lists[0].map { [$0] } : [lists.map { $0[0] }]
    return NamedIDs(
      ids: ids.compactMap { format.key(ofEqual: $0) },
      isExact: tests.count == lists.count && others.isEmpty)
  }
}

extension Predicate {
  /// The tests that all have to hold, and what else has to.
  var conjunction: (tests: [(path: Path, test: Test)], others: [Predicate]) {
    switch self {
    case .everything: return ([], [])
    case .field(let path, let tests): return (tests.map { (path, $0) }, [])
    case .and(let parts):
      let all = parts.map(\.conjunction)
      return (all.flatMap(\.tests), all.flatMap(\.others))
    case .nothing, .or, .nor, .text, .comparison: return ([], [self])
    }
  }
}

extension RecordFormat {
  /// The key of the records whose ids are equal to these values; nil if no id is: numbers are equal to integers also
  /// where they are written otherwise.
  fileprivate func key(ofEqual values: [JSONValue]) -> String? {
    key(of: values.map { value in value.intValue.map { .int($0) } ?? value })
  }
}

extension Path {
  /// Whether it leads to this member at the top, and not into it.
  fileprivate func isMember(_ name: String) -> Bool { text.hasSameBytes(as: name) }
}

extension Test {
  /// The values that pass; nil if it does not name them.
  fileprivate var values: [JSONValue]? {
    switch self {
    case .equal(let value): [value]
    case .isIn(let values): values
    default: nil
    }
  }
}
