/// Where a client is, as far as it can be told from others: an IPv4 address, or the part of an IPv6 address that a
/// provider gives to one customer (/56), who can change the rest at will.
struct ClientAddress: Hashable, Sendable {
  let bytes: [UInt8]

  /// Reads an address; a text that is none is kept as it is.
  init(_ text: String) {
    guard let address = IPAddress(text)?.bytes else {
      bytes = Array(text.utf8)
      return
    }
    bytes = address.count == 4 ? address : Array(address.prefix(7))
  }
}
