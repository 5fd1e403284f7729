internal import CGnuTLS

/// SHA-256 by GnuTLS, which the server has for TLS anyway. Tokens are stored under it, so that a stolen database opens no
/// session.
package enum SHA256 {
  /// The 32 bytes of a message's digest; random ones if the library fails, so that nothing is ever found by them.
  package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
    let message = Array(message)
    var digest = [UInt8](repeating: 0, count: 32)
    let status = gnutls_hash_fast(GNUTLS_DIG_SHA256, message, message.count, &digest)
    return status == GNUTLS_E_SUCCESS ? digest : randomBytes(32)
  }
}
