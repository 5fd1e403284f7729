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

  /// The addresses of a host: the one that the text is, or those that its name stands for; none if they are not known.
  package static func all(of host: String) -> [IPAddress] {
    if let address = IPAddress(host) { return [address] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &found) == 0 else { return [] }
    defer { freeaddrinfo(found) }
    var addresses: [IPAddress] = []
    var next = found
    while let entry = next?.pointee {
      if let address = IPAddress(entry) { addresses.append(address) }
      next = entry.ai_next
    }
    return addresses
  }

  private init?(_ entry: addrinfo) {
    let (offset, count) =
      entry.ai_family == AF_INET
      ? (MemoryLayout<sockaddr_in>.offset(of: \.sin_addr), 4)
      : (MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr), 16)
    guard let offset, let address = entry.ai_addr, Int(entry.ai_addrlen) >= offset + count else {
      return nil
    }
    self.init(
      bytes: UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + offset, count: count))
  }

  /// Whether it is of this machine, of a private network, or of one link: not of the internet.
  package var isPrivate: Bool {
    if bytes.count == 4 {
      return switch (bytes[0], bytes[1]) {
      case (0, _), (10, _), (127, _), (169, 254), (172, 16...31), (192, 168), (100, 64...127): true
      default: bytes[0] >= 224
      }
    }
    // Addresses of a translator to IPv4 have the IPv4 address at their end.
    if bytes.starts(with: [0, 0x64, 0xFF, 0x9B]) {
      return IPAddress(bytes: bytes.suffix(4))?.isPrivate ?? true
    }
    let isUnspecifiedOrLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && (bytes.last ?? 0) <= 1
    return isUnspecifiedOrLoopback || bytes[0] & 0xFE == 0xFC || bytes[0] == 0xFF
      || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
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
