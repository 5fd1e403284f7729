internal import KVJSON

/// What queries have in common whose filters differ only in the numbers and texts that members are compared with: the same
/// members and operators in the same order, and constants of the same types. A plan that was made for one of them serves all
/// others, with their values bound: see `PlanValues`.
package final class QueryShape: Sendable {
  /// A query of this shape.
  private let example: Query
  /// For what an executor has made of queries of this shape.
  package let memo = QueryMemo()

  /// Nil for a filter of another form than comparisons all of which have to hold. `constants`: those of the example, in the
  /// order of its text.
  init?(_ example: Query, _ constants: [JSONValue]) {
    self.example = example
    var rest = constants[...]
    // Of a form that is not known here some constants would be left, or they would stand elsewhere.
    guard let filter = Self.filter(like: example.filter, &rest), rest.isEmpty,
      filter == example.filter
    else { return nil }
  }

  /// The query that has these constants in place of the example's; nil if they are not as many.
  func query(_ constants: [JSONValue]) -> Query? {
    var rest = constants[...]
    guard let filter = Self.filter(like: example.filter, &rest), rest.isEmpty else { return nil }
    var query = example
    query.memo = QueryMemo()
    query.filter = filter
    query.memo.shape = self
    return query
  }

  private static func filter(
    like filter: Predicate, _ constants: inout ArraySlice<JSONValue>
  ) -> Predicate? {
    switch filter {
    case .and(let parts):
      var made: [Predicate] = []
      made.reserveCapacity(parts.count)
      for part in parts {
        guard let part = self.filter(like: part, &constants) else { return nil }
        made.append(part)
      }
      return .and(made)
    case .field(let path, let tests):
      var made: [Test] = []
      made.reserveCapacity(tests.count)
      for test in tests {
        guard let test = self.test(like: test, &constants) else { return nil }
        made.append(test)
      }
      return .field(path, made)
    case .everything, .nothing, .or, .nor, .text, .comparison: return nil
    }
  }

  private static func test(like test: Test, _ constants: inout ArraySlice<JSONValue>) -> Test? {
    switch test {
    case .equal(let value): constant(like: value, &constants).map { .equal($0) }
    case .notEqual(let value): constant(like: value, &constants).map { .notEqual($0) }
    case .compare(let comparison, let value):
      constant(like: value, &constants).map { .compare(comparison, $0) }
    case .collated(let collation, let test):
      self.test(like: test, &constants).map { .collated(collation, $0) }
    default: nil
    }
  }

  /// True, false and null belong to the shape: an index may be used otherwise for null.
  private static func constant(
    like value: JSONValue, _ constants: inout ArraySlice<JSONValue>
  ) -> JSONValue? {
    switch value {
    case .null, .bool: value
    case .int, .double, .string: constants.popFirst()
    case .array, .object: nil
    }
  }
}
