package import KVServerCore

/// What a proxy sends before a connection's own bytes, to tell whose they are: version 1 (a line) or 2 (binary) of the PROXY
/// protocol.
package struct ProxyHeader: Equatable {
  /// The longest line of version 1, and the longest header of version 2.
  package static let maxBytes = 16 + Int(UInt16.max)
  private static let maxLine = 107
  private static let signature: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
  ]

  /// Where the connection comes from.
  package struct Source: Equatable {
    package let address: IPAddress
    package let port: UInt16
  }

  package enum Reading: Equatable {
    /// It goes on; no byte so far is of what follows it.
    case incomplete
    case malformed
    case complete(ProxyHeader)
  }

  /// How many bytes it has.
  package let count: Int
  /// Nil: the connection is the proxy's own, or the proxy does not know.
  package let source: Source?

  /// Reads the start of a connection.
  package static func read(_ bytes: [UInt8]) -> Reading {
    let head = bytes.prefix(signature.count)
    if signature.starts(with: head) { return bytes.count < 16 ? .incomplete : binary(bytes) }
    return "PROXY ".utf8.starts(with: bytes.prefix(6)) ? line(bytes) : .malformed
  }

  // MARK: Version 1

  /// `PROXY TCP4 203.0.113.9 10.0.0.1 56324 443`, and CR LF.
  private static func line(_ bytes: [UInt8]) -> Reading {
    let line = bytes.prefix(maxLine)
    guard let end = line.firstIndex(of: 0x0A) else {
      return line.count < maxLine ? .incomplete : .malformed
    }
    guard end > 0, line[end - 1] == 0x0D else { return .malformed }
    let words = line[..<(end - 1)].split(separator: 0x20, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard words.count > 1 else { return .malformed }
    if words[1] == "UNKNOWN" { return .complete(ProxyHeader(count: end + 1, source: nil)) }
    guard words.count == 6, let count = ["TCP4": 4, "TCP6": 16][words[1]],
      let address = IPAddress(words[2]), let port = UInt16(words[4]), UInt16(words[5]) != nil,
      IPAddress(words[3]) != nil, words[2].contains(":") == (count == 16)
    else { return .malformed }
    return .complete(ProxyHeader(count: end + 1, source: Source(address: address, port: port)))
  }

  // MARK: Version 2

  /// Signature, version and command, family, and the length of what follows: source, destination, both ports, and more that
  /// is not needed here.
  private static func binary(_ bytes: [UInt8]) -> Reading {
    let count = 16 + Int(bytes[14]) << 8 + Int(bytes[15])
    guard bytes[12] >> 4 == 2, bytes[12] & 0x0F <= 1 else { return .malformed }
    guard bytes.count >= count else { return .incomplete }
    let isLocal = bytes[12] & 0x0F == 0
    let length =
      switch bytes[13] {
      case 0x11: 4
      case 0x21: 16
      default: 0
      }
    guard !isLocal, length > 0 else { return .complete(ProxyHeader(count: count, source: nil)) }
    guard count >= 16 + 2 * length + 4, let address = IPAddress(bytes: bytes[16..<16 + length])
    else { return .malformed }
    let port = UInt16(bytes[16 + 2 * length]) << 8 | UInt16(bytes[17 + 2 * length])
    return .complete(ProxyHeader(count: count, source: Source(address: address, port: port)))
  }
}
