internal import KVBase
package import KVJSON
package import KVServerCore

/// An id token (a JWT, RFC 7519) that is read, and whose signature is still to be proven.
package struct SignedToken: Sendable {
  /// Longer ones are none.
  private static let maxBytes = 16 << 10

  package let algorithm: SignatureAlgorithm
  package let keyId: String?
  package let claims: JSONObject
  private let signed: [UInt8]
  private let signature: [UInt8]

  package init(_ text: String) throws(IdentityFailure) {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard text.utf8.count <= Self.maxBytes, parts.count == 3,
      let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Base64.decode(url: String(decoding: parts[2], as: UTF8.self))
    else { throw .refused("the id token is malformed") }
    guard let name = header["alg"]?.stringValue, let algorithm = SignatureAlgorithm(rawValue: name)
    else { throw .refused("the id token is not signed with RS256 or ES256") }
    guard header["crit"] == nil else {
      throw .refused("the id token has extensions that this server does not know")
    }
    self.algorithm = algorithm
    self.claims = claims
    self.signature = signature
    keyId = header["kid"]?.stringValue
    signed = parts[0] + [UInt8(ascii: ".")] + parts[1]
  }

  /// The hash of what is signed.
  package var digest: [UInt8] { SHA256.hash(signed) }

  private static func object(_ part: some Collection<UInt8>) -> JSONObject? {
    guard let bytes = Base64.decode(url: String(decoding: part, as: UTF8.self)) else { return nil }
    return (try? JSONValue(parsing: bytes))?.objectValue
  }

  package func isSigned(by key: JSONWebKey) -> Bool {
    key.algorithm == algorithm && key.verifies(signature, of: signed)
  }
}
