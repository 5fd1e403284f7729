internal import Glibc

/// An address in the internet. An IPv4 address that came to a socket for both kinds (`::ffff:10.0.0.1`) is the IPv4
/// address.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// 4 or 16.
  package let bytes: [UInt8]

  /// Reads an address in digits, without a port; nil if it is none.
  package init?(_ text: String) {
    guard let found = Self.bytes(AF_INET, text, count: 4) ?? Self.bytes(AF_INET6, text, count: 16)
    else {
      return nil
    }
    bytes = Self.unmapped(found)
  }

  /// The address of 4 or 16 bytes; nil for another number of them.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = Self.unmapped(Array(bytes))
  }

  private static func unmapped(_ bytes: [UInt8]) -> [UInt8] {
    let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    return bytes.count == 16 && bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : bytes
  }

  package var description: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
      let family = bytes.count == 4 ? AF_INET : AF_INET6
      guard let start = inet_ntop(family, bytes, text.baseAddress, socklen_t(text.count)) else {
        return "-"
      }
      return String(cString: start)
    }
  }

  private static func bytes(_ family: Int32, _ text: String, count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }
}
