internal import CSodium

/// XChaCha20-Poly1305 with one key, which is derived from another one for one purpose.
package final class Cipher: Sendable {
  /// What is encrypted. Each has a key of its own: what is moved from one to the other cannot be read there.
  package enum Purpose: UInt64, Sendable {
    /// The pages of a database file.
    case pages = 1
    /// The write-ahead log.
    case log = 2
    /// The rollback journal.
    case journal = 3
    /// Other keys, by an application's key.
    case keys = 4
    /// Temporary files.
    case temporary = 5
    /// Texts that are copied out of a database.
    case copies = 6
  }

  /// Bytes of a nonce. They are random: so many that none ever comes twice.
  package static let nonceSize = 24
  /// Bytes that prove that the text and the additional data are what was encrypted.
  package static let tagSize = 16
  /// Both together.
  package static let overhead = nonceSize + tagSize

  private let key: SecretBytes

  /// With a key as it is.
  init(raw key: SecretBytes) { self.key = key }

  /// With a key that is derived from `master`.
  package init(_ master: SecretBytes, for purpose: Purpose) {
    // The context of libsodium's key derivation has 8 bytes.
    let context: [CChar] = Array("kvstore ".utf8).map { CChar($0) }
    key = SecretBytes(count: 32) { key in
      _ = crypto_kdf_derive_from_key(
        key.assumingMemoryBound(to: UInt8.self), 32, purpose.rawValue, context, master.pointer)
    }
    withExtendedLifetime(master) {}
  }

  /// Encrypts `count` bytes; `to` may be where they are. `nonce` and `tag` are apart from them.
  @inline(__always)
  package func seal(
    _ plain: UnsafeRawPointer, count: Int, to: UnsafeMutableRawPointer,
    nonce: UnsafeRawPointer, tag: UnsafeMutableRawPointer, additional: UnsafeRawBufferPointer
  ) {
    crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
      to.assumingMemoryBound(to: UInt8.self), tag.assumingMemoryBound(to: UInt8.self), nil,
      plain.assumingMemoryBound(to: UInt8.self), UInt64(count),
      additional.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(additional.count), nil,
      nonce.assumingMemoryBound(to: UInt8.self), key.pointer)
  }

  /// Decrypts `count` bytes; `to` may be where they are. False: they, or the additional data, are not what was encrypted; what
  /// is at `to` means nothing then.
  @inline(__always)
  package func open(
    _ sealed: UnsafeRawPointer, count: Int, to: UnsafeMutableRawPointer,
    nonce: UnsafeRawPointer, tag: UnsafeRawPointer, additional: UnsafeRawBufferPointer
  ) -> Bool {
    crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
      to.assumingMemoryBound(to: UInt8.self), nil, sealed.assumingMemoryBound(to: UInt8.self),
      UInt64(count), tag.assumingMemoryBound(to: UInt8.self),
      additional.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(additional.count),
      nonce.assumingMemoryBound(to: UInt8.self), key.pointer) == 0
  }
}

/// Random nonces, fetched from the system many at a time. One thread at a time; not for use after `fork()`.
package struct Nonces: ~Copyable {
  private static let batch = 40
  private let buffer: UnsafeMutableRawPointer
  private var left = 0

  package init() {
    buffer = .allocate(byteCount: Self.batch * Cipher.nonceSize, alignment: 8)
  }

  deinit { buffer.deallocate() }

  /// Writes the next nonce to `to`.
  package mutating func next(to: UnsafeMutableRawPointer) {
    if left == 0 {
      Sodium.fillWithRandom(buffer, count: Self.batch * Cipher.nonceSize)
      left = Self.batch
    }
    left -= 1
    to.copyMemory(from: buffer + left * Cipher.nonceSize, byteCount: Cipher.nonceSize)
  }
}
