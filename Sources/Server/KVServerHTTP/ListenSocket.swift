internal import Glibc
internal import KVServerCore

/// Where to listen: `127.0.0.1:8778`, `[::1]:8778`, `localhost:0`, `:8778` (all addresses).
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
  package var host: String
  package var port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"),
      let port = UInt16(text[text.index(after: colon)...])
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    self.init(host: String(host), port: port)
  }

  /// Whether only programs on this machine can connect.
  package var isOfThisMachine: Bool {
    if host == "localhost" { return true }
    guard let address = IPAddress(host)?.bytes else { return false }
    return address.count == 4
      ? address[0] == 127 : address.dropLast().allSatisfy { $0 == 0 } && address.last == 1
  }

  package var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

/// A TCP socket that listens. Closed with the value, unless it was released.
package struct ListenSocket: ~Copyable {
  let descriptor: Int32
  /// The address it listens on, with the port that the system chose if 0 was asked for.
  package let address: ListenAddress
  private var isOwned = true

  package struct Failure: Error {
    package var message: String
  }

  package init(_ wanted: ListenAddress) throws(Failure) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE
    var found: UnsafeMutablePointer<addrinfo>?
    let host = wanted.host.isEmpty ? nil : wanted.host
    let status = getaddrinfo(host, String(wanted.port), &hints, &found)
    guard status == 0, let first = found else {
      throw Failure(message: "\(wanted.host): \(String(cString: gai_strerror(status)))")
    }
    defer { freeaddrinfo(first) }
    descriptor = try Self.open(first.pointee, wanted)
    let port = Self.port(of: descriptor) ?? wanted.port
    address = ListenAddress(host: wanted.host.isEmpty ? "0.0.0.0" : wanted.host, port: port)
  }

  deinit { if isOwned { close(descriptor) } }

  /// Gives up the descriptor: the caller closes it.
  package consuming func release() -> Int32 {
    isOwned = false
    return descriptor
  }

  private static func open(_ at: addrinfo, _ wanted: ListenAddress) throws(Failure) -> Int32 {
    let type = at.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let socket = Glibc.socket(at.ai_family, type, at.ai_protocol)
    var yes: Int32 = 1
    guard socket >= 0 else { throw failure(wanted) }
    // A server that is started again at once must not wait for old connections to be forgotten.
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard bind(socket, at.ai_addr, at.ai_addrlen) == 0, listen(socket, 1024) == 0 else {
      defer { close(socket) }
      throw failure(wanted)
    }
    return socket
  }

  private static func failure(_ wanted: ListenAddress) -> Failure {
    Failure(message: "cannot listen on \(wanted): \(String(cString: strerror(errno)))")
  }

  private static func port(of socket: Int32) -> UInt16? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let status = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
    }
    guard status == 0 else { return nil }
    // The port is at the same offset for both families.
    return withUnsafeBytes(of: &storage) { bytes in
      UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
  }
}
