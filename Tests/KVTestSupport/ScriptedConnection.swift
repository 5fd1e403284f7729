internal import Glibc
internal import KVBase

/// The server's end of one connection. `send` and `readRequest` on its own thread, the others on any.
package final class ScriptedConnection: Sendable {
  /// Counts from 0 in the order in which they were accepted.
  package let number: Int

  private struct State {
    var isOpen = true
    var isReleased = false
    var unread: [UInt8] = []
  }

  private let descriptor: Int32
  private let state = Monitor(State())

  init(_ descriptor: Int32, number: Int) {
    self.descriptor = descriptor
    self.number = number
    var on: Int32 = 1
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  package var isOpen: Bool { state.withLock { $0.isOpen } }

  // MARK: Sending

  /// Sends these bytes, whatever they are. False: the client has gone.
  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = Glibc.send(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count,
          Int32(MSG_NOSIGNAL))
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }

  @discardableResult
  package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult
  package func send(_ reply: ScriptedReply) -> Bool { send(reply.bytes) }

  /// Ends the connection in order; the client sees an end of file.
  package func close() {
    state.withLock { state in
      guard state.isOpen, !state.isReleased else { return }
      state.isOpen = false
      shutdown(descriptor, Int32(SHUT_RDWR))
    }
  }

  /// Breaks the connection; the client sees a reset.
  package func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    state.withLock { $0.isOpen = false }
    release()
  }

  /// Waits until the client has closed its end; what it still sends is dropped.
  package func waitForEnd() { while receive() != nil {} }

  /// Gives the descriptor back.
  func release() {
    state.withLock { state in
      guard !state.isReleased else { return }
      state.isReleased = true
      Glibc.close(descriptor)
    }
  }

  // MARK: Receiving

  /// Reads one whole request; nil at the end of the connection.
  func readRequest() -> ScriptedRequest? {
    var bytes = state.withLock { state in
      defer { state.unread = [] }
      return state.unread
    }
    while true {
      switch ScriptedRequest.parse(bytes, connection: number) {
      case .complete(let request, let rest):
        state.withLock { $0.unread = rest }
        return request
      case .malformed: return nil
      case .incomplete: break
      }
      guard let more = receive() else { return nil }
      bytes += more
    }
  }

  /// Waits for bytes of the client, whatever they are; nil at the end of the connection.
  package func receive() -> [UInt8]? {
    let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
      count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
    }
    return bytes.isEmpty ? nil : bytes
  }
}
