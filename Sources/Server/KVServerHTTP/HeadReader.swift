internal import CMicrohttpd
internal import Glibc
package import KVServerCore

/// Reads the headers of a request, and finds what RFC 9112 forbids: whatever two programs could understand in two
/// ways lets one request hide behind another one.
package struct HeadReader {
  package private(set) var headers = Headers()
  /// A sentence that says what is wrong with the head; nil: nothing.
  package private(set) var fault: String?

  init(_ connection: OpaquePointer) {
    withUnsafeMutablePointer(to: &self) { reader in
      _ = MHD_get_connection_values_n(connection, .HEADER_KIND, readHeader, reader)
    }
  }

  package init() {}

  /// Whether the head announces a body.
  var hasBody: Bool { headers[.transferEncoding] != nil || (length ?? 0) > 0 }

  /// The length of the body as it is announced; nil if it is not.
  var length: Int? { headers[.contentLength].flatMap { Int($0) } }

  package mutating func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    if name.isEmpty || !name.allSatisfy(Self.isTokenByte) {
      fault = fault ?? "the name of a header has a character that is not allowed"
    }
    if !value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) {
      fault = fault ?? "the value of a header has a control character"
    }
    guard let header = Header(name) else { return }
    let text = String(decoding: Self.trimmed(value), as: UTF8.self)
    guard let first = headers[header] else { return headers[header] = text }
    if header.isList { headers[header] = first + "," + text }
    if header.isSingle { fault = fault ?? "\(header.name) occurs twice" }
  }

  /// Holds the headers against each other.
  package mutating func check(version: String) {
    guard fault == nil else { return }
    if version == "HTTP/1.1", headers[.host] == nil { fault = "Host is missing" }
    if let length = headers[.contentLength] {
      let isNumber = !length.isEmpty && length.utf8.allSatisfy { (0x30...0x39).contains($0) }
      if !isNumber || Int(length) == nil { fault = "Content-Length is not a number" }
    }
    guard let coding = headers[.transferEncoding] else { return }
    if headers[.contentLength] != nil {
      fault = "Content-Length and Transfer-Encoding exclude each other"
    } else if version == "HTTP/1.0" {
      fault = "HTTP/1.0 does not support Transfer-Encoding"
    } else if coding.lowercased() != "chunked" {
      fault = "Transfer-Encoding must be chunked"
    }
  }

  /// Whether this is a method: a token (RFC 9110 §9.1), no longer than any that is in use.
  static func isMethod(_ text: UnsafePointer<CChar>) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: text, count: strnlen(text, 33))
    return (1...32).contains(bytes.count) && bytes.allSatisfy(isTokenByte)
  }

  /// A value without the white space around it (RFC 9110 §5.5).
  private static func trimmed(_ value: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    var text = value.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"),
      UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
      UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

private func readHeader(
  _ reader: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, name: UnsafePointer<CChar>?,
  nameSize: Int, value: UnsafePointer<CChar>?, valueSize: Int
) -> MHD_Result {
  reader?.assumingMemoryBound(to: HeadReader.self).pointee.add(
    UnsafeRawBufferPointer(start: name, count: nameSize),
    UnsafeRawBufferPointer(start: value, count: valueSize))
  return .YES
}
