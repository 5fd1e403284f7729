package import KVServerCore

/// The proxies in front of the server, whose word on where a request comes from is taken.
package struct TrustedProxies: Sendable {
  private let addresses: Set<IPAddress>

  var isEmpty: Bool { addresses.isEmpty }

  package init(_ addresses: [IPAddress] = []) { self.addresses = Set(addresses) }

  /// Where a request comes from: the other end of the connection, or, if that is one of the proxies, the nearest address
  /// in `X-Forwarded-For` that is none. What stands before it may be anybody's invention.
  package func client(_ peer: String, forwardedFor list: String?) -> String {
    guard let list, isTrusted(peer) else { return peer }
    for entry in list.utf8.split(separator: UInt8(ascii: ",")).reversed() {
      let text = String(Substring(entry)).filter { $0 != " " && $0 != "\t" }
      guard let address = IPAddress(text) else { return peer }
      if !addresses.contains(address) { return address.description }
    }
    return peer
  }

  /// Whether an address, in digits, is that of a proxy.
  func isTrusted(_ peer: String) -> Bool {
    guard !addresses.isEmpty, let address = IPAddress(peer) else { return false }
    return addresses.contains(address)
  }
}
