// What a provider of OpenID Connect sends: the input is an id token and, after a line feed, a key or settings. No text of a stranger is
// a proof, and claims that are accepted name the user.

import KVJSON
import KVServerCore
import KVServerOpenID

func fuzzToken(_ input: UnsafeBufferPointer<UInt8>) {
  let cut = input.firstIndex(of: 0x0A) ?? input.endIndex
  let document = Array(input[min(cut + 1, input.count)...])
  let key = (try? JSONValue(parsing: document)).flatMap { JSONWebKey($0) }
  _ = try? OpenIDSettings(String(decoding: document, as: UTF8.self))
  checkAddress(String(decoding: document, as: UTF8.self))
  guard let token = try? SignedToken(String(decoding: input[..<cut], as: UTF8.self)) else { return }
  _ = key.map { token.isSigned(by: $0) }
  check(token.digest.count == 32, "a token has no digest")
  checkClaims(token.claims)
}

private func checkClaims(_ claims: JSONObject) {
  for nonce in [nil, "n"] {
    let rules = ClaimRules(
      issuer: "https://i", audiences: ["a"], nameClaim: "sub", leeway: 30, nonce: nonce)
    guard let identity = try? rules.identity(claims, at: 1_000_000) else { continue }
    check(!identity.subject.isEmpty, "claims without a subject are accepted")
    check(claims["iss"]?.stringValue == "https://i", "claims of another issuer are accepted")
    check(nonce == nil || claims["nonce"]?.stringValue == nonce, "an old nonce is accepted")
  }
}

/// Addresses in a provider's documents: what has a host is an address.
private func checkAddress(_ text: String) {
  let host = SettingsReader.host(of: text)
  check((host != nil) == SettingsReader.isAddress(text), "an address has no host")
  check(SettingsReader.isPrivate(text) == false || host != nil, "a private address is none")
  if let host { _ = IPAddress(host)?.isPrivate }
}
