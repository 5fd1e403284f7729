internal import Glibc

/// A TCP connection that sends whatever it is told, right or wrong. One thread at a time. No call waits
/// for more than ten seconds.
///
/// `@unchecked Sendable`: its user sees to the one thread; `drip` alone may run beside it.
final class RawConnection: @unchecked Sendable {
  fileprivate let socket: Int32
  private var unread: [UInt8] = []
  private(set) var isAtEnd = false

  /// `address`: of this end.
  init?(port: UInt16, from source: String = "127.0.0.1") {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = socket
    let isBound =
      source == "127.0.0.1"
      || Self.with(address: source, port: 0) { bind(descriptor, $0, size) == 0 }
    let isConnected = Self.with(address: "127.0.0.1", port: port) {
      connect(descriptor, $0, size) == 0
    }
    guard isBound, isConnected else { return nil }
  }

  private static func with(
    address text: String, port: UInt16, _ body: (UnsafePointer<sockaddr>) -> Bool
  ) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard inet_pton(AF_INET, text, &address.sin_addr) == 1 else { return false }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
    }
  }

  deinit { close(socket) }

  /// Sends bytes; false: the server has closed the connection.
  @discardableResult
  func send(_ bytes: some Sequence<UInt8>) -> Bool {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(text.utf8) }

  /// Waits for more; false at the end.
  func receive() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(socket, &buffer, buffer.count, 0)
    guard count > 0 else {
      isAtEnd = true
      return false
    }
    unread += buffer.prefix(count)
    return true
  }

  /// Reads up to the end of the connection.
  func drain() -> [UInt8] {
    while receive() {}
    defer { unread = [] }
    return unread
  }

  /// Takes so many bytes; fewer at the end.
  func read(_ count: Int) -> [UInt8] {
    while unread.count < count, receive() {}
    defer { unread.removeFirst(min(count, unread.count)) }
    return Array(unread.prefix(count))
  }

  /// Takes a line without its end; nil at the end of the connection.
  func line() -> String? {
    while true {
      if let end = unread.firstIndex(of: 0x0A) {
        let line = unread[..<end].filter { $0 != 0x0D }
        unread.removeSubrange(...end)
        return String(decoding: line, as: UTF8.self)
      }
      guard receive() else { return nil }
    }
  }
}

extension RawConnection {
  /// Says that nothing more will be sent.
  func endOutput() { shutdown(socket, Int32(SHUT_WR)) }

  /// Sends one byte, and waits a moment; false when the server has gone. It may run beside `drain`.
  func drip() -> Bool {
    usleep(50_000)
    var byte = UInt8(ascii: "x")
    return Glibc.send(socket, &byte, 1, Int32(MSG_NOSIGNAL)) == 1
  }
}
