package import KVCollation
internal import KVJSON

extension Predicate {
  /// The predicate whose comparisons of texts, however deep, are made in an order by language. Those that are in one
  /// already stay as they are.
  package func collated(by collation: Collation) -> Predicate { changed(.set(collation)) }

  /// The predicate without this order, in a place that says it for all comparisons.
  func withoutCollation(_ collation: Collation) -> Predicate { changed(.remove(collation)) }

  fileprivate func changed(_ change: CollationChange) -> Predicate {
    switch self {
    case .everything, .nothing, .text: self
    case .and(let parts): .and(parts.map { $0.changed(change) })
    case .or(let parts): .or(parts.map { $0.changed(change) })
    case .nor(let parts): .nor(parts.map { $0.changed(change) })
    case .field(let path, let tests): .field(path, tests.map { $0.changed(change) })
    case .comparison(let comparison): .comparison(comparison.changed(change))
    }
  }
}

private enum CollationChange {
  case set(Collation)
  case remove(Collation)
}

extension Test {
  /// The test with comparisons in an order by language.
  func collated(by collation: Collation) -> Test { changed(.set(collation)) }

  /// The order that it compares in, and the test itself.
  var uncollated: (collation: Collation?, test: Test) {
    if case .collated(let collation, let test) = self { (collation, test) } else { (nil, self) }
  }

  /// Whether it compares values with a text, or with what has one in it, or looks for a part of a text.
  var comparesTexts: Bool {
    switch self {
    case .equal(let value), .notEqual(let value), .compare(_, let value): value.hasText
    case .isIn(let values), .notIn(let values), .all(let values): values.contains(where: \.hasText)
    case .collated(_, let test): test.comparesTexts
    case .regex, .text, .allElements, .element, .elementValue, .not: true
    case .exists, .type, .size, .mod, .near, .within: false
    }
  }

  fileprivate func changed(_ change: CollationChange) -> Test {
    switch self {
    case .equal, .notEqual, .compare, .isIn, .notIn, .all:
      change.applied(to: self, hasText: comparesTexts)
    case .allElements(let tests): .allElements(tests.map { $0.changed(change) })
    case .element(let predicate): .element(predicate.changed(change))
    case .elementValue(let tests): .elementValue(tests.map { $0.changed(change) })
    case .not(let tests): .not(tests.map { $0.changed(change) })
    case .collated(let collation, let test): change.removes(collation) ? test : self
    case .exists, .type, .size, .mod, .regex, .near, .within, .text: self
    }
  }
}

extension CollationChange {
  fileprivate func removes(_ collation: Collation) -> Bool {
    if case .remove(let removed) = self { removed == collation } else { false }
  }

  /// A comparison that is in no order by language.
  fileprivate func applied(to test: Test, hasText: Bool) -> Test {
    if case .set(let collation) = self, hasText { .collated(collation, test) } else { test }
  }
}

extension Comparison {
  fileprivate func changed(_ change: CollationChange) -> Comparison {
    var comparison = self
    comparison.left = left.changed(change)
    comparison.right = right.changed(change)
    switch change {
    // `[c]` and `[d]` say what is equal.
    case .set(let collation):
      if options.isEmpty { comparison.collation = self.collation ?? collation }
    case .remove(let collation):
      if self.collation == collation { comparison.collation = nil }
    }
    return comparison
  }
}

extension Expression {
  fileprivate func changed(_ change: CollationChange) -> Expression {
    switch self {
    case .constant, .current, .variable: self
    case .member(let base, let name): .member(base.changed(change), name)
    case .element(let base, .number(let number)):
      .element(base.changed(change), .number(number.changed(change)))
    case .element(let base, let index): .element(base.changed(change), index)
    case .aggregate(let aggregate, let base): .aggregate(aggregate, base.changed(change))
    case .function(let function, let arguments):
      .function(function, arguments.map { $0.changed(change) })
    case .list(let elements): .list(elements.map { $0.changed(change) })
    case .subquery(let base, let variable, let predicate):
      .subquery(base.changed(change), variable: variable, predicate.changed(change))
    case .ternary(let condition, let first, let second):
      .ternary(condition.changed(change), first.changed(change), second.changed(change))
    }
  }
}

extension JSONValue {
  /// Whether there is a text in it, however deep; names of members are none.
  fileprivate var hasText: Bool {
    switch self {
    case .string: true
    case .array(let elements): elements.contains(where: \.hasText)
    case .object(let object): object.members.contains { $0.value.hasText }
    case .null, .bool, .int, .double: false
    }
  }
}
