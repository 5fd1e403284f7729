internal import CGnuTLS
internal import KVBase
internal import KVJSON

/// Seals JSON objects into texts that clients keep for the server: they can neither read nor change them. So every server with the
/// same secret can go on with what another one has begun, and none has to remember anything.
///
/// AES-256 in GCM. Each text is of one kind and one app, and is nothing to the others.
struct Seal {
  private static let nonceBytes = 12
  private static let tagBytes = 16

  private let key: [UInt8]
  private let app: String

  init(secret: String, app: String) {
    key = SHA256.hash("kvstored login\0\(secret)".utf8)
    self.app = app
  }

  /// The members and, if it is to end, the moment when it does, in seconds since 1970. Empty if the library fails.
  func seal(_ kind: String, _ members: JSONObject, until end: Int64?) -> String {
    var members = members
    if let end { members["exp"] = .int(end) }
    let text = JSONValue.object(members).bytes
    let nonce = randomBytes(Self.nonceBytes)
    var sealed = [UInt8](repeating: 0, count: text.count + Self.tagBytes)
    var count = sealed.count
    let isSealed = withCipher { cipher in
      let context = context(kind)
      return gnutls_aead_cipher_encrypt(
        cipher, nonce, nonce.count, context, context.count, Self.tagBytes, text, text.count,
        &sealed, &count)
    }
    return isSealed ? Base64.encode(url: nonce + sealed.prefix(count)) : ""
  }

  /// The members of a text that was sealed; nil: it was not, or it has ended.
  func open(_ kind: String, _ text: String, at now: Int64) -> JSONObject? {
    guard let bytes = Base64.decode(url: text), bytes.count > Self.nonceBytes + Self.tagBytes
    else { return nil }
    let nonce = Array(bytes.prefix(Self.nonceBytes))
    let sealed = Array(bytes.dropFirst(Self.nonceBytes))
    var opened = [UInt8](repeating: 0, count: sealed.count)
    var count = opened.count
    let isOpened = withCipher { cipher in
      let context = context(kind)
      return gnutls_aead_cipher_decrypt(
        cipher, nonce, nonce.count, context, context.count, Self.tagBytes, sealed, sealed.count,
        &opened, &count)
    }
    guard isOpened, let value = try? JSONValue(parsing: Array(opened.prefix(count))),
      let members = value.objectValue
    else { return nil }
    if let end = members["exp"]?.intValue, end <= now { return nil }
    return members
  }

  private func context(_ kind: String) -> [UInt8] { Array("\(kind)\0\(app)".utf8) }

  /// False: the library refuses.
  private func withCipher(_ body: (gnutls_aead_cipher_hd_t) -> Int32) -> Bool {
    var key = key
    return key.withUnsafeMutableBufferPointer { bytes in
      var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count))
      var cipher: gnutls_aead_cipher_hd_t?
      guard
        gnutls_aead_cipher_init(&cipher, GNUTLS_CIPHER_AES_256_GCM, &datum) == GNUTLS_E_SUCCESS,
        let cipher
      else { return false }
      defer { gnutls_aead_cipher_deinit(cipher) }
      return body(cipher) == GNUTLS_E_SUCCESS
    }
  }
}
