internal import Glibc
internal import KVBase

/// A TCP server on a free port of 127.0.0.1 that does to its clients what a test wants, byte by byte.
///
/// Each connection has a thread of its own, which reads one request after the other and runs the
/// script for each. When the script returns, the next request is read, unless it closed the
/// connection.
package final class ScriptedServer: Sendable {
  package typealias Script = @Sendable (ScriptedRequest, ScriptedConnection) -> Void

  private struct State {
    var requests: [ScriptedRequest] = []
    var connections: [ScriptedConnection] = []
    var threads: [Worker] = []
    var acceptor: Worker?
  }

  package let port: UInt16
  private let listener: Int32
  private let script: Script
  private let state = Monitor(State())

  /// The system gave no socket or no thread.
  package struct Refusal: Error {}

  /// Starts to listen.
  package init(_ script: @escaping Script) throws(Refusal) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard listener >= 0 else { throw Refusal() }
    guard let port = bindToLoopback(listener), listen(listener, 128) == 0 else {
      Glibc.close(listener)
      throw Refusal()
    }
    self.listener = listener
    self.port = port
    self.script = script
    guard let acceptor = Worker("test-server", { [self] in acceptAll() }) else { throw Refusal() }
    state.withLockNotifyingAll { $0.acceptor = acceptor }
  }

  /// A server that gives each request one reply.
  package convenience init(
    replying reply: @escaping @Sendable (ScriptedRequest) -> ScriptedReply
  ) throws(Refusal) {
    try self.init { request, connection in connection.send(reply(request)) }
  }

  package var url: String { "http://127.0.0.1:\(port)" }

  /// What has been asked so far, over all connections.
  package var requests: [ScriptedRequest] { state.withLock { $0.requests } }

  /// How many connections were made so far.
  package var connectionCount: Int { state.withLock { $0.connections.count } }

  /// Waits until so many requests have come in; false if that takes more than a minute.
  package func waitForRequests(_ count: Int) -> Bool {
    state.wait(until: .after(seconds: 60)) { $0.requests.count >= count ? true : nil } ?? false
  }

  /// Cuts all connections and waits for the threads. Scripts that wait for something must have been let go.
  package func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    state.withLock { $0.acceptor }?.join()
    let (connections, threads) = state.withLock { ($0.connections, $0.threads) }
    for connection in connections { connection.close() }
    for thread in threads { thread.join() }
    Glibc.close(listener)
  }

  private func acceptAll() {
    while true {
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { return }
      // Counted before it is served: who has an answer sees its connection.
      let connection = state.withLockNotifyingAll { state in
        let connection = ScriptedConnection(descriptor, number: state.connections.count)
        state.connections.append(connection)
        return connection
      }
      let thread = Worker("test-\(connection.number)") { [self] in
        serve(connection)
        connection.close()
        connection.release()
      }
      if let thread { state.withLockNotifyingAll { $0.threads.append(thread) } }
    }
  }

  private func serve(_ connection: ScriptedConnection) {
    while let request = connection.readRequest() {
      state.withLockNotifyingAll { $0.requests.append(request) }
      script(request, connection)
      guard connection.isOpen else { return }
    }
  }
}

/// The address of a port on 127.0.0.1.
func loopback(port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return address
}
