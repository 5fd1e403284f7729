internal import Glibc
internal import KVBase

/// A TCP relay on a free port of 127.0.0.1 in front of a real server, which can lose the server's answers:
/// what was asked has been done then, and whoever asked never learns it. It can also cut what is open, and answers in
/// their middle.
package final class Relay: Sendable {
  private struct State {
    var losesAnswers = false
    /// How many answers are cut in their middle next.
    var halves = 0
    var lost = 0
    var descriptors: Set<Int32> = []
    var threads: [Worker] = []
    var isStopped = false
  }

  package let port: UInt16
  private let listener: Int32
  private let server: UInt16
  private let isProxy: Bool
  private let state = Monitor(State())

  /// Relays to a port of 127.0.0.1. `asProxy`: to clients that ask for a tunnel first, wherever to.
  package init(to server: UInt16, asProxy: Bool = false) throws(ScriptedServer.Refusal) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard listener >= 0 else { throw ScriptedServer.Refusal() }
    guard let port = bindToLoopback(listener), listen(listener, 128) == 0 else {
      Glibc.close(listener)
      throw ScriptedServer.Refusal()
    }
    self.listener = listener
    self.server = server
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

  /// Cuts the next answer in its middle.
  package func halveNextAnswer() { state.withLock { $0.halves += 1 } }

  /// Cuts all connections and waits for the threads.
  package func stop() {
    let threads = state.withLock { state in
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
    let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard upstream >= 0 else { return }
    defer { Glibc.close(upstream) }
    var address = loopback(port: server)
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected, !isProxy || openTunnel(client) else { return }
    var both = [
      pollfd(fd: client, events: Int16(POLLIN), revents: 0),
      pollfd(fd: upstream, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&both, 2, -1) > 0 {
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
