internal import CSystem
internal import Glibc

/// Identifiers that never repeat.
package enum Identifier {
  /// 32 lower-case hex digits: 48 bits of milliseconds, then 80 random bits (the layout of UUID
  /// version 7, RFC 9562, without hyphens).
  ///
  /// Sorted by time, so that new rows go to the end of an index. Never 12 or 24 long: the hosted
  /// service turns ids of those lengths into ObjectIDs.
  package static func entity(now: Int64 = Timestamp.now().milliseconds) -> String {
    var bytes = random()
    for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: now >> (40 - 8 * index)) }
    bytes[6] = 0x70 | (bytes[6] & 0x0F)
    bytes[8] = 0x80 | (bytes[8] & 0x3F)
    return hex(bytes)
  }

  /// 24 lower-case hex digits, as the backend makes them: 32 bits of seconds, then 64 random bits.
  package static func object(now: Int64 = Timestamp.now().milliseconds) -> String {
    var bytes = Array(random().prefix(12))
    let seconds = now / 1000
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: seconds >> (24 - 8 * index)) }
    return hex(bytes)
  }

  /// A random UUID, version 4, with hyphens.
  package static func request() -> String {
    var bytes = random()
    bytes[6] = 0x40 | (bytes[6] & 0x0F)
    bytes[8] = 0x80 | (bytes[8] & 0x3F)
    let text = Array(hex(bytes).utf8)
    let hyphen = [UInt8(ascii: "-")]
    let parts = text[0..<8] + hyphen + text[8..<12] + hyphen + text[12..<16] + hyphen
    return String(decoding: parts + text[16..<20] + hyphen + text[20..<32], as: UTF8.self)
  }

  /// A number from 1 to 2^62 that tells one change of an entity from the next.
  package static func revision() -> Int64 {
    pool.withLock { $0.next() }.map { Int64($0 >> 2) + 1 } ?? 1
  }

  /// 16 random bytes.
  package static func random() -> [UInt8] {
    let (high, low) = pool.withLock { ($0.next() ?? 0, $0.next() ?? 0) }
    return (0..<8).map { UInt8(truncatingIfNeeded: high >> (8 * $0)) }
      + (0..<8).map { UInt8(truncatingIfNeeded: low >> (8 * $0)) }
  }

  /// Random words fetched from the kernel in blocks: one system call serves 32 of them.
  private struct Pool {
    /// The number of words that `getentropy` returns at once.
    private static let block = 32

    private var words: [UInt64] = []

    mutating func next() -> UInt64? {
      if words.isEmpty { fill() }
      return words.popLast()
    }

    private mutating func fill() {
      words = [UInt64](repeating: 0, count: Self.block)
      guard getentropy(&words, Self.block * MemoryLayout<UInt64>.size) != 0 else { return }
      // One call of the system for each word, but it waits where the kernel has nothing yet.
      var generator = SystemRandomNumberGenerator()
      for index in words.indices { words[index] = generator.next() }
    }
  }

  private static let pool = Monitor(Pool())

  private static func hex(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { out in
      for (index, byte) in bytes.enumerated() {
        out[2 * index] = digit(byte >> 4)
        out[2 * index + 1] = digit(byte & 0x0F)
      }
      return bytes.count * 2
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
