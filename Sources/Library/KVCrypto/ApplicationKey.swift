internal import CSodium

/// The key that an application opens its files with.
package enum ApplicationKey: Sendable {
  /// 32 bytes.
  case bytes(SecretBytes)
  /// A text of any length, which is made a key by Argon2id.
  case passphrase(SecretBytes)

  package static let size = 32

  /// Throws `.invalidKey` if there are not 32 bytes.
  package init(bytes: SecretBytes) throws(EncryptionError) {
    guard bytes.count == Self.size else {
      throw EncryptionError(
        .invalidKey, "A key has \(Self.size) bytes, and this one has \(bytes.count).")
    }
    self = .bytes(bytes)
  }

  /// Throws `.invalidKey` if it is empty.
  package init(passphrase: SecretBytes) throws(EncryptionError) {
    guard passphrase.count > 0 else {
      throw EncryptionError(.invalidKey, "The passphrase is empty.")
    }
    self = .passphrase(passphrase)
  }
}

/// What Argon2id costs. The file has it, so that another version may choose other values.
struct PassphraseCost: Hashable, Sendable {
  var passes: UInt32
  var kibibytes: UInt32

  /// RFC 9106, section 4, the second recommended option: 64 MiB, three passes.
  static let standard = PassphraseCost(passes: 3, kibibytes: 64 << 10)
  /// What a file may ask for: who changes its header must not be able to use up the memory.
  static let maximum = PassphraseCost(passes: 100, kibibytes: 4 << 20)
  static let saltSize = 16

  var isAllowed: Bool {
    passes >= 1 && kibibytes >= 8 && passes <= Self.maximum.passes
      && kibibytes <= Self.maximum.kibibytes
  }

  /// The key that a passphrase gives with a salt.
  func key(
    of passphrase: SecretBytes, salt: [UInt8]
  ) throws(EncryptionError) -> SecretBytes {
    try SecretBytes(count: 32) { (key) throws(EncryptionError) in
      let status = crypto_pwhash(
        key.assumingMemoryBound(to: UInt8.self), 32,
        UnsafeRawPointer(passphrase.pointer).assumingMemoryBound(to: CChar.self),
        UInt64(passphrase.count), salt, UInt64(passes), Int(kibibytes) << 10,
        crypto_pwhash_ALG_ARGON2ID13)
      withExtendedLifetime(passphrase) {}
      guard status == 0 else { throw .noMemory }
    }
  }
}
