internal import Glibc
internal import KVBase

/// A TCP relay on a free port of 127.0.0.1 in front of a real server, which can lose the server's answers:
/// what was asked has been done then, and whoever asked never learns it. It can also cut what is open, and answers in
/// their middle, and let nothing pass without telling anybody.
package final class Relay: Sendable {
  private struct State {
    var losesAnswers = false
    /// How many answers are cut in their middle next.
    var halves = 0
    var lost = 0
    var isSilent = false
    var descriptors: Set<Int32> = []
    var threads: [Worker] = []
    var isStopped = false
  }

  package let port: UInt16
  private let listener: Int32
  /// Gives a connection to the server.
  private let connect: @Sendable () -> Int32?
  private let isProxy: Bool
  private let state = Monitor(State())

  /// Relays to a port of 127.0.0.1. `asProxy`: to clients that ask for a tunnel first, wherever to.
  package convenience init(
    to server: UInt16, asProxy: Bool = false
  ) throws(ScriptedServer.Refusal) {
    try self.init(asProxy: asProxy) { connected(AF_INET, to: loopback(port: server)) }
  }

  /// Relays to a Unix socket.
  package convenience init(toSocket path: String) throws(ScriptedServer.Refusal) {
    try self.init(asProxy: false) {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
      return connected(AF_UNIX, to: address)
    }
  }

  private init(
    asProxy: Bool, connect: @escaping @Sendable () -> Int32?
  ) throws(ScriptedServer.Refusal) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard listener >= 0 else { throw ScriptedServer.Refusal() }
    guard let port = bindToLoopback(listener), listen(listener, 128) == 0 else {
      Glibc.close(listener)
      throw ScriptedServer.Refusal()
    }
    self.listener = listener
    self.connect = connect
    isProxy = asProxy
    self.port = port
    start { [self] in acceptAll() }
  }

  deinit { Glibc.close(listener) }

  package var url: String { "http://127.0.0.1:\(port)" }

  /// How many answers were lost.
  package var lost: Int { state.withLock { $0.lost } }

  /// Runs `body` while the first piece of each answer cuts its connection.
  package func losingAnswers<R>(_ body: () throws -> R) rethrows -> R {
    state.withLock { $0.losesAnswers = true }
    defer { state.withLock { $0.losesAnswers = false } }
    return try body()
  }

  /// Cuts the connections that are open; new ones are accepted.
  package func cut() {
    state.withLock { state in
      for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
  }

  /// Lets nothing pass any more and tells nobody, as if a cable was pulled; connections are still accepted.
  package func silence() { state.withLock { $0.isSilent = true } }

  /// Cuts the next answer in its middle.
  package func halveNextAnswer() { state.withLock { $0.halves += 1 } }

  /// Cuts all connections and waits for the threads.
  package func stop() {
    let threads = state.withLockNotifyingAll { state in
      state.isStopped = true
      for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
      return state.threads
    }
    shutdown(listener, Int32(SHUT_RDWR))
    for thread in threads { thread.join() }
  }

  private func start(_ body: @escaping @Sendable () -> Void) {
    guard let worker = Worker("test-relay", body) else { return }
    state.withLock { $0.threads.append(worker) }
  }

  private func acceptAll() {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      let isStopped = state.withLock { state in
        if !state.isStopped { state.descriptors.insert(client) }
        return state.isStopped
      }
      guard !isStopped else {
        Glibc.close(client)
        return
      }
      start { [self] in
        relay(client)
        state.withLock { _ = $0.descriptors.remove(client) }
        Glibc.close(client)
      }
    }
  }

  private func relay(_ client: Int32) {
    guard let upstream = connect() else { return }
    defer { Glibc.close(upstream) }
    guard !isProxy || openTunnel(client) else { return }
    var both = [
      pollfd(fd: client, events: Int16(POLLIN), revents: 0),
      pollfd(fd: upstream, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&both, 2, -1) > 0 {
      guard awaitVoice() else { return }
      if both[0].revents != 0, !pass(client, upstream) { return }
      if both[1].revents != 0 {
        let (isLost, isHalf) = state.withLock { state in
          if state.losesAnswers { state.lost += 1 }
          defer { if state.halves > 0 { state.halves -= 1 } }
          return (state.losesAnswers, state.halves > 0)
        }
        if isLost || !pass(upstream, client, half: isHalf) || isHalf { return }
      }
    }
  }

  /// Waits while nothing may pass; false when it was stopped.
  private func awaitVoice() -> Bool {
    state.wait(until: .never) { $0.isStopped ? false : $0.isSilent ? nil : true } ?? false
  }

  /// Reads what asks for a tunnel, and agrees.
  private func openTunnel(_ client: Int32) -> Bool {
    var request: [UInt8] = []
    while request.suffix(4) != [13, 10, 13, 10] {
      var byte: UInt8 = 0
      guard recv(client, &byte, 1, 0) == 1 else { return false }
      request.append(byte)
    }
    let answer = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)
    return send(client, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count
  }

  /// Hands on what there is; false at the end.
  private func pass(_ from: Int32, _ to: Int32, half: Bool = false) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let received = recv(from, &buffer, buffer.count, 0)
    guard received > 0 else { return false }
    let count = half ? (received + 1) / 2 : received
    var sent = 0
    while sent < count {
      let more = buffer[sent..<count].withUnsafeBytes {
        send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard more > 0 else { return false }
      sent += more
    }
    return true
  }
}

/// A stream that is connected to an address; nil: it cannot be.
private func connected<Address>(_ family: Int32, to address: Address) -> Int32? {
  let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
  guard descriptor >= 0 else { return nil }
  var address = address
  let isConnected = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size)) == 0
    }
  }
  if isConnected { return descriptor }
  Glibc.close(descriptor)
  return nil
}
