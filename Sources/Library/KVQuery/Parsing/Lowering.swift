internal import KVJSON

/// Turns comparisons of a format into MongoDB's tests wherever there is a form that means the same.
///
/// Such a form means what MongoDB's manual says, so that every store agrees: a scalar matches an
/// element of an array, booleans are no numbers. What has none stays a `Comparison`.
enum Lowering {
  static func comparison(
    _ left: Expression, _ operation: Comparison.Operator, right: Expression,
    options: Comparison.Options, quantifier: Comparison.Quantifier?
  ) throws(RegexError) -> Predicate {
    // A collection contains what is one of its elements.
    if operation == .contains, quantifier == nil, left.isCollection {
      return try self.comparison(right, .isIn, right: left, options: options, quantifier: nil)
    }
    let comparison = try Comparison(
      left, operation, right: right.folded, options: options, quantifier: quantifier)
    if left.constant != nil, right.constant != nil {
      var evaluation = Evaluation(nil)
      return (try? evaluation.holds(comparison)) == true ? .everything : .nothing
    }
    if let lowered = lowered(comparison) { return lowered }
    if quantifier == nil, left.constant != nil, let mirrored = operation.mirrored {
      let turned = try Comparison(right, mirrored, right: left.folded, options: options)
      return lowered(turned) ?? .comparison(turned)
    }
    return .comparison(comparison)
  }

  private static func lowered(_ comparison: Comparison) -> Predicate? {
    guard comparison.quantifier != .all, !comparison.options.contains(.ignoreMarks) else {
      return nil
    }
    if let constant = comparison.right.constant {
      if case .aggregate(.count, let counted) = comparison.left {
        return counted.pathsToCount?.predicate { size($0, comparison.operator, value: constant) }
      }
      let paths = comparison.left.conditionalPaths
      // MongoDB takes `a.0.b` for the member `0` of each element as well, which is missing, and so is null.
      guard !constant.hasNull || paths?.contains(where: \.isIndexed) != true else { return nil }
      return paths?.predicate { test($0, comparison, value: constant) }
    }
    // `"x" IN tags`: the array has an element that is equal.
    guard comparison.operator == .isIn, let path = comparison.right.path,
      let constant = comparison.left.constant, !constant.isNull
    else { return nil }
    return test(path, equalTo: constant, options: comparison.options).map { .field(path, [$0]) }
  }

  // MARK: A path and a constant

  private static func test(
    _ path: Path, _ comparison: Comparison, value: JSONValue
  ) -> Predicate? {
    let options = comparison.options
    let ignoresCase = options.contains(.ignoreCase)
    if let region = Region(argument: value) {
      switch comparison.operator {
      case .equal, .isIn: return .field(path, [.within(region)])
      case .notEqual: return .field(path, [.not([.within(region)])])
      default: break
      }
    }
    switch comparison.operator {
    case .equal: return test(path, equalTo: value, options: options).map { .field(path, [$0]) }
    case .notEqual:
      guard comparison.quantifier == nil else { return nil }
      guard ignoresCase, value.stringValue != nil else { return .field(path, [.notEqual(value)]) }
      return test(path, equalTo: value, options: options).map { .field(path, [.not([$0])]) }
    case .less: return ignoresCase ? nil : .field(path, [.compare(.less, value)])
    case .lessOrEqual: return ignoresCase ? nil : .field(path, [.compare(.lessOrEqual, value)])
    case .greater: return ignoresCase ? nil : .field(path, [.compare(.greater, value)])
    case .greaterOrEqual:
      return ignoresCase ? nil : .field(path, [.compare(.greaterOrEqual, value)])
    case .between:
      return ignoresCase ? nil : between(path, value, quantifier: comparison.quantifier)
    case .isIn:
      // Of an object its values; a lone value is a set of one.
      let values =
        value.arrayValue ?? value.objectValue.map { $0.members.map(\.value) } ?? [value]
      guard ignoresCase, !values.isEmpty else { return .field(path, [.isIn(values)]) }
      let tests = values.compactMap { test(path, equalTo: $0, options: options) }
      return tests.count == values.count ? .or(tests.map { .field(path, [$0]) }) : nil
    case .contains where value.stringValue == nil:
      return value.isNull ? .nothing : .field(path, [.equal(value)])
    case .beginsWith, .endsWith, .contains, .like, .matches:
      guard let text = value.stringValue else { return .nothing }
      return pattern(comparison, text).map { .field(path, [.regex($0)]) }
    }
  }

  private static func test(
    _ path: Path, equalTo value: JSONValue, options: Comparison.Options
  ) -> Test? {
    guard options.contains(.ignoreCase), let text = value.stringValue else { return .equal(value) }
    let source = "^" + Pattern.escaping(text) + Pattern.wholeEnd
    return (try? Pattern(source, options: "i")).map { .regex($0) }
  }

  /// Two bounds. With `ANY` one element has to be within both; otherwise each is met on its own.
  private static func between(
    _ path: Path, _ value: JSONValue, quantifier: Comparison.Quantifier?
  ) -> Predicate? {
    guard quantifier == nil, let bounds = value.arrayValue, bounds.count == 2 else { return nil }
    return .and([
      .field(path, [.compare(.greaterOrEqual, bounds[0])]),
      .field(path, [.compare(.lessOrEqual, bounds[1])]),
    ])
  }

  private static func pattern(_ comparison: Comparison, _ text: String) -> Pattern? {
    if let pattern = comparison.pattern { return pattern }
    let escaped = Pattern.escaping(text)
    let flags = comparison.options.contains(.ignoreCase) ? "i" : ""
    switch comparison.operator {
    case .beginsWith: return try? Pattern("^" + escaped, options: flags)
    case .contains: return try? Pattern(".*" + escaped + ".*", options: flags)
    case .endsWith: return try? Pattern(".*" + escaped + Pattern.wholeEnd, options: flags)
    default: return nil
    }
  }

  // MARK: Sizes

  /// The largest number of sizes that are spelled out.
  private static let maxSizes: Int64 = 20

  /// `$size` knows equality only: the others are spelled out, size by size.
  private static func size(
    _ path: Path, _ operation: Comparison.Operator, value: JSONValue
  ) -> Predicate? {
    guard let count = value.intValue else { return nil }
    func sizes(_ end: Int64) -> Predicate? {
      guard end > 0 else { return .nothing }
      guard end <= maxSizes else { return nil }
      return .or((0..<end).map { .field(path, [.size($0)]) })
    }
    func others(_ end: Int64) -> Predicate? {
      guard end <= maxSizes else { return nil }
      let array = Predicate.field(path, [.type([.array])])
      guard end > 0 else { return array }
      return .and([array, .nor((0..<end).map { .field(path, [.size($0)]) })])
    }
    switch operation {
    case .equal: return count < 0 ? .nothing : .field(path, [.size(count)])
    case .notEqual where count >= 0: return .field(path, [.not([.size(count)])])
    case .less: return sizes(count)
    case .lessOrEqual: return count < maxSizes ? sizes(count + 1) : nil
    case .greater: return count < maxSizes ? others(max(count, -1) + 1) : nil
    case .greaterOrEqual: return others(count)
    default: return nil
    }
  }
}

extension JSONValue {
  /// Whether it is null, or a set that has it.
  fileprivate var hasNull: Bool {
    switch self {
    case .null: true
    case .array(let elements): elements.contains(.null)
    case .object(let object): object.members.contains { $0.value.isNull }
    case .bool, .int, .double, .string: false
    }
  }
}

extension Expression {
  /// Its constant, if it is one.
  var folded: Expression { constant.map { .constant($0) } ?? self }

  /// Whether it is written as a collection, or an argument that is one.
  fileprivate var isCollection: Bool {
    if case .list = self { true } else { constant?.arrayValue != nil }
  }
}

extension Predicate {
  /// The opposite, in the form a single test has: `{"k":{"$not":{…}}}`.
  var formatNegated: Predicate {
    if case .field(let path, let tests) = self, tests.count == 1, tests[0].canBeNegated {
      return .field(path, [.not(tests)])
    }
    return negated
  }
}

extension Test {
  fileprivate var canBeNegated: Bool {
    switch self {
    case .equal, .notEqual, .compare, .isIn, .notIn, .regex, .size: true
    case .within: true
    case .exists, .type, .all, .allElements, .mod, .element, .elementValue, .near, .text, .not,
      .collated:
      false
    }
  }
}
