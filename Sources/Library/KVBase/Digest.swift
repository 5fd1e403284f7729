internal import CDigest

/// Digests of bytes, and what is made of them. Pure functions.
package enum Digest {
  /// The 20 bytes of SHA-1: what the handshake of a WebSocket (RFC 6455) asks for, which is no secret.
  package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    var context = SHA1_CTX()
    SHA1Init(&context)
    SHA1Update(&context, bytes, bytes.count)
    var digest = [UInt8](repeating: 0, count: 20)
    SHA1Final(&digest, &context)
    return digest
  }

  /// The 32 bytes of SHA-256.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var context = SHA2_CTX()
    SHA256Init(&context)
    SHA256Update(&context, bytes, bytes.count)
    var digest = [UInt8](repeating: 0, count: 32)
    SHA256Final(&digest, &context)
    return digest
  }

  /// HMAC (RFC 2104) with SHA-256.
  package static func hmacSHA256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    let blockBytes = 64
    var block = key.count > blockBytes ? sha256(key) : key
    block += [UInt8](repeating: 0, count: blockBytes - block.count)
    let inner = sha256(block.map { $0 ^ 0x36 } + message)
    return sha256(block.map { $0 ^ 0x5C } + inner)
  }

  /// Two digits for each byte, in lower case.
  package static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
