internal import KVBase
internal import KVCrypto
internal import KVServerCore

/// The file that has the key of encrypted data: 32 bytes as 64 hexadecimal digits or as Base64, and the end of a line.
enum EncryptionKeyFile {
  /// The vault of a file; nil: there is none, and the data is not encrypted.
  static func vault(_ path: String?) throws(Server.Failure) -> Vault? {
    try path.map { (path) throws(Server.Failure) in Vault(try key(path)) }
  }

  private static func key(_ path: String) throws(Server.Failure) -> ApplicationKey {
    let text: String
    do throws(TextFile.Failure) { text = try TextFile.readOwn(path, isSecret: true) } catch {
      throw Server.Failure(error.description)
    }
    let digits = text.utf8.filter { $0 > UInt8(ascii: " ") }
    guard
      let bytes = bytes(hexadecimal: digits)
        ?? Base64.decode(String(decoding: digits, as: UTF8.self)),
      let key = try? ApplicationKey(bytes: bytes.withUnsafeBytes { SecretBytes(copying: $0) })
    else {
      throw Server.Failure("\(path) must have 32 bytes, as 64 hexadecimal digits or as Base64")
    }
    return key
  }

  private static func bytes(hexadecimal digits: [UInt8]) -> [UInt8]? {
    guard digits.count == 2 * ApplicationKey.size else { return nil }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[start..<start + 2], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
