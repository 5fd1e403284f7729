internal import CMicrohttpd

/// Which protocols and ciphers of TLS are allowed, and which clients.
package struct TLSRules: Sendable {
  /// The least version.
  package enum Version: String, Sendable, CaseIterable {
    case tls12 = "1.2"
    case tls13 = "1.3"
  }

  package struct Failure: Error {
    package var message: String
  }

  /// Forward secrecy and authenticated encryption, which is all that TLS 1.3 has: no static RSA, no CBC, no SHA-1.
  private static let defaultCiphers = """
    NORMAL:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:\
    -SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:-SIGN-DSA-SHA1:%SERVER_PRECEDENCE
    """

  /// A GnuTLS priority; which versions are allowed is added to it.
  let priority: String
  /// PEM of those that sign the certificates which clients must have; nil: clients need none.
  let clientAuthorities: String?

  /// Throws if `ciphers`, a priority of GnuTLS, is none, or `clientAuthorities` has no certificate. `ciphers` nil: the default.
  package init(
    minimum: Version = .tls12, ciphers: String? = nil, clientAuthorities: String? = nil
  ) throws(Failure) {
    let versions = minimum == .tls12 ? "+VERS-TLS1.3:+VERS-TLS1.2" : "+VERS-TLS1.3"
    priority = "\(ciphers ?? Self.defaultCiphers):-VERS-ALL:\(versions)"
    self.clientAuthorities = clientAuthorities
    try Self.check(priority)
    if let clientAuthorities { try Self.check(authorities: clientAuthorities) }
  }

  private static func check(_ priority: String) throws(Failure) {
    var parsed: gnutls_priority_t?
    var rest: UnsafePointer<CChar>?
    let status = priority.withCString { text -> (code: Int32, rest: String) in
      let code = gnutls_priority_init(&parsed, text, &rest)
      return (code, code < 0 ? rest.map { String(cString: $0) } ?? "" : "")
    }
    if let parsed { gnutls_priority_deinit(parsed) }
    guard status.code < 0 else { return }
    throw Failure(
      message:
        "is no priority of GnuTLS, from \"\(status.rest)\" on: \(String(cString: gnutls_strerror(status.code)))"
    )
  }

  private static func check(authorities text: String) throws(Failure) {
    var credentials: gnutls_certificate_credentials_t?
    guard gnutls_certificate_allocate_credentials(&credentials) == 0 else {
      throw Failure(message: "cannot be looked at")
    }
    defer { gnutls_certificate_free_credentials(credentials) }
    var bytes = Array(text.utf8)
    let made = credentials
    let count = bytes.withUnsafeMutableBufferPointer { bytes in
      var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(clamping: bytes.count))
      return gnutls_certificate_set_x509_trust_mem(made, &datum, GNUTLS_X509_FMT_PEM)
    }
    guard count > 0 else { throw Failure(message: "has no certificate") }
  }
}
