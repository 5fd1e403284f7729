package import KVJSON
internal import KVQuery

/// How lists that both sides have changed are merged, by their members.
package struct MergeRules: Sendable, Equatable {
  package enum Rule: String, Sendable {
    /// A set: an element that both have added is there once.
    case union
    /// A log: what each has added is there, also where both have added the same.
    case append
  }

  private var rules: [Path: Rule] = [:]

  /// No list is merged.
  package init() {}

  /// Reads an object of paths and rules: `{"tags":"union","history.entries":"append"}`. Nil if it is something else.
  package init?(_ json: JSONValue) {
    guard let object = json.objectValue else { return nil }
    for member in object.members {
      guard let rule = member.value.stringValue.flatMap(Rule.init), !member.name.isEmpty else {
        return nil
      }
      rules[Path(member.name)] = rule
    }
  }

  package var isEmpty: Bool { rules.isEmpty }

  /// These rules, with the lists at some paths appended to.
  func appending(at paths: [Path]) -> MergeRules {
    var all = self
    for path in paths { all.rules[path] = .append }
    return all
  }

  /// The rule for the member that the names lead to, from the entity's top.
  subscript(_ names: [[UInt8]]) -> Rule? {
    let text = names.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
    return rules[Path(text)]
  }
}
