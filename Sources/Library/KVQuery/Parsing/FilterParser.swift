internal import KVCollation
internal import KVJSON

/// Reads MongoDB's filters. Each function takes the value and the trail that leads to it.
enum FilterParser {
  typealias Trail = [QueryDecodingError.Step]

  /// The depth to which a filter may be nested, values included: what the deepest predicate format becomes fits.
  static let maximumDepth = 300
  /// The depth of a filter or an argument in a predicate format, whose levels use the rest: two for each.
  static let maximumDepthInFormat = maximumDepth - 2 * FormatParser.maximumDepth - 10

  /// The predicate of a filter text; an empty text is everything.
  static func parse(
    _ text: String, depth: Int = maximumDepth
  ) throws(QueryError) -> Predicate {
    guard !text.isEmpty else { return .everything }
    let value = try parseJSON(text)
    do throws(QueryDecodingError) {
      try checkDepth(value, [], left: depth)
      return try predicate(value, [])
    } catch {
      throw error.located(in: text)
    }
  }

  static func checkDepth(
    _ value: JSONValue, _ trail: Trail, left: Int
  ) throws(QueryDecodingError) {
    if !fits(value, left) { try findTooDeep(value, trail, left: left) }
  }

  static func fits(_ value: JSONValue, _ left: Int) -> Bool {
    guard left > 0 else { return false }
    switch value {
    case .array(let elements): return elements.allSatisfy { fits($0, left - 1) }
    case .object(let object): return object.members.allSatisfy { fits($0.value, left - 1) }
    case .null, .bool, .int, .double, .string: return true
    }
  }

  /// Throws with the trail that leads to what does not fit.
  private static func findTooDeep(
    _ value: JSONValue, _ trail: Trail, left: Int
  ) throws(QueryDecodingError) {
    guard left > 0 else { throw QueryDecodingError("the filter is nested too deeply", trail) }
    switch value {
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        try findTooDeep(element, trail + [.element(index)], left: left - 1)
      }
    case .object(let object):
      for member in object.members {
        try findTooDeep(member.value, trail + [.member(member.name)], left: left - 1)
      }
    case .null, .bool, .int, .double, .string: break
    }
  }

  // MARK: Predicates

  /// An object whose members are all to hold.
  static func predicate(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError) -> Predicate
  {
    guard let object = value.objectValue else {
      throw QueryDecodingError("a filter must be an object", trail)
    }
    var parts: [Predicate] = []
    if object["$collation"] != nil { return try collatedFormat(object, trail) }
    for member in object.members {
      parts.append(try part(member, trail + [.member(member.name)]))
    }
    return parts.isEmpty ? .everything : parts.count == 1 ? parts[0] : .and(parts)
  }

  /// `{"$predicate":…,"$collation":…}`.
  private static func collatedFormat(
    _ object: JSONObject, _ trail: Trail
  ) throws(QueryDecodingError) -> Predicate {
    let here = trail + [.member("$collation")]
    guard object.count == 2, let format = object["$predicate"], let order = object["$collation"]
    else {
      throw QueryDecodingError(
        "$collation stands beside the operators of a member, or beside $predicate", here)
    }
    let collation = try Collation(order, here)
    return try self.format(format, trail + [.member("$predicate")]).collated(by: collation)
  }

  private static func part(
    _ member: JSONObject.Member, _ trail: Trail
  ) throws(QueryDecodingError) -> Predicate {
    switch member.name {
    case "$and": return .and(try predicates(member, trail))
    case "$or": return .or(try predicates(member, trail))
    case "$nor": return .nor(try predicates(member, trail))
    case "$text": return .text(try textSearch(member.value, trail))
    case "$predicate": return try format(member.value, trail)
    case let name where name.starts(with: "$"):
      throw QueryDecodingError("unknown operator \(name)", trail)
    default: return .field(Path(member.name), try tests(member.value, trail))
    }
  }

  private static func predicates(
    _ member: JSONObject.Member, _ trail: Trail
  ) throws(QueryDecodingError) -> [Predicate] {
    guard let elements = member.value.arrayValue, !elements.isEmpty else {
      throw QueryDecodingError("\(member.name) needs an array that is not empty", trail)
    }
    var parts: [Predicate] = []
    for (index, element) in elements.enumerated() {
      parts.append(try predicate(element, trail + [.element(index)]))
    }
    return parts
  }

  /// A predicate format, alone or with its arguments: how we print what MongoDB has no form for.
  private static func format(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError)
    -> Predicate
  {
    let parts = value.arrayValue ?? [value]
    guard let text = parts.first?.stringValue else {
      throw QueryDecodingError(
        "$predicate needs a format, or an array of a format and its arguments", trail)
    }
    do throws(QueryError) {
      let arguments = FormatArguments(Array(parts.dropFirst()))
      var parser = try FormatParser(text, arguments, keys: KeyMap())
      return try parser.parse()
    } catch {
      throw QueryDecodingError(
        "$predicate: \(error.message), at byte \(error.position ?? 0)", trail)
    }
  }

  // MARK: Tests

  /// Parses a member of a filter: operators, or a value to be equal to.
  static func tests(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError) -> [Test] {
    guard let object = value.objectValue, isOperators(object) else { return [.equal(value)] }
    return try tests(object, trail)
  }

  static func isOperators(_ object: JSONObject) -> Bool {
    object.members.first?.name.starts(with: "$") ?? false
  }

  private static func tests(_ object: JSONObject, _ trail: Trail) throws(QueryDecodingError)
    -> [Test]
  {
    var tests: [Test] = []
    var collation: Collation?
    for member in object.members {
      let here = trail + [.member(member.name)]
      switch member.name {
      case "$collation":
        collation = try Collation(member.value, here)
        guard object.count > 1 else {
          throw QueryDecodingError("$collation needs a comparison beside it", here)
        }
      case "$regex": tests.append(.regex(try pattern(object, here)))
      case "$options":
        guard object["$regex"] != nil else {
          throw QueryDecodingError("$options needs $regex", here)
        }
      case "$near", "$nearSphere":
        tests.append(try nearness(member, beside: object, at: here))
      case "$maxDistance", "$minDistance":
        guard object["$near"] != nil || object["$nearSphere"] != nil else {
          throw QueryDecodingError("\(member.name) needs $nearSphere", here)
        }
      default: tests.append(try test(member, here))
      }
    }
    guard let collation else { return tests }
    return tests.map { $0.collated(by: collation) }
  }

  private static func test(_ member: JSONObject.Member, _ trail: Trail) throws(QueryDecodingError)
    -> Test
  {
    let value = member.value
    switch member.name {
    case "$eq": return .equal(value)
    case "$ne": return .notEqual(value)
    case "$lt", "$lte", "$gt", "$gte":
      guard let comparison = Test.Comparison(rawValue: member.name) else { break }
      return .compare(comparison, value)
    case "$in": return .isIn(try values(member, trail))
    case "$nin": return .notIn(try values(member, trail))
    case "$exists": return .exists(try truth(member, trail))
    case "$type": return .type(try ValueType.parse(value, trail))
    case "$size": return .size(try size(value, trail))
    case "$all": return try all(member, trail)
    case "$mod": return try mod(value, trail)
    case "$elemMatch": return try elementMatch(value, trail)
    case "$geoWithin", "$within": return .within(try region(value, trail))
    case "$text": return .text(try textSearch(value, trail))
    case "$not": return .not(try negated(value, trail))
    default: break
    }
    throw QueryDecodingError("unknown operator \(member.name)", trail)
  }

  private static func values(
    _ member: JSONObject.Member, _ trail: Trail
  ) throws(QueryDecodingError) -> [JSONValue] {
    guard let elements = member.value.arrayValue else {
      throw QueryDecodingError("\(member.name) needs an array", trail)
    }
    for (index, element) in elements.enumerated() {
      guard let object = element.objectValue, isOperators(object) else { continue }
      throw QueryDecodingError(
        "\(member.name) takes values, not operators", trail + [.element(index)])
    }
    return elements
  }

  private static func truth(_ member: JSONObject.Member, _ trail: Trail) throws(QueryDecodingError)
    -> Bool
  {
    if let value = member.value.boolValue { return value }
    if let number = member.value.doubleValue { return number != 0 }
    throw QueryDecodingError("\(member.name) needs true or false", trail)
  }

  private static func size(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError) -> Int64 {
    guard let size = value.intValue, size >= 0 else {
      throw QueryDecodingError("$size needs an integer that is not negative", trail)
    }
    return size
  }

  private static func mod(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError) -> Test {
    guard let numbers = value.arrayValue, numbers.count == 2,
      let divisor = whole(numbers[0]), let remainder = whole(numbers[1]), divisor != 0
    else {
      throw QueryDecodingError(
        "$mod needs two numbers: a divisor that is not 0, and a remainder", trail)
    }
    return .mod(divisor: divisor, remainder: remainder)
  }

  /// A number without its fraction.
  private static func whole(_ value: JSONValue) -> Int64? {
    if case .int(let number) = value { return number }
    return value.doubleValue.flatMap { Int64(exactly: $0.rounded(.towardZero)) }
  }

  private static func negated(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError)
    -> [Test]
  {
    guard let object = value.objectValue, isOperators(object) else {
      throw QueryDecodingError("$not needs an object of operators", trail)
    }
    let negated = try tests(object, trail)
    return negated
  }

  // MARK: Arrays

  private static func all(_ member: JSONObject.Member, _ trail: Trail) throws(QueryDecodingError)
    -> Test
  {
    guard let elements = member.value.arrayValue else {
      throw QueryDecodingError("$all needs an array", trail)
    }
    guard let first = elements.first?.objectValue, first["$elemMatch"] != nil else {
      return .all(try values(member, trail))
    }
    var tests: [Test] = []
    for (index, element) in elements.enumerated() {
      let here = trail + [.element(index)]
      guard let object = element.objectValue, object.count == 1, let inner = object["$elemMatch"]
      else {
        throw QueryDecodingError("$all needs $elemMatch for all of its elements or for none", here)
      }
      tests.append(try elementMatch(inner, here + [.member("$elemMatch")]))
    }
    return .allElements(tests)
  }

  private static func elementMatch(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError)
    -> Test
  {
    guard let object = value.objectValue else {
      throw QueryDecodingError("$elemMatch needs an object", trail)
    }
    let combining = ["$and", "$or", "$nor"]
    guard let first = object.members.first?.name, first.starts(with: "$"),
      !combining.contains(first)
    else { return .element(try predicate(value, trail)) }
    return .elementValue(try tests(object, trail))
  }

  // MARK: Regular expressions

  private static func pattern(_ object: JSONObject, _ trail: Trail) throws(QueryDecodingError)
    -> Pattern
  {
    guard let source = object["$regex"]?.stringValue else {
      throw QueryDecodingError("$regex needs a string", trail)
    }
    let options = object["$options"] ?? .string("")
    let optionsTrail = trail.dropLast() + [.member("$options")]
    guard let letters = options.stringValue, letters.allSatisfy({ "imsx".contains($0) }) else {
      throw QueryDecodingError("$options takes the letters i, m, s and x", Array(optionsTrail))
    }
    do throws(RegexError) {
      return try Pattern(source, options: letters)
    } catch {
      if error.isNoMemory { throw QueryDecodingError.noMemory }
      throw QueryDecodingError("$regex: \(error.message), at character \(error.position)", trail)
    }
  }
}

extension ValueType {
  /// A name, a number, or an array of these.
  static func parse(
    _ value: JSONValue, _ trail: FilterParser.Trail
  ) throws(QueryDecodingError) -> [ValueType] {
    guard let elements = value.arrayValue else { return [try one(value, trail)] }
    guard !elements.isEmpty else { throw QueryDecodingError("$type needs a type", trail) }
    var types: [ValueType] = []
    for (index, element) in elements.enumerated() {
      types.append(try one(element, trail + [.element(index)]))
    }
    return types
  }

  private static func one(
    _ value: JSONValue, _ trail: FilterParser.Trail
  ) throws(QueryDecodingError) -> ValueType {
    if let name = value.stringValue, let type = ValueType(rawValue: name) { return type }
    if let code = value.intValue, let type = allCases.first(where: { $0.code == code }) {
      return type
    }
    throw QueryDecodingError("unknown type for $type", trail)
  }
}
