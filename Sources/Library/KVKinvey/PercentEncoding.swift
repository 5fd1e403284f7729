/// Percent-encoding as RFC 3986 has it: everything but letters, digits and `-._~` is encoded, so that
/// `+`, `/`, `&` and `=` can be part of a name or a value.
enum PercentEncoding {
  /// Encodes one segment of a path. `.` and `..` are encoded too: a server or a proxy would walk by them.
  static func segment(_ text: String) -> String {
    text == "." || text == ".." ? text.map { _ in "%2E" }.joined() : value(text)
  }

  /// A value in a query string.
  static func value(_ text: String) -> String {
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count * 2)
    for byte in text.utf8 {
      if isUnreserved(byte) {
        out.append(byte)
      } else {
        out += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + (value - 10)
  }
}
