/// Base64 with padding (RFC 4648 §4): what Basic authentication needs.
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var out: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (8 * (3 - group.count))
      for place in 0..<4 {
        let isPadding = place > group.count
        let index = Int(bits >> (18 - 6 * place) & 63)
        out.append(isPadding ? UInt8(ascii: "=") : alphabet[index])
      }
    }
    return String(decoding: out, as: UTF8.self)
  }
}
