/// Base64 (RFC 4648, section 4): what Basic authentication and WebSockets need.
package enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Encodes UTF-8, with padding.
  package static func encode(_ text: String) -> String { encode(Array(text.utf8)) }

  /// Encodes bytes, with padding.
  package static func encode(_ bytes: [UInt8]) -> String {
    var out: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * (3 - group.count))
      for position in 0..<4 {
        let isPadding = position > group.count
        let index = Int(bits >> (18 - 6 * position) & 63)
        out.append(isPadding ? UInt8(ascii: "=") : alphabet[index])
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Encodes bytes in the form for URLs and files (section 5), without padding.
  package static func encode(url bytes: [UInt8]) -> String {
    let text = encode(bytes).utf8.compactMap { byte -> UInt8? in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: byte
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes Base64, with or without padding; nil for anything else.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for character in text.utf8.prefix(while: { $0 != UInt8(ascii: "=") }) {
      guard let value = value(of: character) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return text.utf8.drop { $0 != UInt8(ascii: "=") }.allSatisfy { $0 == UInt8(ascii: "=") }
      ? bytes : nil
  }

  /// Decodes the form for URLs and files (section 5), in which two characters differ; nil for anything else.
  package static func decode(url text: some StringProtocol) -> [UInt8]? {
    decode(
      String(
        decoding: text.utf8.map { byte in
          switch byte {
          case UInt8(ascii: "-"): UInt8(ascii: "+")
          case UInt8(ascii: "_"): UInt8(ascii: "/")
          default: byte
          }
        }, as: UTF8.self))
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
