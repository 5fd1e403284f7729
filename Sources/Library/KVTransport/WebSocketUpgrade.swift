internal import KVBase

/// The HTTP request that turns a connection into a WebSocket (RFC 6455 §4), and the check of its answer. A value.
struct WebSocketUpgrade {
  /// The same in every handshake.
  private static let mark = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// The request, to be sent as it is.
  let bytes: [UInt8]
  private let key: String
  private let protocols: [String]

  /// Throws `invalid` for a header that cannot be sent.
  init(_ request: WebSocketRequest) throws(TransportError) {
    key = Base64.encode((0..<16).map { _ in UInt8.random(in: 0...255) })
    protocols = request.protocols
    let rest = request.url.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    var target = String(decoding: rest.dropFirst(authority.count), as: UTF8.self)
    if !target.utf8.starts(with: "/".utf8) { target = "/" + target }
    var headers = [
      HTTPHeader("Upgrade", "websocket"), HTTPHeader("Connection", "Upgrade"),
      HTTPHeader("Sec-WebSocket-Key", key), HTTPHeader("Sec-WebSocket-Version", "13"),
    ]
    if !protocols.isEmpty {
      headers.append(HTTPHeader("Sec-WebSocket-Protocol", protocols.joined(separator: ", ")))
    }
    // Some servers answer for several hosts, and one that is signed for another counts.
    if !request.headers.contains(where: { $0.name.lowercased() == "host" }) {
      headers.append(HTTPHeader("Host", String(decoding: authority, as: UTF8.self)))
    }
    var lines = ["GET \(target) HTTP/1.1"]
    for header in headers + request.headers { lines.append(try header.line()) }
    bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// Throws `notUpgraded` unless the server agrees to this very request.
  func check(_ head: HTTPHead) throws(TransportError) {
    guard head.status == 101 else {
      throw TransportError(
        .notUpgraded, "The server answered with status \(head.status) instead of a WebSocket.",
        code: head.status)
    }
    let accepted = Base64.encode(Digest.sha1(Array((key + Self.mark).utf8)))
    let isOurs =
      head["Upgrade"]?.lowercased() == "websocket" && head["Sec-WebSocket-Accept"] == accepted
      && head["Sec-WebSocket-Extensions"] == nil
    guard isOurs, Self.accepts(head["Sec-WebSocket-Protocol"], protocols) else {
      throw TransportError(
        .malformed, "The server's answer to the WebSocket's handshake is not valid.")
    }
  }

  /// Whether the server chose one of the protocols that were offered, or none.
  private static func accepts(_ chosen: String?, _ offered: [String]) -> Bool {
    guard let chosen else { return true }
    return offered.contains { $0.utf8.elementsEqual(chosen.utf8) }
  }
}

/// Reads the head of an answer from the bytes of a connection. What follows it stays.
struct RawHeadReader {
  private var reader = HeadReader()
  private var line: [UInt8] = []

  init() { reader.acceptsUpgrade = true }

  /// Reads from the start of `bytes` and removes what it has read. Nil: more is needed.
  mutating func read(_ bytes: inout ArraySlice<UInt8>) throws(TransportError) -> HTTPHead? {
    while let byte = bytes.popFirst() {
      line.append(byte)
      guard line.count <= HeadReader.maxBytes else { throw Self.tooLarge }
      guard byte == UInt8(ascii: "\n") else { continue }
      let progress = line.withUnsafeBytes { reader.read($0) }
      line = []
      switch progress {
      case .more: continue
      case .complete(let head):
        guard head.status > 0 else {
          throw TransportError(.malformed, "The server does not speak HTTP.")
        }
        return head
      case .tooLarge: throw Self.tooLarge
      }
    }
    return nil
  }

  private static let tooLarge = TransportError(.tooLarge, "The answer has too many headers.")
}
