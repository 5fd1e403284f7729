internal import CGnuTLS
internal import KVBase
package import KVJSON

/// How the tokens that count are signed (RFC 7518, section 3.1). What has no key of the provider's, as `none` and the HS family,
/// is not among them.
package enum SignatureAlgorithm: String, Sendable {
  case rs256 = "RS256"
  case es256 = "ES256"
}

/// A public key of a provider's (RFC 7517), for one algorithm.
package struct JSONWebKey: Sendable {
  package let id: String?
  package let algorithm: SignatureAlgorithm
  /// RSA: modulus and exponent; EC: the point.
  private let first: [UInt8]
  private let second: [UInt8]

  /// An RSA key below this is weak; one above it would make each check slow.
  private static let modulusBytes = 256...1024

  /// Nil: the key is none for signatures that count.
  package init?(_ value: JSONValue) {
    if let use = value["use"], use.stringValue != "sig" { return nil }
    if let operations = value["key_ops"]?.arrayValue, !operations.contains("verify") { return nil }
    switch value["kty"]?.stringValue {
    case "RSA":
      guard let modulus = Self.number(value["n"]), let exponent = Self.number(value["e"]),
        Self.modulusBytes.contains(modulus.count), (1...8).contains(exponent.count)
      else { return nil }
      (algorithm, first, second) = (.rs256, modulus, exponent)
    case "EC" where value["crv"]?.stringValue == "P-256":
      guard let x = Self.bytes(value["x"]), let y = Self.bytes(value["y"]), x.count == 32,
        y.count == 32
      else { return nil }
      (algorithm, first, second) = (.es256, x, y)
    default: return nil
    }
    if let stated = value["alg"], stated.stringValue != algorithm.rawValue { return nil }
    id = value["kid"]?.stringValue
  }

  private static func bytes(_ value: JSONValue?) -> [UInt8]? {
    value?.stringValue.flatMap { Base64.decode(url: $0) }
  }

  /// A number without zeros in front.
  private static func number(_ value: JSONValue?) -> [UInt8]? {
    bytes(value).map { Array($0.drop { $0 == 0 }) }
  }

  /// Whether a signature of this key is under a text.
  func verifies(_ signature: [UInt8], of text: [UInt8]) -> Bool {
    var key: gnutls_pubkey_t?
    guard gnutls_pubkey_init(&key) == GNUTLS_E_SUCCESS, let key else { return false }
    defer { gnutls_pubkey_deinit(key) }
    switch algorithm {
    case .rs256:
      return Self.withDatum(first) { modulus in
        Self.withDatum(second) { exponent in
          gnutls_pubkey_import_rsa_raw(key, modulus, exponent) == GNUTLS_E_SUCCESS
        }
      } && Self.isSigned(text, signature, by: key, with: GNUTLS_SIGN_RSA_SHA256)
    case .es256:
      let isImported = Self.withDatum(first) { x in
        Self.withDatum(second) { y in
          gnutls_pubkey_import_ecc_raw(key, GNUTLS_ECC_CURVE_SECP256R1, x, y) == GNUTLS_E_SUCCESS
        }
      }
      guard isImported, let signature = Self.sequence(ofPair: signature) else { return false }
      return Self.isSigned(text, signature, by: key, with: GNUTLS_SIGN_ECDSA_SHA256)
    }
  }

  private static func isSigned(
    _ text: [UInt8], _ signature: [UInt8], by key: gnutls_pubkey_t,
    with algorithm: gnutls_sign_algorithm_t
  ) -> Bool {
    withDatum(text) { text in
      withDatum(signature) { signature in
        gnutls_pubkey_verify_data2(key, algorithm, 0, text, signature) >= 0
      }
    }
  }

  /// The signature in the form of X.509, of the two numbers in the form of JWS; nil: they are not two of 32 bytes.
  private static func sequence(ofPair pair: [UInt8]) -> [UInt8]? {
    guard pair.count == 64 else { return nil }
    var sequence = gnutls_datum_t()
    let isMade = withDatum(Array(pair.prefix(32))) { r in
      withDatum(Array(pair.suffix(32))) { s in
        gnutls_encode_rs_value(&sequence, r, s) == GNUTLS_E_SUCCESS
      }
    }
    guard isMade, let data = sequence.data else { return nil }
    defer { kv_gnutls_free(data) }
    return Array(UnsafeBufferPointer(start: data, count: Int(sequence.size)))
  }

  private static func withDatum(
    _ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Bool
  ) -> Bool {
    var bytes = bytes
    return bytes.withUnsafeMutableBufferPointer { bytes in
      var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count))
      return body(&datum)
    }
  }
}
