internal import Glibc

/// Where a client is, as far as it can be told from others: an IPv4 address, or the part of an IPv6 address that a
/// provider gives to one customer (/56), who can change the rest at will.
struct ClientAddress: Hashable, Sendable {
  private let bytes: [UInt8]

  /// Reads an address in digits. What is none stands for itself.
  init(_ text: String) {
    bytes = Self.bytes(AF_INET, text, 4) ?? Self.network(text) ?? Array(text.utf8)
  }

  private static func network(_ text: String) -> [UInt8]? {
    guard let bytes = bytes(AF_INET6, text, 16) else { return nil }
    // An IPv4 address that came to a socket for both (::ffff:1.2.3.4).
    let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    return bytes.starts(with: mapped) ? Array(bytes.suffix(4)) : Array(bytes.prefix(7))
  }

  private static func bytes(_ family: Int32, _ text: String, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }
}
