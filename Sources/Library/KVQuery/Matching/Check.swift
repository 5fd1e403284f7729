internal import KVBase
internal import KVCollation
internal import KVJSON

/// A test, prepared for many entities: which values at the path have to pass what.
indirect enum Check: Sendable {
  /// Holds if some value at the path meets the probe, arrays element by element and whole.
  case some(Probe)
  /// No value at the path.
  case no(Probe)
  /// Holds if some value at the path meets the probe, arrays only whole.
  case whole(Probe)
  /// The texts at the path, all together.
  case text(TextSearch)
  case all(Checks)
  case notAll(Checks)

  /// `collation`: the order of texts in comparisons; nil: by code point.
  init(_ test: Test, within budget: WorkBudget, _ collation: Collation? = nil) {
    switch test {
    case .collated(let collation, let test): self.init(test, within: budget, collation)
    case .equal(let value): self = .some(.equal(Operand(value, collation)))
    case .notEqual(let value): self = .no(.equal(Operand(value, collation)))
    case .compare(let comparison, let value):
      self = .some(.compare(comparison, Operand(value, collation)))
    case .isIn(let values): self = .some(.isIn(OperandSet(values, collation)))
    case .notIn(let values): self = .no(.isIn(OperandSet(values, collation)))
    case .exists(let wanted): self = wanted ? .some(.exists) : .no(.exists)
    case .type(let types): self = .some(.type(types))
    case .size(let size): self = .whole(.size(size))
    case .all(let values):
      self = Check.every(Checks(values.map { .some(.equal(Operand($0, collation))) }, budget))
    case .allElements(let tests): self = Check.every(Checks(tests, within: budget))
    case .mod(let divisor, let remainder): self = .some(.mod(divisor, remainder))
    case .regex(let pattern): self = .some(.regex(pattern.regex, budget))
    case .element(let predicate): self = .whole(.element(Matcher(predicate, within: budget)))
    case .elementValue(let tests): self = .whole(.elementValue(Checks(tests, within: budget)))
    case .near(let nearness): self = .some(.near(nearness))
    case .within(let region): self = .some(.within(region))
    case .text(let search): self = .text(search)
    case .not(let tests): self = .notAll(Checks(tests, within: budget))
    }
  }

  /// A check that holds if all of these hold; none holds for nothing to check, as `$all` of an empty array.
  private static func every(_ checks: Checks) -> Check {
    checks.isEmpty ? .notAll(checks) : .all(checks)
  }

  /// Whether it holds for what is at `path` in `value`.
  func holds(_ value: RawValue?, at path: RawValue.Components) throws(QueryError) -> Bool {
    switch self {
    case .some(let probe):
      return try RawValue.any(value, at: path, expanding: true) { (found) throws(QueryError) in
        try probe.accepts(found)
      }
    case .no(let probe):
      return try !RawValue.any(value, at: path, expanding: true) { (found) throws(QueryError) in
        try probe.accepts(found)
      }
    case .whole(let probe):
      return try RawValue.any(value, at: path, expanding: false) { (found) throws(QueryError) in
        try probe.accepts(found)
      }
    case .text(let search): return search.holds(value, at: path)
    case .all(let checks): return try checks.hold(for: value, at: path)
    case .notAll(let checks): return try !checks.hold(for: value, at: path)
    }
  }

  /// Whether it holds for one element itself, which is not expanded if it is an array.
  func holds(element: RawValue) throws(QueryError) -> Bool {
    switch self {
    case .some(let probe), .whole(let probe): return try probe.accepts(element)
    case .no(let probe): return try !probe.accepts(element)
    case .text(let search): return search.holds(element, at: [])
    case .all(let checks): return try checks.hold(forElement: element)
    case .notAll(let checks): return try !checks.hold(forElement: element)
    }
  }
}

/// A question about one value.
enum Probe: Sendable {
  case exists
  case equal(Operand)
  case compare(Test.Comparison, Operand)
  case isIn(OperandSet)
  case type([ValueType])
  case size(Int64)
  case mod(Int64, Int64)
  case regex(Regex, WorkBudget)
  case element(Matcher)
  case elementValue(Checks)
  case near(Nearness)
  case within(Region)

  /// `value` nil: nothing is there.
  func accepts(_ value: RawValue?) throws(QueryError) -> Bool {
    switch self {
    case .exists: return value != nil
    case .equal(let operand): return operand.equals(value)
    case .compare(let comparison, let operand): return operand.holds(comparison, value)
    case .isIn(let operands): return operands.contains(value)
    case .type(let types): return value.map { types.contains(where: $0.isOf) } ?? false
    case .size(let size):
      guard let value, value.kind == .array else { return false }
      return value.elementCount == size
    case .mod(let divisor, let remainder):
      guard let value, value.kind == .number, let number = value.number.whole else { return false }
      return number.remainderReportingOverflow(dividingBy: divisor).partialValue == remainder
    case .regex(let regex, let budget):
      guard let value, value.kind == .string else { return false }
      return try value.withText { (text) throws(QueryError) in
        try regex.matches(text, within: budget)
      }
    case .near(let nearness):
      return value.flatMap { GeoPoint($0) }.map(nearness.accepts) ?? false
    case .within(let region):
      return value.flatMap { GeoPoint($0) }.map(region.contains) ?? false
    case .element(let matcher):
      guard let value, value.kind == .array else { return false }
      return try value.containsElement { (element, _) throws(QueryError) in
        try matcher.matches(element)
      }
    case .elementValue(let checks):
      guard let value, value.kind == .array else { return false }
      return try value.containsElement { (element, _) throws(QueryError) in
        try checks.hold(forElement: element)
      }
    }
  }
}

extension RawValue {
  /// Whether this is of a type as BSON would store it: numbers without fraction that fit are integers.
  fileprivate func isOf(_ type: ValueType) -> Bool {
    switch type {
    case .string: return kind == .string
    case .object: return kind == .object
    case .array: return kind == .array
    case .bool: return kind == .bool
    case .null: return kind == .null
    case .number: return kind == .number
    case .int, .long, .double: return kind == .number && number.type == type
    case .binData, .undefined, .objectId, .date, .regex, .timestamp, .decimal, .minKey, .maxKey:
      return false
    }
  }
}

extension Number {
  fileprivate var type: ValueType {
    switch self {
    case .int(let value): Int32(exactly: value) == nil ? .long : .int
    case .double: .double
    }
  }
}
