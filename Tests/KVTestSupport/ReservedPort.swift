internal import Glibc

/// A port of 127.0.0.1 for a server that is stopped and started again: nobody else is given it meanwhile. Connections to it
/// are refused while no server listens.
package final class ReservedPort: Sendable {
  package let number: UInt16
  private let socket: Int32

  /// The system gave no socket or no port.
  package struct Refusal: Error {}

  package init() throws(Refusal) {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw Refusal() }
    // With this option, which the server's socket has too, both may be bound to the port as long as only one listens.
    var yes: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard let port = bindToLoopback(socket) else {
      close(socket)
      throw Refusal()
    }
    number = port
  }

  deinit { close(socket) }
}

/// Binds a socket to a free port of 127.0.0.1; nil: the system gave none.
package func bindToLoopback(_ socket: Int32) -> UInt16? {
  var address = loopback(port: 0)
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isBound = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
    }
  }
  return isBound ? UInt16(bigEndian: address.sin_port) : nil
}
