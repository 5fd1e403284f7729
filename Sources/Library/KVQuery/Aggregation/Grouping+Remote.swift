package import KVJSON

/// A grouping as backends understand it: a reduce function in JavaScript, which our own server recognises and
/// hosted services run. One request, however many numbers are wanted.
package struct RemoteGrouping: Sendable {
  package let grouping: Grouping
  package let initial: JSONObject
  package let reduce: String

  /// The members' names on the way: `v0`, `v1`, …; an average has two more.
  private let prefix: String

  /// Makes the request for a grouping; nil if a path has a name that has no safe form in JavaScript.
  package init?(_ grouping: Grouping) {
    var prefix = "v"
    while grouping.keys.contains(where: { $0.text.hasPrefix(prefix) }) { prefix += "_" }
    var (initial, statements) = (JSONObject(), "")
    for (index, member) in grouping.members.enumerated() {
      let name = "\(prefix)\(index)"
      guard let statement = Self.statement(member.aggregate, name, initial: &initial) else {
        return nil
      }
      statements += statement
    }
    // A group without a number still needs a function that is understood.
    if grouping.members.isEmpty {
      initial[prefix] = 0
      statements = "out.\(prefix)++;"
    }
    self.grouping = grouping
    self.prefix = prefix
    self.initial = initial
    reduce = "function(doc,out){ \(statements) }"
  }

  private static func statement(
    _ aggregate: Grouping.Aggregate, _ name: String, initial: inout JSONObject
  ) -> String? {
    guard let path = aggregate.path else {
      initial[name] = 0
      return "out.\(name)++; "
    }
    guard let field = JavaScriptField(path) else { return nil }
    let doc = field.text
    let step: String
    switch aggregate {
    case .count, .numbers:
      initial[name] = 0
      step = "out.\(name)++;"
    case .sum:
      initial[name] = 0
      step = "out.\(name) += \(doc);"
    case .average:
      for part in [name, name + "s", name + "c"] { initial[part] = 0 }
      step =
        "out.\(name)c++; out.\(name)s += \(doc); out.\(name) = out.\(name)s / out.\(name)c;"
    // Texts, as the original client sends them: JSON has no infinity.
    case .minimum:
      initial[name] = "Infinity"
      step = "out.\(name) = Math.min(out.\(name), \(doc));"
    case .maximum:
      initial[name] = "-Infinity"
      step = "out.\(name) = Math.max(out.\(name), \(doc));"
    }
    return "if (\(field.isNumber)) { \(step) } "
  }

  /// The groups of an answer, with the members' own names, ordered by the keys.
  package func results(_ groups: [JSONObject]) -> [JSONObject] {
    var found: [(identity: [UInt8], result: JSONObject)] = []
    for group in groups {
      var identity: [UInt8] = []
      var members: [JSONObject.Member] = []
      for (key, name) in zip(grouping.keys, grouping.keyNames) {
        let value = group[key.text] ?? .null
        ValueEncoding.append(value, to: &identity, grouping.collation)
        members.append(.init(name, value.plain))
      }
      for (index, member) in grouping.members.enumerated() {
        members.append(
          .init(member.name, value(of: member.aggregate, "\(prefix)\(index)", group: group)))
      }
      found.append((identity, JSONObject(members)))
    }
    return found.sorted { $0.identity.lexicographicallyPrecedes($1.identity) }.map(\.result)
  }

  /// What started as a text and still is one has met no number.
  private func value(
    of aggregate: Grouping.Aggregate, _ name: String, group: JSONObject
  ) -> JSONValue {
    if case .average = aggregate, group[name + "c"]?.doubleValue == 0 { return .null }
    guard let value = group[name], let number = Number(value) else { return .null }
    return number.plain
  }
}

/// A path of an entity in JavaScript.
private struct JavaScriptField {
  /// `doc.a.b`
  let text: String
  /// `doc.a != null && typeof doc.a.b === "number"`
  let isNumber: String

  /// Writes a path as JavaScript; nil for names that would need an escape.
  init?(_ path: Path) {
    var text = "doc"
    var parents: [String] = []
    for component in path.components {
      if text != "doc" { parents.append(text + " != null && ") }
      guard let accessor = Self.accessor(component.name) else { return nil }
      text += accessor
    }
    self.text = text
    isNumber = parents.joined() + "typeof \(text) === \"number\""
  }

  private static func accessor(_ name: [UInt8]) -> String? {
    let isWord = name.allSatisfy { byte in
      byte | 0x20 &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "_")
    }
    let text = String(decoding: name, as: UTF8.self)
    if isWord, let first = name.first, first &- 0x30 >= 10 { return "." + text }
    let isSafe = name.allSatisfy { byte in
      byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
    return isSafe && !name.isEmpty ? "[\"\(text)\"]" : nil
  }
}
