internal import KVJSON
internal import KVQuery
internal import KVSync

/// Reads an options object key by key; a key that was not read by the end is an unknown option.
///
/// Every error is `.invalid` and names the key.
struct OptionReader {
  private var left: JSONObject

  init(_ object: JSONObject) { left = object }

  private mutating func remove(_ key: String) -> JSONValue? {
    defer { left[key] = nil }
    return left[key]
  }

  private func wrong(_ key: String, _ expected: String) -> StoreError {
    StoreError(.invalid, "The option \"\(key)\" must be \(expected).")
  }

  /// A text that is not empty.
  mutating func string(_ key: String) throws(StoreError) -> String? {
    guard let value = remove(key) else { return nil }
    guard let text = value.stringValue, !text.isEmpty, !text.utf8.contains(0) else {
      throw wrong(key, "a text that is not empty")
    }
    return text
  }

  /// A text or null, which is `.some(nil)`.
  mutating func stringOrNull(_ key: String) throws(StoreError) -> String?? {
    if left[key]?.isNull == true {
      left[key] = nil
      return .some(nil)
    }
    return try string(key).map { .some($0) }
  }

  mutating func bool(_ key: String) throws(StoreError) -> Bool? {
    guard let value = remove(key) else { return nil }
    guard let flag = value.boolValue else { throw wrong(key, "true or false") }
    return flag
  }

  /// A span of time in seconds, more than 0.
  mutating func seconds(_ key: String, atLeast least: Double = 0) throws(StoreError) -> Double? {
    guard let value = remove(key) else { return nil }
    guard let seconds = value.doubleValue, seconds > 0, seconds >= least, seconds <= 1e9 else {
      throw wrong(key, "a number of seconds, " + (least > 0 ? "\(least) or more" : "above 0"))
    }
    return seconds
  }

  mutating func integer(_ key: String, _ range: ClosedRange<Int>) throws(StoreError) -> Int? {
    guard let value = remove(key) else { return nil }
    guard let number = value.intValue.flatMap({ Int(exactly: $0) }), range.contains(number) else {
      throw wrong(key, "a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Reads a JSON object.
  mutating func members(_ key: String) throws(StoreError) -> JSONObject? {
    guard let value = remove(key) else { return nil }
    guard let object = value.objectValue else { throw wrong(key, "an object") }
    return object
  }

  /// Whatever there is.
  mutating func value(_ key: String) -> JSONValue? { remove(key) }

  /// Reads a JSON object, as text.
  mutating func object(_ key: String) throws(StoreError) -> String? { try members(key)?.text }

  /// What goes to the backend in a header, which has a limit: a JSON object, as text.
  mutating func requestProperties(_ key: String) throws(StoreError) -> String? {
    let properties = try object(key)
    if let properties, properties.utf8.count >= 2000 {
      throw wrong(key, "less than 2,000 bytes as JSON")
    }
    return properties
  }

  /// An object of names to true, or to such an object.
  mutating func knownMembers(_ key: String) throws(StoreError) -> KnownMembers? {
    guard let value = remove(key) else { return nil }
    guard let known = value.objectValue.flatMap(KnownMembers.init) else {
      throw wrong(
        key, "an object of member names, each with true or a nested object of the same kind")
    }
    return known
  }

  /// An object of paths to rules.
  mutating func mergeRules(_ key: String) throws(StoreError) -> MergeRules? {
    guard let value = remove(key) else { return nil }
    guard let rules = MergeRules(value) else {
      throw wrong(key, "an object of members, each with \"union\" or \"append\"")
    }
    return rules
  }

  /// Reads a filter: a JSON object.
  mutating func filter(_ key: String) throws(StoreError) -> Query? {
    guard let text = try object(key) else { return nil }
    do throws(QueryError) { return try Query(filter: text) } catch {
      throw StoreError(.invalid, "The option \"\(key)\" is not a filter: \(error.message).")
    }
  }

  /// Null: the entity must not exist; a local version that it must have, or a filter that it must match.
  mutating func condition(_ key: String) throws(StoreError) -> WriteCondition? {
    guard let value = left[key] else { return nil }
    if value.objectValue != nil { return try filter(key).map { .matches($0) } }
    left[key] = nil
    if value.isNull { return .isMissing }
    guard let version = value.intValue, version > 0 else {
      throw wrong(key, "null, a version (a whole number above 0) or a filter")
    }
    return .version(version)
  }

  /// An object of names to names, both of one component.
  mutating func names(_ key: String) throws(StoreError) -> KeyMap? {
    guard let value = remove(key) else { return nil }
    var names = KeyMap()
    for member in value.objectValue?.members ?? [] {
      guard let name = member.value.stringValue, Self.isName(name), Self.isName(member.name) else {
        throw wrong(key, "an object of names to names, without \".\" and \"$\"")
      }
      names[member.name] = name
    }
    guard value.objectValue != nil else { throw wrong(key, "an object") }
    return names
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "$") }
  }

  mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String, _ type: Choice.Type
  ) throws(StoreError) -> Choice? where Choice.RawValue == String {
    guard let value = remove(key) else { return nil }
    guard let choice = value.stringValue.flatMap(Choice.init(rawValue:)) else {
      let names = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw wrong(key, "one of \(names)")
    }
    return choice
  }

  /// Reads an object of options; nil: it is missing.
  mutating func options(_ key: String) throws(StoreError) -> OptionReader? {
    try members(key).map { OptionReader($0) }
  }

  /// Throws if a key was not asked for.
  func finish() throws(StoreError) {
    guard let unknown = left.members.first else { return }
    throw StoreError(.invalid, "The option \"\(unknown.name)\" does not apply here.")
  }
}
