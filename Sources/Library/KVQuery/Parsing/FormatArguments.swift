internal import KVJSON

/// The values that a format's `%` conversions and `$` variables stand for. They are values: nothing in
/// them is ever read as syntax.
struct FormatArguments {
  private var values: [JSONValue] = []
  private var variables = JSONObject()
  private var used = 0

  init(_ values: [JSONValue]) { self.values = values }

  /// A JSON array: the values in order; or an object: `{"arguments":[…],"variables":{…}}`.
  init(parsing text: String) throws(QueryError) {
    guard !text.isEmpty else { return }
    let value = try parseJSON(text)
    do throws(QueryDecodingError) {
      // The object and the array that they stand in are two levels.
      try FilterParser.checkDepth(value, [], left: FilterParser.maximumDepthInFormat + 2)
      try read(value)
    } catch { throw error.located(in: text) }
  }

  private mutating func read(_ value: JSONValue) throws(QueryDecodingError) {
    switch value {
    case .array(let elements): values = elements
    case .object(let object):
      for member in object.members {
        switch (member.name, member.value) {
        case ("arguments", .array(let elements)): values = elements
        case ("variables", .object(let members)): variables = members
        default:
          throw QueryDecodingError(
            "expected arguments (an array) or variables (an object)", [.member(member.name)])
        }
      }
    case .null: break
    case .bool, .int, .double, .string:
      throw QueryDecodingError("arguments must be an array or an object", [])
    }
  }

  /// The next value, which has to suit the conversion; `position` is where that stands in the format.
  mutating func next(for letter: Character, at position: Int) throws(QueryError) -> JSONValue {
    guard used < values.count else {
      throw QueryError(.syntax, "the argument \(used + 1) for this is missing", at: position)
    }
    let value = values[used]
    used += 1
    guard let converted = FormatArguments.convert(value, letter) else {
      let wanted = FormatArguments.wanted(letter)
      throw QueryError(.syntax, "argument \(used) must be \(wanted)", at: position)
    }
    return converted
  }

  func variable(_ name: String) -> JSONValue? { variables[name] }

  /// The number of values that were not asked for.
  var unused: Int { values.count - used }

  private static func convert(_ value: JSONValue, _ letter: Character) -> JSONValue? {
    switch letter {
    case "@": return value
    case "K", "s", "S": return value.stringValue.map { .string($0) }
    case "c", "C":
      if let code = value.intValue, let scalar = UInt32(exactly: code).flatMap(Unicode.Scalar.init)
      {
        return .string(String(scalar))
      }
      return value.stringValue.flatMap { $0.unicodeScalars.count == 1 ? .string($0) : nil }
    case "f", "F", "e", "E", "g", "G", "a", "A": return value.doubleValue.map { _ in value }
    default: return value.intValue.map { .int($0) }
    }
  }

  private static func wanted(_ letter: Character) -> String {
    switch letter {
    case "K": "the name of a key"
    case "s", "S": "a string"
    case "c", "C": "a character"
    case "f", "F", "e", "E", "g", "G", "a", "A": "a number"
    default: "an integer"
    }
  }
}
