/// One request, as a value. Nothing in it has been checked yet; the transport does that.
package struct HTTPRequest: Sendable {
  package var method: String
  /// Absolute, `http` or `https`, percent-encoded, without user name and password.
  package var url: String
  package var headers: [HTTPHeader]
  package var body: HTTPBody?
  /// Ends the exchange with `tooLarge` once the answer's body, unpacked, has more bytes.
  package var maxBytes: Int
  /// What a log says in place of the path, where that has keys in it.
  package var loggedPath: String?

  package init(
    _ method: String, _ url: String, headers: [HTTPHeader] = [], body: HTTPBody? = nil,
    maxBytes: Int = 100 << 20
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.maxBytes = maxBytes
  }
}

package struct HTTPHeader: Sendable, Equatable {
  package var name: String
  package var value: String
  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

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

/// What a request carries.
package enum HTTPBody: Sendable {
  /// Bytes that are in memory anyhow; copied once.
  case bytes([UInt8])
  /// Bytes of a request that must not happen twice. Without this, a request whose kept connection breaks
  /// before the first byte of the answer is sent again over a fresh one; here it ends with `reset`.
  case once([UInt8])
  /// Bytes that are fetched while they are sent.
  case source(any BodySource)
}

/// A body that is read while it is sent, so that it need not be in memory.
///
/// Its methods run on the transport's thread, one at a time: they may read a file, but must not
/// wait for the network or for the caller, because all other transfers wait meanwhile.
package protocol BodySource: AnyObject, Sendable {
  /// How many bytes there are; nil if that is not known (they are sent in chunks then).
  var byteCount: Int? { get }
  /// Fills the start of `buffer`; gives how many bytes, 0 at the end, nil if it failed.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int?
  /// Starts again, for a connection that turned out to be dead; false if that can not be done.
  func rewind() -> Bool
}

/// Status and headers of an answer.
package struct HTTPHead: Sendable, Equatable {
  package var status: Int
  /// In the order they came; bytes that are no UTF-8 are replaced.
  package var headers: [HTTPHeader]

  package init(status: Int, headers: [HTTPHeader] = []) {
    self.status = status
    self.headers = headers
  }

  package var isSuccess: Bool { (200..<300).contains(status) }

  /// The first value under this name, whatever its case.
  package subscript(name: String) -> String? {
    headers.first { equalIgnoringCase($0.name, name) }?.value
  }

  /// How many bytes will arrive, if the server says so and they are not packed.
  package var bodyBytes: Int? {
    guard self["Content-Encoding"] == nil, let text = self["Content-Length"] else { return nil }
    return Int(text)
  }
}

/// A whole answer. Every status is an answer, none is an error.
package struct HTTPResponse: Sendable, Equatable {
  package var head: HTTPHead
  package var body: [UInt8]

  package init(head: HTTPHead, body: [UInt8]) {
    self.head = head
    self.body = body
  }
}

/// Compares header names: only ASCII letters have a case there.
private func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
  left.utf8.elementsEqual(right.utf8) { lowerCase($0) == lowerCase($1) }
}

private func lowerCase(_ byte: UInt8) -> UInt8 {
  byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
