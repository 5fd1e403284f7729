package import KVServerCore

/// How a provider of OpenID Connect is asked, and what counts of what it says.
package struct OpenIDSettings: Sendable, Equatable {
  /// The app whose users log in by it; nil: those of all apps.
  package private(set) var app: String?
  let issuer: String
  let clientId: String
  /// Nil: the server is a public client of the provider's.
  let clientSecret: String?
  /// Whose tokens count besides those for `clientId`: the clients of apps that log in at the provider by themselves.
  let audiences: [String]
  let scopes: [String]
  /// The claim that is the name of the user.
  let claim: String
  /// Seconds that the two clocks may differ.
  let leeway: Int64
  /// How old the id token of a client may be, in seconds.
  let tokenSeconds: Int64
  /// Seconds for one call.
  let seconds: Double
  /// How many calls may be under way.
  let concurrency: Int
  /// Certificate authorities of the provider's, as a PEM file; nil: the system's.
  package let caFile: String?
  let rules: IdentityRules

  /// Reads a JSON object such as `{"issuer":"https://id.example","client-id":"books","secret":"…"}`.
  package init(_ text: String) throws(SettingsReader.Failure) {
    let settings = try SettingsReader(
      text,
      members: [
        "app", "issuer", "client-id", "client-secret", "audiences", "scopes", "claim", "users",
        "callback", "redirects", "secret", "leeway-seconds", "token-seconds", "timeout-seconds",
        "concurrency", "ca-file",
      ])
    app = try settings.text("app")
    guard let issuer = try settings.text("issuer"), SettingsReader.isPrivate(issuer) else {
      throw SettingsReader.Failure("has an issuer such as https://id.example")
    }
    guard let clientId = try settings.text("client-id") else {
      throw SettingsReader.Failure("has a client-id")
    }
    self.issuer = issuer
    self.clientId = clientId
    clientSecret = try settings.text("client-secret")
    audiences = try settings.texts("audiences") + [clientId]
    let scopes = try settings.texts("scopes")
    self.scopes = scopes.contains("openid") ? scopes : ["openid"] + scopes
    claim = try settings.text("claim") ?? "sub"
    leeway = Int64(try settings.number("leeway-seconds", within: 0...300) ?? 30)
    tokenSeconds = Int64(try settings.number("token-seconds", within: 1...86_400) ?? 600)
    seconds = try settings.number("timeout-seconds", within: 0.1...8) ?? 5
    concurrency = Int(try settings.number("concurrency", within: 1...1000) ?? 4)
    caFile = try settings.text("ca-file")
    rules = try Self.rules(settings)
  }

  private static func rules(
    _ settings: SettingsReader
  ) throws(SettingsReader.Failure) -> IdentityRules {
    var rules = IdentityRules(secret: try settings.secret("secret"))
    switch try settings.text("users") ?? "create" {
    case "create": rules.createsUsers = true
    case "existing": rules.createsUsers = false
    default: throw SettingsReader.Failure("has users that are \"create\" or \"existing\"")
    }
    rules.callback = try settings.text("callback")
    if let callback = rules.callback, !SettingsReader.isPrivate(callback) {
      throw SettingsReader.Failure("has a callback such as https://data.example/v3/oauth/callback")
    }
    rules.redirects = try settings.texts("redirects")
    guard rules.redirects.isEmpty == (rules.callback == nil) else {
      throw SettingsReader.Failure("has callback and redirects, or neither")
    }
    for redirect in rules.redirects where !isRedirect(redirect) {
      throw SettingsReader.Failure(
        "has redirects that are addresses without #, such as app://login")
    }
    return rules
  }

  /// Whether it can stand in a header, and has a scheme and no fragment.
  private static func isRedirect(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
      && text.utf8.contains(UInt8(ascii: ":"))
  }
}
