internal import KVBase
internal import KVJSON
internal import KVServerCore

/// An app as the command line and configuration files have it.
extension AppCredentials {
  private static let members = ["key", "secret", "masterSecret", "masterSecrets", "seal"]

  /// Reads `KID:SECRET[:MASTER]` or, as configuration files may have it, a JSON object.
  static func read(_ text: String) throws(Arguments.Misuse) -> AppCredentials {
    if text.hasPrefix("{") {
      do throws(SettingsReader.Failure) {
        return try AppCredentials(SettingsReader(text, members: members))
      } catch {
        throw Arguments.Misuse(description: "--app \(error.description)")
      }
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (2...3).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }), isKey(parts[0]) else {
      throw Arguments.Misuse(description: "--app needs KID:SECRET or KID:SECRET:MASTER")
    }
    return .init(
      key: parts[0], secret: parts[1], masterSecret: parts.count == 3 ? parts[2] : nil)
  }

  private static func isKey(_ text: String) -> Bool { !text.contains("/") && !text.contains(":") }

  private init(_ settings: SettingsReader) throws(SettingsReader.Failure) {
    guard let key = try settings.text("key"), Self.isKey(key),
      let secret = try settings.text("secret")
    else { throw SettingsReader.Failure("has a key without / and :, and a secret") }
    self.init(
      key: key, secret: secret, masterSecret: try settings.text("masterSecret"),
      seal: settings["seal"] == nil ? nil : try settings.secret("seal"))
    for value in try Self.array(settings["masterSecrets"] ?? []) {
      let master = try MasterSecret(
        SettingsReader(value.text, members: ["name", "sha256", "scopes", "expires"]))
      guard !masterSecrets.contains(where: { $0.name == master.name }) else {
        throw SettingsReader.Failure("has the name \(master.name ?? "") twice")
      }
      guard !masterSecrets.contains(where: { $0.sha256 == master.sha256 }) else {
        throw SettingsReader.Failure("has one master secret twice")
      }
      masterSecrets.append(master)
    }
    if !masterSecrets.isEmpty, masterSecret == nil, seal == nil {
      throw SettingsReader.Failure("has a seal, 32 random hex digits, beside masterSecrets")
    }
  }

  private static func array(_ value: JSONValue) throws(SettingsReader.Failure) -> [JSONValue] {
    guard let array = value.arrayValue else {
      throw SettingsReader.Failure("has masterSecrets that are an array")
    }
    return array
  }

  /// The object that stands for it in a file.
  var json: JSONValue {
    var object: JSONObject = ["key": .string(key), "secret": .string(secret)]
    object["masterSecret"] = masterSecret.map { .string($0) }
    object["seal"] = seal.map { .string($0) }
    object["masterSecrets"] = .array(masterSecrets.map(\.json))
    return .object(object)
  }
}

extension MasterSecret {
  init(_ settings: SettingsReader) throws(SettingsReader.Failure) {
    guard let name = try settings.text("name"), Self.isName(name) else {
      throw SettingsReader.Failure("has \(Self.nameRule)")
    }
    guard let hash = try settings.text("sha256"), hash.utf8.count == 64,
      hash.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
    else { throw SettingsReader.Failure("has a sha256 of 64 lowercase hex digits") }
    var expires: Timestamp?
    if let text = try settings.text("expires") {
      guard let time = Timestamp(text) else {
        throw SettingsReader.Failure("has an expires such as 2027-01-31T00:00:00Z")
      }
      expires = time
    }
    self.init(
      name: name, sha256: hash, scopes: try Self.scopes(try settings.texts("scopes")),
      expires: expires)
  }

  /// What the one in plain is called, which has no name of its own.
  static let plainName = "plain"

  static let nameRule =
    "a name of letters, digits, - and _, at most 64, that is not \(plainName)"

  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text != plainName && text.hasOnlyLettersDigits(and: "-_")
  }

  /// At least one, all known.
  static func scopes(_ names: [String]) throws(SettingsReader.Failure) -> Set<MasterScope> {
    let scopes = names.compactMap { MasterScope(rawValue: $0) }
    guard !scopes.isEmpty, scopes.count == names.count else {
      throw SettingsReader.Failure("has scopes out of \(Self.scopeNames(MasterScope.allCases))")
    }
    return Set(scopes)
  }

  static func scopeNames(_ scopes: some Collection<MasterScope>) -> String {
    MasterScope.names(scopes).joined(separator: ",")
  }

  /// What a file has of it, or, of one in plain, what may be shown.
  var json: JSONValue {
    var object: JSONObject = [:]
    object["name"] = name.map { .string($0) }
    object["sha256"] = .string(sha256)
    object["scopes"] = .array(MasterScope.names(scopes).map { .string($0) })
    object["expires"] = expires.map { .string($0.description) }
    return .object(object)
  }
}
