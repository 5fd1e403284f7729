internal import CGnuTLS
internal import KVBase
internal import KVServerCore

/// Proves to the operator's service that a call comes from this server, is new, and was not changed on its way.
enum Signature {
  /// HMAC-SHA256 over `time.delivery.event.body`, in hex digits. Empty, which proves nothing, if the library fails.
  static func make(secret: String, time: String, delivery: String, event: String, body: [UInt8])
    -> String
  {
    let key = Array(secret.utf8)
    let text = Array("\(time).\(delivery).\(event).".utf8) + body
    var code = [UInt8](repeating: 0, count: 32)
    let status = gnutls_hmac_fast(
      GNUTLS_MAC_SHA256, key, key.count, text, text.count, &code)
    return status == GNUTLS_E_SUCCESS ? hexText(code) : ""
  }
}
