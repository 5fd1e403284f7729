internal import KVBase
internal import KVJSON
package import KVServerCore

/// How the operator's service is reached, and what it wants to be asked.
package struct LogicSettings: Sendable {
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
  /// The members that queries may name where `after-fetch` changes what readers get, by collection.
  let queryable: [RecordID: [String]]
  let endpoints: Set<RecordID>

  /// Reads a JSON object such as
  /// `{"url":"http://127.0.0.1:9000/","secret":"…","hooks":{"books":["before-save"]},"endpoints":["report"]}`.
  package init(_ text: String) throws(SettingsReader.Failure) {
    let settings = try SettingsReader(
      text,
      members: [
        "app", "url", "secret", "timeout-seconds", "attempts", "concurrency", "hooks", "queryable",
        "endpoints",
      ])
    app = try settings.text("app")
    guard let url = try settings.text("url"), SettingsReader.isAddress(url) else {
      throw SettingsReader.Failure("has a url such as http://127.0.0.1:9000/")
    }
    self.url = url
    secret = try settings.secret("secret")
    seconds = try settings.number("timeout-seconds", within: 0.1...8) ?? 5
    attempts = Int(try settings.number("attempts", within: 1...10) ?? 3)
    concurrency = Int(try settings.number("concurrency", within: 1...1000) ?? 8)
    hooks = try Self.hooks(settings["hooks"] ?? [:])
    queryable = try Self.queryable(settings["queryable"] ?? [:])
    endpoints = Set(try settings.texts("endpoints").map { RecordID($0) })
  }

  private static func queryable(
    _ value: JSONValue
  ) throws(SettingsReader.Failure) -> [RecordID: [String]] {
    guard let object = value.objectValue else {
      throw SettingsReader.Failure(
        "has queryable by the names of collections, such as {\"books\":[\"title\"]}")
    }
    var queryable: [RecordID: [String]] = [:]
    for member in object.members {
      queryable[RecordID(member.name)] = try SettingsReader.texts("queryable", member.value)
    }
    return queryable
  }

  private static func hooks(_ value: JSONValue) throws(SettingsReader.Failure) -> [RecordID: Set<
    Hook
  >] {
    guard let object = value.objectValue else {
      throw SettingsReader.Failure("has hooks by the names of collections, such as {\"books\":[…]}")
    }
    var hooks: [RecordID: Set<Hook>] = [:]
    for member in object.members {
      for name in try SettingsReader.texts("hooks", member.value) {
        guard let hook = Hook(rawValue: name) else {
          let names = Hook.allCases.map(\.rawValue).joined(separator: ", ")
          throw SettingsReader.Failure("has no hook \(name); they are \(names)")
        }
        hooks[RecordID(member.name), default: []].insert(hook)
      }
    }
    return hooks
  }
}
