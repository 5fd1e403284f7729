internal import KVBase
internal import KVJSON

/// Reads MongoDB's update documents.
enum UpdateParser {
  typealias Trail = FilterParser.Trail
  typealias Step = EntityUpdate.Step

  private static let operators = [
    "$set", "$unset", "$inc", "$mul", "$min", "$max", "$rename", "$push", "$addToSet", "$pop",
    "$pull", "$currentDate",
  ]

  /// The operators of MongoDB that an entity's update has no use for, and why.
  private static let refused = [
    "$setOnInsert": "an update never inserts",
    "$bit": "there are no bit operations",
    "$pullAll": "use $pull with $in",
  ]

  static func parse(_ text: String, _ format: RecordFormat) throws(QueryError) -> [Step] {
    let value = try parseJSON(text)
    do throws(QueryDecodingError) {
      try FilterParser.checkDepth(value, [], left: FilterParser.maximumDepth)
      return try steps(value, format)
    } catch {
      throw error.located(in: text)
    }
  }

  private static func steps(
    _ value: JSONValue, _ format: RecordFormat
  ) throws(QueryDecodingError) -> [Step] {
    guard let object = value.objectValue, !object.isEmpty else {
      throw QueryDecodingError(
        "an update must be an object with operators, such as {\"$set\":{…}}", [])
    }
    var steps: [Step] = []
    var paths = UpdatePaths()
    for member in object.members {
      let here: Trail = [.member(member.name)]
      for target in try targets(member, here) {
        let trail = here + [.member(target.name)]
        let step = try step(member.name, target, at: trail)
        try checkID(step.path, format, at: trail)
        try paths.insert(step.path, trail)
        if case .rename(let source) = step.operation {
          try checkID(source, format, at: trail)
          try paths.insert(source, trail)
        }
        steps.append(step)
      }
    }
    return steps.sorted { UpdatePaths.precedes($0.path, $1.path) }
  }

  /// The paths and operands of an operator.
  private static func targets(
    _ member: JSONObject.Member, _ trail: Trail
  ) throws(QueryDecodingError) -> [JSONObject.Member] {
    guard member.name.starts(with: "$") else {
      throw QueryDecodingError(
        "an update may have operators only, such as $set; to replace an entity, save it", trail)
    }
    guard operators.contains(member.name) else {
      let reason = refused[member.name].map { ": \($0)" } ?? ""
      throw QueryDecodingError("unknown operator \(member.name)\(reason)", trail)
    }
    guard let targets = member.value.objectValue else {
      throw QueryDecodingError("\(member.name) needs an object", trail)
    }
    return targets.members
  }

  private static func step(
    _ name: String, _ target: JSONObject.Member, at trail: Trail
  ) throws(QueryDecodingError) -> Step {
    let path = try path(target.name, trail)
    guard name == "$rename" else {
      return Step(path: path, name: name, operation: try operation(name, target.value, at: trail))
    }
    guard let destination = target.value.stringValue else {
      throw QueryDecodingError("$rename needs the new name, a string", trail)
    }
    return Step(
      path: try self.path(destination, trail), name: name, operation: .rename(from: path))
  }

  private static func path(_ text: String, _ trail: Trail) throws(QueryDecodingError) -> Path {
    let path = Path(text)
    guard path.components.count <= FilterParser.maximumDepth else {
      throw QueryDecodingError("the path has too many parts", trail)
    }
    for component in path.components {
      if component.name.isEmpty { throw QueryDecodingError("the path has an empty part", trail) }
      if component.name.first == UInt8(ascii: "$") {
        throw QueryDecodingError(
          "positional operators are not supported: \(component.quoted)", trail)
      }
    }
    return path
  }

  private static func checkID(
    _ path: Path, _ format: RecordFormat, at trail: Trail
  ) throws(QueryDecodingError) {
    for member in format.id where path.top.text.hasSameBytes(as: member.name) {
      throw QueryDecodingError("the \(member.name) of an entity cannot be changed", trail)
    }
  }

  private static func operation(
    _ name: String, _ value: JSONValue, at trail: Trail
  ) throws(QueryDecodingError) -> UpdateOperator {
    switch name {
    case "$set": return .set(value)
    case "$unset": return .unset
    case "$inc": return .increment(try number(name, value, at: trail))
    case "$mul": return .multiply(try number(name, value, at: trail))
    case "$min": return .minimum(value)
    case "$max": return .maximum(value)
    case "$push": return .push(try push(value, trail))
    case "$addToSet": return .addToSet(try each(value, trail) ?? [value])
    case "$pop": return try pop(value, trail)
    case "$pull": return .pull(try pull(value, trail))
    case "$currentDate": return try currentDate(value, trail)
    default: throw QueryDecodingError("unknown operator \(name)", Array(trail.prefix(1)))
    }
  }

  private static func number(
    _ name: String, _ value: JSONValue, at trail: Trail
  ) throws(QueryDecodingError) -> Number {
    guard let number = Number(value) else {
      throw QueryDecodingError("\(name) needs a number", trail)
    }
    return number
  }

  private static func pop(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError)
    -> UpdateOperator
  {
    switch value.intValue {
    case 1: return .popLast
    case -1: return .popFirst
    default:
      throw QueryDecodingError("$pop needs 1, for the last element, or -1, for the first", trail)
    }
  }

  /// Times are texts here, whichever of MongoDB's types is asked for.
  private static func currentDate(
    _ value: JSONValue, _ trail: Trail
  ) throws(QueryDecodingError) -> UpdateOperator {
    if value.boolValue == true { return .currentDate }
    if value["$type"]?.stringValue == "date", value.objectValue?.count == 1 { return .currentDate }
    throw QueryDecodingError("$currentDate needs true or {\"$type\":\"date\"}", trail)
  }

  // MARK: Arrays

  /// The elements of `{"$each":[…]}`; nil for any other value.
  private static func each(
    _ value: JSONValue, _ trail: Trail, others: [String] = []
  ) throws(QueryDecodingError) -> [JSONValue]? {
    guard let object = value.objectValue, FilterParser.isOperators(object) else { return nil }
    guard let elements = object["$each"]?.arrayValue else {
      throw QueryDecodingError("$each with an array is required here", trail)
    }
    for member in object.members where member.name != "$each" && !others.contains(member.name) {
      throw QueryDecodingError("unknown operator \(member.name)", trail + [.member(member.name)])
    }
    return elements
  }

  private static func push(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError)
    -> ArrayPush
  {
    let modifiers = ["$position", "$sort", "$slice"]
    guard let elements = try each(value, trail, others: modifiers) else {
      return ArrayPush(elements: [value])
    }
    var push = ArrayPush(elements: elements)
    push.position = try integer("$position", of: value, at: trail)
    push.slice = try integer("$slice", of: value, at: trail)
    if let order = value["$sort"] { push.order = try self.order(order, trail + [.member("$sort")]) }
    return push
  }

  private static func integer(
    _ name: String, of value: JSONValue, at trail: Trail
  ) throws(QueryDecodingError) -> Int? {
    guard let value = value[name] else { return nil }
    guard let number = value.intValue, number.magnitude <= Int32.max else {
      throw QueryDecodingError("\(name) needs an integer", trail + [.member(name)])
    }
    return Int(number)
  }

  private static func order(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError)
    -> ArrayPush.Order
  {
    if let direction = value.intValue, direction.magnitude == 1 {
      return .elements(ascending: direction == 1)
    }
    guard let object = value.objectValue, !object.isEmpty else {
      throw QueryDecodingError("$sort needs 1, -1, or an object with members and 1 or -1", trail)
    }
    var keys: [Query.SortKey] = []
    for member in object.members {
      guard let direction = member.value.intValue, direction.magnitude == 1 else {
        throw QueryDecodingError("$sort needs 1 or -1", trail + [.member(member.name)])
      }
      keys.append(Query.SortKey(Path(member.name), ascending: direction == 1))
    }
    return .members(keys)
  }

  private static func pull(_ value: JSONValue, _ trail: Trail) throws(QueryDecodingError)
    -> ArrayPull
  {
    guard let object = value.objectValue else { return .equal(EditableValue(value).sortKey) }
    guard FilterParser.isOperators(object) else {
      return .filter(Matcher(try FilterParser.predicate(value, trail)))
    }
    return .checks(Checks(try FilterParser.tests(value, trail), within: .unlimited))
  }
}
