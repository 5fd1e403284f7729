/// What a request asks for: the path in decoded pieces and the parameters after the question mark.
package struct Target: Sendable, Equatable {
  /// The pieces between the slashes, percent-decoded. A slash at the end adds no piece.
  package var path: [String]
  package var parameters: [Parameter]
  /// The path as it came, for the log: still escaped and without parameters, which may hold secrets.
  package var rawPath: String

  package struct Parameter: Sendable, Equatable {
    package var name: String
    package var value: String
  }

  /// The first parameter of this name.
  package subscript(_ name: String) -> String? { parameters[name] }

  /// Reads a request target; nil if it has spaces or control characters, an escape is broken, or the text is not UTF-8.
  ///
  /// The absolute form (`http://host/path`), which proxies send, is accepted too. Bytes are looked at,
  /// not characters: every request comes through here.
  package init?(_ raw: String) {
    var raw = raw
    let target = raw.withUTF8 { Target(bytes: $0[...]) }
    guard let target else { return nil }
    self = target
  }

  /// Stands for a target that could not be read.
  package static let unreadable = Target(path: [], parameters: [], rawPath: "-")

  private init(path: [String], parameters: [Parameter], rawPath: String) {
    self.path = path
    self.parameters = parameters
    self.rawPath = rawPath
  }

  private typealias Bytes = UnsafeBufferPointer<UInt8>.SubSequence

  private init?(bytes: Bytes) {
    guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
    let bytes = Self.withoutAuthority(bytes)
    let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
    let rawPath = bytes[..<mark]
    guard rawPath.first == UInt8(ascii: "/"), let path = Self.path(rawPath.dropFirst()),
      let parameters = Self.parameters(bytes[mark...].dropFirst())
    else { return nil }
    self.init(
      path: path, parameters: parameters, rawPath: String(decoding: rawPath, as: UTF8.self))
  }

  private static func path(_ bytes: Bytes) -> [String]? {
    var path: [String] = []
    path.reserveCapacity(5)
    for piece in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      guard let decoded = percentDecoded(piece) else { return nil }
      path.append(decoded)
    }
    while path.last?.isEmpty == true { path.removeLast() }
    return path
  }

  /// The names and values of a form; nil: an escape in it is broken, or it is not UTF-8.
  package static func form(_ text: String) -> [Parameter]? {
    var text = text
    return text.withUTF8 { parameters($0[...]) }
  }

  private static func parameters(_ bytes: Bytes) -> [Parameter]? {
    var parameters: [Parameter] = []
    for piece in bytes.split(separator: UInt8(ascii: "&")) {
      let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
      guard let name = percentDecoded(piece[..<equals], plusIsSpace: true),
        let value = percentDecoded(piece[equals...].dropFirst(), plusIsSpace: true)
      else { return nil }
      parameters.append(Parameter(name: name, value: value))
    }
    return parameters
  }

  private static func withoutAuthority(_ bytes: Bytes) -> Bytes {
    if bytes.first == UInt8(ascii: "/") { return bytes }
    for scheme in ["http://", "https://"] where bytes.starts(with: scheme.utf8) {
      let rest = bytes.dropFirst(scheme.utf8.count)
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else {
        // No path is the root: the scheme's own last slash stands for it.
        return bytes.dropFirst(scheme.utf8.count - 1).prefix(1)
      }
      return rest[slash...]
    }
    return bytes
  }
}

extension [Target.Parameter] {
  /// The value of the first one of this name.
  package subscript(_ name: String) -> String? { first { $0.name == name }?.value }
}

/// Replaces `%41` by `A` (and `+` by a space if asked to); nil if an escape is broken, or the result is
/// not UTF-8 or holds a NUL.
package func percentDecoded(_ text: some Collection<UInt8>, plusIsSpace: Bool = false) -> String? {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(text.count)
  var rest = text.makeIterator()
  while let byte = rest.next() {
    switch byte {
    case UInt8(ascii: "%"):
      guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else {
        return nil
      }
      bytes.append(high << 4 | low)
    case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
    case 0: return nil
    default: bytes.append(byte)
    }
  }
  guard !bytes.contains(0) else { return nil }
  return String(validating: bytes, as: UTF8.self)
}

/// Escapes everything but the characters that are unreserved in a URL.
package func percentEncoded(_ text: String) -> String {
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

/// Names and values as a form, or as the parameters of an address.
package func formEncoded(_ items: [(name: String, value: String)]) -> String {
  items.map { "\($0.name)=\(percentEncoded($0.value))" }.joined(separator: "&")
}

/// An address with more parameters.
package func addressed(_ address: String, _ items: [(name: String, value: String)]) -> String {
  address + (address.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + formEncoded(items)
}

private func hexValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
