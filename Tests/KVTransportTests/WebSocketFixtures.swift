import KVBase
import KVTestSupport
import KVTransport
import Testing

/// A frame as a server sends it, or may not send it.
struct Frame {
  var opcode: UInt8
  var payload: [UInt8]
  var isFinal = true
  var isMasked = false
  var reserved: UInt8 = 0
  /// What the head says in place of the payload's length.
  var announced: UInt64?

  static func text(_ text: String, isFinal: Bool = true) -> Frame {
    Frame(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
  }

  static func more(_ text: String, isFinal: Bool = true) -> Frame {
    Frame(opcode: 0, payload: Array(text.utf8), isFinal: isFinal)
  }

  static func close(_ code: UInt16) -> Frame {
    Frame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 255)])
  }

  var bytes: [UInt8] {
    let count = announced ?? UInt64(payload.count)
    var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
    let mask: UInt8 = isMasked ? 0x80 : 0
    switch count {
    case ..<126: bytes.append(mask | UInt8(count))
    case ..<65_536: bytes += [mask | 126, UInt8(count >> 8), UInt8(count & 255)]
    default:
      bytes.append(mask | 127)
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: count >> UInt64(shift)))
      }
    }
    if isMasked { bytes += [0, 0, 0, 0] }
    return bytes + payload
  }
}

/// Reads what the client sends, frame by frame: each must be whole, masked and shorter than 64 KiB.
struct FrameReader {
  private let connection: ScriptedConnection
  private var unread: [UInt8] = []

  init(_ connection: ScriptedConnection) { self.connection = connection }

  /// The next frame; nil at the end of the connection.
  mutating func next() -> Frame? {
    guard let head = take(2) else { return nil }
    var count = Int(head[1] & 0x7F)
    if count == 126 {
      guard let long = take(2) else { return nil }
      count = Int(long[0]) << 8 | Int(long[1])
    }
    guard head[1] & 0x80 != 0, let mask = take(4), let payload = take(count) else { return nil }
    let plain = payload.enumerated().map { $1 ^ mask[$0 % 4] }
    return Frame(opcode: head[0] & 15, payload: plain, isFinal: head[0] & 0x80 != 0)
  }

  private mutating func take(_ count: Int) -> [UInt8]? {
    while unread.count < count {
      guard let more = connection.receive() else { return nil }
      unread += more
    }
    defer { unread.removeFirst(count) }
    return Array(unread.prefix(count))
  }
}

extension ScriptedConnection {
  /// Agrees to the handshake, and says more than it must if a test wants that.
  func upgrade(_ request: ScriptedRequest, headers: String = "", accept: String? = nil) {
    let key = request["Sec-WebSocket-Key"] ?? ""
    let mark = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    let accept = accept ?? Base64.encode(Digest.sha1(Array((key + mark).utf8)))
    send(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Accept: \(accept)\r\n\(headers)\r\n")
  }
}

extension Transport {
  func open(_ url: String, protocols: [String] = [], maxBytes: Int = 1 << 20) throws -> WebSocket {
    try open(
      WebSocketRequest(url, protocols: protocols, maxBytes: maxBytes),
      until: .after(seconds: 120), cancellation: Cancellation())
  }
}

extension WebSocket {
  /// The next text, with a deadline that only a defect reaches.
  func text() throws -> String {
    String(
      decoding: try receive(until: .after(seconds: 120), cancellation: Cancellation()),
      as: UTF8.self)
  }

  /// Why there is no next message.
  func failure() -> TransportError? {
    do throws(TransportError) {
      _ = try receive(until: .after(seconds: 120), cancellation: Cancellation())
      return nil
    } catch {
      return error
    }
  }
}

/// A value that another thread gives.
final class Promise<Value: Sendable>: Sendable {
  private let value = Monitor<Value?>(nil)

  func keep(_ value: Value) { self.value.withLockNotifyingAll { $0 = value } }

  /// Waits for it; nil if that takes more than ten seconds.
  func wait() -> Value? { value.wait(until: .after(seconds: 60)) { $0 } }
}
