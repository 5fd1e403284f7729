internal import KVBase
internal import KVJSON
package import KVServerCore

/// A provider of OpenID Connect, asked by this server as its client (OpenID Connect Core 1.0, section 3.1). Safe from any thread.
package final class OpenIDProvider: IdentityProvider {
  private let settings: OpenIDSettings
  private let client: ProviderClient
  private let documents: ProviderDocuments
  private let used: UsedTokens

  package var rules: IdentityRules { settings.rules }

  /// Fails if the system has no thread or descriptor for it. The provider is not asked yet: it may start later.
  package init(
    _ settings: OpenIDSettings, _ used: UsedTokens
  ) throws(SettingsReader.Failure) {
    self.settings = settings
    self.used = used
    client = try ProviderClient(settings)
    documents = ProviderDocuments(issuer: settings.issuer, client: client) {
      monotonicNanoseconds() / 1_000_000_000
    }
  }

  package func close() { client.close() }

  package func loginPage(
    state: String, nonce: String, challenge: String
  ) throws(IdentityFailure) -> String {
    addressed(
      try documents.addresses().login,
      [
        ("response_type", "code"), ("client_id", settings.clientId),
        ("redirect_uri", rules.callback ?? ""),
        ("scope", settings.scopes.joined(separator: " ")),
        ("state", state), ("nonce", nonce), ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
      ])
  }

  package func grant(
    code: String, verifier: String, nonce: String
  ) throws(IdentityFailure) -> ProviderGrant {
    let answer = try tokens([
      ("grant_type", "authorization_code"), ("code", code),
      ("redirect_uri", rules.callback ?? ""), ("code_verifier", verifier),
    ])
    guard let token = answer["id_token"]?.stringValue else {
      throw .unavailable("the provider's answer has no id token")
    }
    var claims = rulesOfClaims
    claims.nonce = nonce
    claims.accessToken = answer["access_token"]?.stringValue
    return Self.grant(answer, of: try identity(token, claims))
  }

  package func renewed(
    _ refreshToken: String, of identity: ProvenIdentity
  ) throws(IdentityFailure) -> ProviderGrant {
    let answer = try tokens([("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
    if let token = answer["id_token"]?.stringValue {
      var claims = rulesOfClaims
      claims.accessToken = answer["access_token"]?.stringValue
      guard try self.identity(token, claims).subject.hasSameBytes(as: identity.subject) else {
        throw .refused("the provider has renewed the login of another user")
      }
    }
    var grant = Self.grant(answer, of: identity)
    grant.refreshToken = grant.refreshToken ?? refreshToken
    return grant
  }

  package func identity(
    ofToken token: String, nonce: String?, accessToken: String?
  ) throws(IdentityFailure) -> ProvenIdentity {
    var claims = rulesOfClaims
    claims.audiences = settings.audiences
    claims.maxAge = settings.tokenSeconds
    claims.nonce = nonce
    claims.accessToken = accessToken
    claims.needsAccessTokenHash = true
    let proven = try proven(token, claims)
    try used.use(
      UsedTokens.Token(digest: proven.digest, issuer: settings.issuer, made: proven.made),
      for: settings.tokenSeconds + settings.leeway, at: Timestamp.now().milliseconds / 1000)
    return proven.identity
  }

  package func release(token: String) {
    if let token = try? SignedToken(token) { used.release(token.digest) }
  }

  // MARK: Parts

  /// Those of the tokens that this server asks for itself.
  private var rulesOfClaims: ClaimRules {
    ClaimRules(
      issuer: settings.issuer, audiences: [settings.clientId], nameClaim: settings.claim,
      leeway: settings.leeway)
  }

  private func identity(
    _ text: String, _ rules: ClaimRules
  ) throws(IdentityFailure) -> ProvenIdentity {
    try proven(text, rules).identity
  }

  /// Proves the signature before a claim is looked at.
  private func proven(
    _ text: String, _ rules: ClaimRules
  ) throws(IdentityFailure) -> (identity: ProvenIdentity, digest: [UInt8], made: Int64) {
    let token = try SignedToken(text)
    guard try documents.keys(for: token).contains(where: { token.isSigned(by: $0) }) else {
      throw .refused("the id token is not signed by a key of the provider's")
    }
    let identity = try rules.identity(token.claims, at: Timestamp.now().milliseconds / 1000)
    return (identity, token.digest, identity.issued)
  }

  private func tokens(_ form: [(String, String)]) throws(IdentityFailure) -> JSONValue {
    let addresses = try documents.addresses()
    var form = form
    var authorization: String?
    if let secret = settings.clientSecret, !addresses.takesSecretInForm {
      let text = "\(percentEncoded(settings.clientId)):\(percentEncoded(secret))"
      authorization = "Basic " + Base64.encode(text)
    } else {
      form.append(("client_id", settings.clientId))
      if let secret = settings.clientSecret { form.append(("client_secret", secret)) }
    }
    return try client.tokens(addresses.tokens, form: form, authorization: authorization)
  }

  private static func grant(_ answer: JSONValue, of identity: ProvenIdentity) -> ProviderGrant {
    let seconds = answer["expires_in"]?.doubleValue ?? 300
    return ProviderGrant(
      identity: identity, refreshToken: answer["refresh_token"]?.stringValue,
      seconds: Int64(min(max(seconds, 60), 3600)))
  }
}
