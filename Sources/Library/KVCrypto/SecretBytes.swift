internal import CSodium

/// Bytes that are secret: their memory is locked, left out of core dumps, and wiped when the object goes.
///
/// `@unchecked Sendable`: they do not change after `init`.
package final class SecretBytes: @unchecked Sendable {
  private let start: UnsafeMutableRawPointer
  /// Whether the memory is libsodium's, between two pages that cannot be read or written.
  private let isGuarded: Bool
  package let count: Int

  /// Allocates `count` bytes, which `fill` writes.
  package init<E: Error>(
    count: Int, fill: (UnsafeMutableRawPointer) throws(E) -> Void
  ) throws(E) {
    _ = Sodium.isReady
    let guarded = sodium_malloc(max(count, 1))
    isGuarded = guarded != nil
    // Where memory cannot be protected it is at least wiped.
    start = guarded ?? .allocate(byteCount: max(count, 1), alignment: 16)
    self.count = count
    try fill(start)
  }

  /// A copy of bytes.
  package convenience init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count) { start in
      if let source = bytes.baseAddress { start.copyMemory(from: source, byteCount: bytes.count) }
    }
  }

  /// Random bytes.
  package static func random(count: Int) -> SecretBytes {
    SecretBytes(count: count) { Sodium.fillWithRandom($0, count: count) }
  }

  deinit {
    guard !isGuarded else { return sodium_free(start) }
    sodium_memzero(start, count)
    start.deallocate()
  }

  /// The bytes, for as long as `body` runs.
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Where the bytes are, as long as the object lives.
  var pointer: UnsafePointer<UInt8> {
    UnsafePointer(start.assumingMemoryBound(to: UInt8.self))
  }
}

/// What all uses of libsodium share.
enum Sodium {
  /// Chooses the fastest code for this processor, and opens the source of random numbers. Without one libsodium ends the process.
  static let isReady: Bool = sodium_init() >= 0

  static func fillWithRandom(_ start: UnsafeMutableRawPointer, count: Int) {
    _ = isReady
    randombytes_buf(start, count)
  }

  /// BLAKE2b of 32 bytes.
  static func digest(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    crypto_generichash(
      &digest, 32, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
      UInt64(bytes.count), nil, 0)
    return digest
  }

  /// BLAKE2b of 32 bytes, with a key.
  static func digest(of bytes: [UInt8], key: SecretBytes, to target: UnsafeMutableRawPointer) {
    crypto_generichash(
      target.assumingMemoryBound(to: UInt8.self), 32, bytes, UInt64(bytes.count), key.pointer,
      key.count)
    withExtendedLifetime(key) {}
  }
}
