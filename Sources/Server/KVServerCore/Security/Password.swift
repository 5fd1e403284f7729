internal import CCrypt
internal import Glibc

/// Password hashes by libcrypt's yescrypt: slow and large in memory on purpose.
struct PasswordHasher: Sendable {
  /// How much one hash costs: each step doubles time and memory; 5 takes about 16 MiB and some tens of
  /// milliseconds. Hashes made with another cost stay valid.
  var cost: UInt = 5

  /// The text to store; nil if libcrypt cannot hash, as with a password beyond 512 bytes.
  func hash(_ password: String) -> String? {
    var random = randomBytes(32)
    let setting = withUnsafeTemporaryAllocation(
      of: CChar.self, capacity: Int(CRYPT_GENSALT_OUTPUT_SIZE)
    ) { out -> String? in
      let made = random.withUnsafeMutableBytes { bytes in
        crypt_gensalt_rn(
          "$y$", cost, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
          out.baseAddress, Int32(out.count))
      }
      return made.map { String(cString: $0) }
    }
    return setting.flatMap { Self.crypt(password, $0) }
  }

  /// Whether a password is the one that was hashed. Takes the same time for every stored text.
  static func matches(_ password: String, _ stored: String) -> Bool {
    guard let computed = crypt(password, stored) else { return false }
    return isEqual(computed, stored)
  }

  private static func crypt(_ password: String, _ setting: String) -> String? {
    // A NUL would end the password early, so that its rest would not count.
    guard !password.utf8.contains(0) else { return nil }
    var data: UnsafeMutableRawPointer?
    var size: Int32 = 0
    defer { free(data) }
    guard let result = crypt_ra(password, setting, &data, &size) else { return nil }
    let text = String(cString: result)
    // Failures are texts that start with a star.
    return text.hasPrefix("*") ? nil : text
  }
}

/// Random bytes from the kernel.
package func randomBytes(_ count: Int) -> [UInt8] {
  var generator = SystemRandomNumberGenerator()
  return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
}

/// Lower-case hex digits, two for each byte.
package func hexText(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef".utf8)
  return String(
    decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// Compares secrets in a time that does not tell where they differ.
func isEqual(_ left: String, _ right: String) -> Bool {
  let (left, right) = (Array(left.utf8), Array(right.utf8))
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for index in left.indices { difference |= left[index] ^ right[index] }
  return difference == 0
}
