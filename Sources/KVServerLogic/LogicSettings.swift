internal import KVBase
internal import KVJSON
internal import KVServerCore

/// How the operator's service is reached, and what it wants to be asked.
package struct LogicSettings: Sendable {
  /// An error in the settings: one sentence.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String
  }

  /// The app whose requests it is asked about; nil: those of all apps.
  package private(set) var app: String?
  let url: String
  let secret: String
  /// Seconds for a call with all its repetitions.
  let seconds: Double
  let attempts: Int
  /// How many calls may be under way.
  let concurrency: Int
  let hooks: [RecordID: Set<Hook>]
  let endpoints: Set<RecordID>

  /// Reads a JSON object such as
  /// `{"url":"http://127.0.0.1:9000/","secret":"…","hooks":{"books":["before-save"]},"endpoints":["report"]}`.
  package init(_ text: String) throws(Failure) {
    let value: JSONValue
    do { value = try JSONValue(parsing: text) } catch { throw Failure(description: error.message) }
    guard let object = value.objectValue else { throw Failure(description: "is a JSON object") }
    let known = [
      "app", "url", "secret", "timeout-seconds", "attempts", "concurrency", "hooks", "endpoints",
    ]
    for member in object.members where !known.contains(member.name) {
      throw Failure(description: "has no member \"\(member.name)\"")
    }
    app = try Self.text("app", object)
    guard let url = try Self.text("url", object), Self.isAddress(url) else {
      throw Failure(description: "has a url such as http://127.0.0.1:9000/")
    }
    guard let secret = try Self.text("secret", object), secret.utf8.count >= 16 else {
      throw Failure(description: "has a secret of 16 bytes or more")
    }
    self.url = url
    self.secret = secret
    seconds = try Self.number("timeout-seconds", object, within: 0.1...8) ?? 5
    attempts = Int(try Self.number("attempts", object, within: 1...10) ?? 3)
    concurrency = Int(try Self.number("concurrency", object, within: 1...1000) ?? 8)
    hooks = try Self.hooks(object["hooks"] ?? [:])
    endpoints = Set(try Self.texts("endpoints", object["endpoints"] ?? []).map { RecordID($0) })
  }

  /// Whether a text is `http://` or `https://` with a host, perhaps a port, and whatever else, without user and password.
  private static func isAddress(_ text: String) -> Bool {
    guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }),
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return false }
    let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    guard !authority.contains("@") else { return false }
    let end = authority.lastIndex(of: "]") ?? authority.startIndex
    guard let colon = authority[end...].lastIndex(of: ":") else { return !authority.isEmpty }
    let port = authority[authority.index(after: colon)...]
    return colon > authority.startIndex && UInt16(port).map { $0 > 0 } == true
  }

  private static func hooks(_ value: JSONValue) throws(Failure) -> [RecordID: Set<Hook>] {
    guard let object = value.objectValue else {
      throw Failure(description: "has hooks by the names of collections, such as {\"books\":[…]}")
    }
    var hooks: [RecordID: Set<Hook>] = [:]
    for member in object.members {
      for name in try texts("hooks", member.value) {
        guard let hook = Hook(rawValue: name) else {
          let names = Hook.allCases.map(\.rawValue).joined(separator: ", ")
          throw Failure(description: "has no hook \(name); they are \(names)")
        }
        hooks[RecordID(member.name), default: []].insert(hook)
      }
    }
    return hooks
  }

  private static func text(_ name: String, _ object: JSONObject) throws(Failure) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.stringValue, !text.isEmpty else {
      throw Failure(description: "has a \(name) that is a text")
    }
    return text
  }

  private static func texts(_ name: String, _ value: JSONValue) throws(Failure) -> [String] {
    let texts = value.arrayValue?.compactMap(\.stringValue)
    guard let texts, texts.count == value.arrayValue?.count else {
      throw Failure(description: "has \(name) that are an array of texts")
    }
    return texts
  }

  private static func number(
    _ name: String, _ object: JSONObject, within range: ClosedRange<Double>
  ) throws(Failure) -> Double? {
    guard let value = object[name] else { return nil }
    guard let number = value.doubleValue, range.contains(number) else {
      throw Failure(
        description: "has a \(name) from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
