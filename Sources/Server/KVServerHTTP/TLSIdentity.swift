internal import CMicrohttpd
internal import Glibc

/// A certificate chain and its key, as the TLS library has them. Immutable.
///
/// `@unchecked Sendable`: it is only read once it is made.
package final class TLSIdentity: @unchecked Sendable {
  package struct Failure: Error {
    package var message: String
  }

  /// More than any chain has.
  private static let maxCertificates = 16

  let chain: UnsafeMutablePointer<gnutls_pcert_st>
  private(set) var count: UInt32 = 0
  private(set) var key: gnutls_privkey_t?

  /// Reads PEM texts. Throws if one is not what it should be, or if the key is not that of the certificate.
  package init(certificate: String, key: String) throws(Failure) {
    chain = .allocate(capacity: Self.maxCertificates)
    try Self.match(certificate, key)
    try Self.with(certificate) { text throws(Failure) in
      var count = UInt32(Self.maxCertificates)
      try Self.check(gnutls_pcert_list_import_x509_raw(chain, &count, text, GNUTLS_X509_FMT_PEM, 0))
      self.count = count
    }
    try Self.check(gnutls_privkey_init(&self.key))
    let made = self.key
    try Self.with(key) { text throws(Failure) in
      try Self.check(gnutls_privkey_import_x509_raw(made, text, GNUTLS_X509_FMT_PEM, nil, 0))
    }
  }

  deinit {
    for index in 0..<Int(count) { gnutls_pcert_deinit(chain + index) }
    chain.deallocate()
    if let key { gnutls_privkey_deinit(key) }
  }

  /// Throws unless the key is that of the certificate.
  private static func match(_ certificate: String, _ key: String) throws(Failure) {
    var credentials: gnutls_certificate_credentials_t?
    try check(gnutls_certificate_allocate_credentials(&credentials))
    defer { gnutls_certificate_free_credentials(credentials) }
    let made = credentials
    try with(certificate) { certificate throws(Failure) in
      try with(key) { key throws(Failure) in
        try check(
          gnutls_certificate_set_x509_key_mem2(
            made, certificate, key, GNUTLS_X509_FMT_PEM, nil, 0))
      }
    }
  }

  /// Lends a text as the library wants it.
  private static func with(
    _ text: String, _ body: (UnsafePointer<gnutls_datum_t>) throws(Failure) -> Void
  ) throws(Failure) {
    var bytes = Array(text.utf8)
    let result = bytes.withUnsafeMutableBufferPointer { bytes -> Result<Void, Failure> in
      var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(clamping: bytes.count))
      return Result { () throws(Failure) in try body(&datum) }
    }
    try result.get()
  }

  private static func check(_ status: Int32) throws(Failure) {
    guard status < 0 else { return }
    throw Failure(message: String(cString: gnutls_strerror(status)))
  }
}
