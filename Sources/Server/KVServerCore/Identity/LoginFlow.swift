internal import KVBase
internal import KVJSON

/// A login on a provider's page, step by step. Between the steps the client, or the browser, keeps what is known, sealed: the server
/// remembers nothing, and every server of the app can take the next step. That a code is good for one time is the
/// provider's to see to: ours holds the provider's, and nothing that opens a session.
struct LoginFlow {
  /// Seconds that a user may take for the page, and that a client may keep the code.
  private static let pageSeconds: Int64 = 600
  private static let codeSeconds: Int64 = 120

  let provider: any IdentityProvider
  private let seal: Seal
  /// Seconds since 1970.
  private let now: Int64

  init(_ provider: any IdentityProvider, app: String, now: Int64) {
    self.provider = provider
    self.now = now
    seal = Seal(secret: provider.rules.secret, app: app)
  }

  /// What a client asks for: where the browser is to come back, with which state, and the challenge of its own verifier.
  struct Wish {
    var redirect: String
    var state: String?
    var challenge: String?
  }

  /// The address of the provider's page.
  func page(_ wish: Wish) throws(IdentityFailure) -> String {
    let nonce = hexText(randomBytes(16))
    let verifier = hexText(randomBytes(32))
    var members: JSONObject = [
      "redirect": .string(wish.redirect), "nonce": .string(nonce), "verifier": .string(verifier),
    ]
    members["state"] = wish.state.map { .string($0) }
    members["challenge"] = wish.challenge.map { .string($0) }
    return try provider.loginPage(
      state: seal.seal("state", members, until: now + Self.pageSeconds), nonce: nonce,
      challenge: Self.challenge(of: verifier))
  }

  /// The challenge of a verifier, by S256 (RFC 7636).
  static func challenge(of verifier: String) -> String {
    Base64.encode(url: SHA256.hash(verifier.utf8))
  }

  /// What was asked for with the state that a browser came back with; nil: this is no state of ours.
  func wish(_ state: String) -> (wish: Wish, members: JSONObject)? {
    guard let members = seal.open("state", state, at: now),
      let redirect = members["redirect"]?.stringValue
    else { return nil }
    let wish = Wish(
      redirect: redirect, state: members["state"]?.stringValue,
      challenge: members["challenge"]?.stringValue)
    return (wish, members)
  }

  /// The code for the client, of the provider's and what the state held.
  func code(_ code: String, _ members: JSONObject) -> String {
    var members = members
    members["code"] = .string(code)
    return seal.seal("code", members, until: now + Self.codeSeconds)
  }

  /// The grant of a code that goes back to where it came.
  func grant(
    ofCode code: String, redirect: String, verifier: String?
  ) throws(IdentityFailure) -> ProviderGrant {
    guard let members = seal.open("code", code, at: now),
      let ours = members["verifier"]?.stringValue, let nonce = members["nonce"]?.stringValue,
      let code = members["code"]?.stringValue
    else { throw .refused("the code is unknown, or too old") }
    guard members["redirect"]?.stringValue?.hasSameBytes(as: redirect) == true else {
      throw .refused("the code was sent to another redirect_uri")
    }
    if let challenge = members["challenge"]?.stringValue {
      guard let verifier, isEqual(Self.challenge(of: verifier), challenge) else {
        throw .refused("the code_verifier is not the one of the code_challenge")
      }
    }
    return try provider.grant(code: code, verifier: ours, nonce: nonce)
  }

  // MARK: Tokens

  func accessToken(of grant: ProviderGrant) -> String {
    seal.seal("access", Self.members(of: grant.identity), until: now + grant.seconds)
  }

  /// The user of an access token; nil: it is unknown, or has expired.
  func identity(ofAccessToken token: String) -> ProvenIdentity? {
    seal.open("access", token, at: now).flatMap(Self.identity)
  }

  /// nil: the provider renews nothing.
  func refreshToken(of grant: ProviderGrant) -> String? {
    guard let token = grant.refreshToken else { return nil }
    var members = Self.members(of: grant.identity)
    members["token"] = .string(token)
    return seal.seal("refresh", members, until: nil)
  }

  func grant(ofRefreshToken token: String) throws(IdentityFailure) -> ProviderGrant {
    guard let members = seal.open("refresh", token, at: now),
      let identity = Self.identity(members), let token = members["token"]?.stringValue
    else { throw .refused("the refresh token is unknown") }
    return try provider.renewed(token, of: identity)
  }

  private static func members(of identity: ProvenIdentity) -> JSONObject {
    [
      "iss": .string(identity.issuer), "sub": .string(identity.subject),
      "name": .string(identity.name), "iat": .int(identity.issued),
    ]
  }

  private static func identity(_ members: JSONObject) -> ProvenIdentity? {
    guard let issuer = members["iss"]?.stringValue, let subject = members["sub"]?.stringValue,
      let name = members["name"]?.stringValue
    else { return nil }
    return ProvenIdentity(
      issuer: issuer, subject: subject, name: name, issued: members["iat"]?.intValue ?? 0)
  }
}
