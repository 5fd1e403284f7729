internal import KVJSON
/// A JSON object whose members are options of the command line; an array stands for a repeated option.
enum ConfigurationFile {
  static func options(in text: String) throws(Arguments.Misuse) -> Arguments.Options {
    let value: JSONValue
    do { value = try JSONValue(parsing: text) } catch {
      throw Arguments.Misuse(description: "\(error.message) (byte \(error.position))")
    }
    guard let object = value.objectValue else {
      throw Arguments.Misuse(description: "the configuration must be a JSON object")
    }
    var options = Arguments.Options()
    for member in object.members {
      guard Setting.named(member.name) != nil, member.name != "config" else {
        throw Arguments.Misuse(description: "unknown option \"\(member.name)\"")
      }
      for value in member.value.arrayValue ?? [member.value] {
        options.all.append(.init(name: member.name, value: try Self.text(of: value, member.name)))
      }
    }
    return options
  }

  private static func text(
    of value: JSONValue, _ name: String
  ) throws(Arguments.Misuse) -> String {
    switch value {
    case .string(let text): return text
    case .int(let number): return String(number)
    case .bool(let flag): return String(flag)
    case .object where ["app", "logic", "openid"].contains(name): return value.text
    default:
      throw Arguments.Misuse(
        description: "\"\(name)\" must be a string, a number, or an array of these")
    }
  }
}
