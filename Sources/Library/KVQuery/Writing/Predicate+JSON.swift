internal import KVBase
internal import KVCollation
package import KVJSON

extension Predicate {
  /// The predicate as a MongoDB filter.
  package var json: JSONObject {
    switch self {
    case .everything: return JSONObject()
    // No operator says "none", but none is what does not match "everything".
    case .nothing: return ["$nor": [.object([:])]]
    case .and(let parts): return Predicate.merged(parts.map(\.json))
    case .or(let parts): return ["$or": .array(parts.map { .object($0.json) })]
    case .nor(let parts): return ["$nor": .array(parts.map { .object($0.json) })]
    case .field(let path, let tests): return Predicate.field(path.text, tests)
    case .text(let search): return search.json
    case .comparison(let comparison):
      guard let collation = comparison.collation else { return formatJSON }
      var object = withoutCollation(collation).formatJSON
      object["$collation"] = collation.json
      return object
    }
  }

  /// `{"$predicate":"…"}`, or with arguments `{"$predicate":["…",…]}`: for us only, no backend knows it.
  private var formatJSON: JSONObject {
    let (text, arguments) = format
    return ["$predicate": arguments.isEmpty ? .string(text) : .array([.string(text)] + arguments)]
  }

  /// Returns one object when every part has one member and all names differ, else `$and`.
  static func merged(_ parts: [JSONObject]) -> JSONObject {
    let names = Set(parts.compactMap { $0.count == 1 ? RecordID($0.members[0].name) : nil })
    guard names.count == parts.count else { return ["$and": .array(parts.map { .object($0) })] }
    return JSONObject(parts.flatMap(\.members))
  }

  private static func field(_ name: String, _ tests: [Test]) -> JSONObject {
    if tests.count == 1, case .equal(let value) = tests[0], !value.looksLikeOperators {
      return [name: value]
    }
    if let operators = Test.collatedOperators(tests) { return [name: .object(operators)] }
    let objects = tests.map(\.json)
    // Operators: words of ours.
    let names = Set(objects.flatMap { $0.members.map(\.name) })
    guard names.count == objects.reduce(0, { $0 + $1.count }) else {
      return ["$and": .array(objects.map { .object([name: .object($0)]) })]
    }
    return [name: .object(JSONObject(objects.flatMap(\.members)))]
  }
}

extension Test {
  /// The test as an object of operators.
  var json: JSONObject {
    switch self {
    case .equal(let value): ["$eq": value]
    case .notEqual(let value): ["$ne": value]
    case .compare(let comparison, let value): [comparison.rawValue: value]
    case .isIn(let values): ["$in": .array(values)]
    case .notIn(let values): ["$nin": .array(values)]
    case .exists(let wanted): ["$exists": .bool(wanted)]
    case .type(let types): ["$type": types.count == 1 ? types[0].json : .array(types.map(\.json))]
    case .size(let size): ["$size": .int(size)]
    case .all(let values): ["$all": .array(values)]
    case .allElements(let tests): ["$all": .array(tests.map { .object($0.json) })]
    case .mod(let divisor, let remainder): ["$mod": [.int(divisor), .int(remainder)]]
    case .regex(let pattern): pattern.json
    case .element(let predicate): ["$elemMatch": .object(predicate.json)]
    case .elementValue(let tests): ["$elemMatch": Test.operators(tests)]
    case .near(let nearness): nearness.json
    case .within(let region): ["$geoWithin": .object(region.json)]
    case .text(let search): search.json
    case .not(let tests): ["$not": Test.operators(tests)]
    case .collated(let collation, let test):
      JSONObject(test.json.members + [.init("$collation", collation.json)])
    }
  }

  /// Tests as one object of operators whose comparisons are all in one order by language; nil if they are not, or two are
  /// of one kind.
  fileprivate static func collatedOperators(_ tests: [Test]) -> JSONObject? {
    guard let collation = tests.lazy.compactMap(\.uncollated.collation).first,
      tests.allSatisfy({ $0 == $0.uncollated.test.collated(by: collation) })
    else { return nil }
    let members = tests.flatMap { $0.uncollated.test.json.members }
    guard Set(members.map(\.name)).count == members.count else { return nil }
    return JSONObject(members + [.init("$collation", collation.json)])
  }

  /// Several tests as one object. No two are of one kind: the parser refuses repeated members.
  private static func operators(_ tests: [Test]) -> JSONValue {
    .object(collatedOperators(tests) ?? JSONObject(tests.flatMap { $0.json.members }))
  }
}

extension Pattern {
  fileprivate var json: JSONObject {
    options.isEmpty
      ? ["$regex": .string(source)] : ["$regex": .string(source), "$options": .string(options)]
  }
}

extension ValueType {
  fileprivate var json: JSONValue { .string(rawValue) }
}

extension JSONValue {
  /// Whether this, as the value of a filter's member, would be read as operators.
  fileprivate var looksLikeOperators: Bool {
    objectValue.map(FilterParser.isOperators) ?? false
  }
}
