internal import KVBase
package import KVJSON
package import KVServerCore

/// What the claims of an id token have to be (OpenID Connect Core 1.0, section 3.1.3.7), besides its signature.
package struct ClaimRules: Sendable {
  var issuer: String
  var audiences: [String]
  /// The claim that is the name of the user.
  var nameClaim: String
  /// Seconds that the two clocks may differ.
  var leeway: Int64
  /// How old the token may be, in seconds; nil: until it ends.
  var maxAge: Int64?
  /// The one that the login was begun with; nil: it is not known.
  var nonce: String?
  /// The access token that came along.
  var accessToken: String?
  /// Whether the token has to say of which access token it is, if one came along: unless both come from the provider itself.
  var needsAccessTokenHash = false

  package init(
    issuer: String, audiences: [String], nameClaim: String, leeway: Int64, maxAge: Int64? = nil,
    nonce: String? = nil, accessToken: String? = nil, needsAccessTokenHash: Bool = false
  ) {
    self.issuer = issuer
    self.audiences = audiences
    self.nameClaim = nameClaim
    self.leeway = leeway
    self.maxAge = maxAge
    self.nonce = nonce
    self.accessToken = accessToken
    self.needsAccessTokenHash = needsAccessTokenHash
  }

  /// Whom the claims name. `now`: seconds since 1970.
  package func identity(_ claims: JSONObject, at now: Int64) throws(IdentityFailure)
    -> ProvenIdentity
  {
    guard Self.isSame(claims["iss"], issuer) else {
      throw .refused("the id token is of another issuer")
    }
    try checkAudience(claims)
    try checkTimes(claims, now)
    if let nonce {
      guard Self.isSame(claims["nonce"], nonce) else {
        throw .refused("the id token has another nonce: it is not of this login")
      }
    }
    if let accessToken, needsAccessTokenHash || claims["at_hash"] != nil {
      let half = Array(SHA256.hash(accessToken.utf8).prefix(16))
      guard Self.isSame(claims["at_hash"], Base64.encode(url: half)) else {
        throw .refused("the id token is of another access token (at_hash)")
      }
    }
    guard let subject = Self.name(claims["sub"]) else {
      throw .refused("the id token has no sub of 1 to 255 bytes")
    }
    // `checkTimes` has found the time to be there, and not in the future.
    let issued = Int64(max(0, claims["iat"]?.doubleValue ?? 0))
    return ProvenIdentity(
      issuer: issuer, subject: subject, name: try name(claims), issued: issued)
  }

  private func checkAudience(_ claims: JSONObject) throws(IdentityFailure) {
    let audience = claims["aud"]?.arrayValue ?? [claims["aud"] ?? .null]
    guard audience.contains(where: isOurs) else {
      throw .refused("the id token is for another client (aud)")
    }
    let party = claims["azp"]
    guard party.map(isOurs) ?? (audience.count == 1) else {
      throw .refused("the id token was given to another client (azp)")
    }
  }

  private func checkTimes(_ claims: JSONObject, _ now: Int64) throws(IdentityFailure) {
    let (earliest, latest) = (Double(now - leeway), Double(now + leeway))
    guard let end = claims["exp"]?.doubleValue, end > earliest else {
      throw .refused("the id token has expired (exp)")
    }
    if let start = claims["nbf"] {
      guard let start = start.doubleValue, start <= latest else {
        throw .refused("the id token is not valid yet (nbf)")
      }
    }
    guard let made = claims["iat"]?.doubleValue, made <= latest else {
      throw .refused("the id token is from the future, or does not say when it was made (iat)")
    }
    if let maxAge, made < earliest - Double(maxAge) {
      throw .refused("the id token is more than \(maxAge) s old (iat)")
    }
  }

  private func name(_ claims: JSONObject) throws(IdentityFailure) -> String {
    guard let name = Self.name(claims[nameClaim]) else {
      throw .refused("the id token has no claim \(nameClaim) of 1 to 255 bytes")
    }
    // An unverified address would allow account takeover.
    if nameClaim == "email", claims["email_verified"]?.boolValue != true {
      throw .refused("the provider has not verified the address (email_verified)")
    }
    return name
  }

  private func isOurs(_ value: JSONValue) -> Bool { audiences.contains { Self.isSame(value, $0) } }

  private static func isSame(_ value: JSONValue?, _ text: String) -> Bool {
    value?.stringValue?.hasSameBytes(as: text) == true
  }

  private static func name(_ value: JSONValue?) -> String? {
    guard let name = value?.stringValue, (1...255).contains(name.utf8.count),
      !name.utf8.contains(0)
    else { return nil }
    return name
  }
}
