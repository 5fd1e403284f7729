internal import CCurl
internal import Glibc

/// The certificate authorities that this machine trusts, as a PEM file, a directory of them by hash, or both. Both nil:
/// libcurl has found its own, or there are none.
///
/// libcurl looks where the distribution that it was built on keeps them. A library that is carried to other
/// distributions has to look where those do.
struct SystemAuthorities: Sendable, Equatable {
  var file: String?
  var directory: String?

  /// Where distributions have all authorities in one file, the most common first.
  static let knownFiles = [
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch, Gentoo, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora, Red Hat 6 to 9
    "/etc/ssl/ca-bundle.pem",  // openSUSE
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, Red Hat 7 and later
    "/etc/ssl/cert.pem",  // Alpine
  ]

  /// `SSL_CERT_FILE` and `SSL_CERT_DIR` outrank everything; then come libcurl's own, the known places, and `fallback`.
  init(
    fallback: String?, environment: (String) -> String?, builtIn: SystemAuthorities,
    exists: (String) -> Bool
  ) {
    file = environment("SSL_CERT_FILE")
    directory = environment("SSL_CERT_DIR")
    if file != nil || directory != nil { return }
    if [builtIn.file, builtIn.directory].contains(where: { $0.map(exists) ?? false }) { return }
    file = Self.knownFiles.first(where: exists) ?? fallback
  }

  /// Finds the certificate authorities of this process and machine.
  init(fallback: String?) {
    self.init(
      fallback: fallback, environment: Self.variable, builtIn: .builtIntoLibcurl,
      exists: { access($0, R_OK) == 0 })
  }

  init(file: String?, directory: String?) {
    self.file = file
    self.directory = directory
  }

  private static let builtIntoLibcurl = SystemAuthorities(
    file: kvcurl_built_in_ca_file().map { String(cString: $0) },
    directory: kvcurl_built_in_ca_directory().map { String(cString: $0) })

  /// The value of a variable of the environment; nil if it is empty, too.
  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
