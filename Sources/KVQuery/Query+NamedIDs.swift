internal import KVJSON

extension Query {
  /// The only `_id`s that an entity can have which the filter selects.
  package struct NamedIDs: Sendable, Equatable {
    package var ids: [String]
    /// Whether the filter asks for nothing else.
    package var isExact: Bool
  }

  /// The ids that the filter names, beside whatever else it asks for; of several lists that an id would have to be in,
  /// the shortest. Nil if it names none.
  package var namedIDs: NamedIDs? {
    let (tests, others) = filter.conjunction
    let lists = tests.compactMap { $0.path == .id ? $0.test.ids : nil }
    guard let shortest = lists.min(by: { $0.count < $1.count }) else { return nil }
    return NamedIDs(ids: shortest, isExact: tests.count == 1 && others.isEmpty)
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

extension Test {
  /// The ids that pass, of a test of `_id`; nil if it does not name them. An id is a text without NUL, so that other
  /// values are none.
  fileprivate var ids: [String]? {
    switch self {
    case .equal(let value): Test.ids([value])
    case .isIn(let values): Test.ids(values)
    default: nil
    }
  }

  private static func ids(_ values: [JSONValue]) -> [String] {
    values.compactMap(\.stringValue).filter { !$0.utf8.contains(0) }
  }
}
