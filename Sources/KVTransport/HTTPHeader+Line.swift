extension HTTPHeader {
  /// The header as libcurl wants it. It fails rather than let a line end, and so another header,
  /// slip in with a value.
  func line() throws(TransportError) -> String {
    guard Self.isToken(name), value.utf8.allSatisfy(Self.isAllowed) else {
      throw TransportError(.invalid, "A header has a character that is not allowed.")
    }
    // For libcurl "Name:" removes a header, "Name;" sends it empty.
    return value.utf8.allSatisfy { $0 == 0x20 } ? "\(name);" : "\(name): \(value)"
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7F || byte == 0x09
  }

  /// Whether a text can be a header's name or a method (RFC 9110 §5.6.2).
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}
