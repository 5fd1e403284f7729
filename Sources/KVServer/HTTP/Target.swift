/// What a request asks for: the path in decoded pieces and the parameters behind the question mark.
struct Target: Sendable, Equatable {
  /// The pieces between the slashes, percent-decoded. A slash at the end adds no piece.
  var path: [String]
  var parameters: [Parameter]
  /// The path as it came, for the log: still escaped and without parameters, which may hold secrets.
  var rawPath: String

  struct Parameter: Sendable, Equatable {
    var name: String
    var value: String
  }

  /// The first parameter of this name.
  subscript(_ name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }

  /// Reads a request target; nil if an escape is broken or the text is not UTF-8.
  ///
  /// The absolute form (`http://host/path`), which proxies send, is accepted too.
  init?(_ raw: String) {
    let origin = Self.withoutAuthority(raw[...])
    let pieces = origin.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = pieces.first, first.first == "/" else { return nil }
    rawPath = String(first)
    path = []
    parameters = []
    for piece in first.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let decoded = percentDecoded(piece) else { return nil }
      path.append(decoded)
    }
    while path.last == "" { path.removeLast() }
    guard pieces.count == 2 else { return }
    for piece in pieces[1].split(separator: "&") {
      let sides = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let left = sides.first, let name = percentDecoded(left, plusIsSpace: true),
        let value = percentDecoded(sides.count > 1 ? sides[1] : "", plusIsSpace: true)
      else { return nil }
      parameters.append(Parameter(name: name, value: value))
    }
  }

  /// Stands for a target that could not be read.
  static let unreadable = Target(path: [], parameters: [], rawPath: "-")

  private init(path: [String], parameters: [Parameter], rawPath: String) {
    self.path = path
    self.parameters = parameters
    self.rawPath = rawPath
  }

  private static func withoutAuthority(_ raw: Substring) -> Substring {
    for scheme in ["http://", "https://"] where raw.hasPrefix(scheme) {
      let rest = raw.dropFirst(scheme.count)
      guard let slash = rest.firstIndex(of: "/") else { return "/" }
      return rest[slash...]
    }
    return raw
  }
}

/// Replaces `%41` by `A` (and `+` by a space if asked to); nil if an escape is broken, or the result is
/// not UTF-8 or holds a NUL.
func percentDecoded(_ text: Substring, plusIsSpace: Bool = false) -> String? {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(text.utf8.count)
  var rest = text.utf8.makeIterator()
  while let byte = rest.next() {
    switch byte {
    case UInt8(ascii: "%"):
      guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else {
        return nil
      }
      bytes.append(high << 4 | low)
    case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
    default: bytes.append(byte)
    }
  }
  guard !bytes.contains(0) else { return nil }
  return String(validating: bytes, as: UTF8.self)
}

/// Escapes everything but the characters that are unreserved in a URL.
func percentEncoded(_ text: String) -> String {
  let digits = Array("0123456789ABCDEF".utf8)
  var bytes: [UInt8] = []
  for byte in text.utf8 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      bytes.append(byte)
    default:
      bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}

private func hexValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
