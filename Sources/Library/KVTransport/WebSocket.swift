package import KVBase

/// What a WebSocket is opened with. A value; the transport checks it.
package struct WebSocketRequest: Sendable {
  /// Absolute, `http` or `https`, percent-encoded: TLS is used with `https`.
  package var url: String
  /// The subprotocols that are offered, the first is preferred.
  package var protocols: [String]
  /// A `Host` here counts in place of the URL's.
  package var headers: [HTTPHeader]
  /// A longer message ends the socket with `tooLarge`.
  package var maxBytes: Int

  package init(
    _ url: String, protocols: [String] = [], headers: [HTTPHeader] = [], maxBytes: Int = 1 << 20
  ) {
    self.url = url
    self.protocols = protocols
    self.headers = headers
    self.maxBytes = maxBytes
  }
}

/// A WebSocket (RFC 6455) for texts, over the transport that opened it. Safe from any thread.
///
/// The transport's thread does all the work: a socket costs no thread, and pings are answered at any time. Messages of 1
/// MiB together wait for their reader; then the server has to. Dropping it closes it.
package final class WebSocket: Sendable {
  private let link: WebSocketLink
  private let queue: CommandQueue

  init(_ link: WebSocketLink, _ queue: CommandQueue) {
    self.link = link
    self.queue = queue
  }

  deinit { close() }

  /// Waits for the next message, which is valid UTF-8. What has come already is given even if the deadline has passed.
  ///
  /// Throws `timedOut` and `cancelled`, after which the socket is as before, or what has ended it.
  package func receive(
    until deadline: Deadline, cancellation: Cancellation
  ) throws(TransportError) -> [UInt8] {
    let link = self.link
    let (message, mustMove) = try cancellation.notifying {
      link.interrupt()
    } during: { () throws(TransportError) in
      try link.nextMessage(deadline, cancellation).get()
    }
    if mustMove { queue.move(link) }
    return message
  }

  /// Sends a text, and waits for nothing. Throws what has ended the socket.
  package func send(_ text: [UInt8]) throws(TransportError) {
    try link.enqueue(text)
    queue.move(link)
  }

  /// Says to the server that it ends, and waits for nothing. A second time is harmless.
  package func close() {
    link.close(.cancelled)
    queue.move(link)
  }
}

extension Transport {
  /// Opens a WebSocket: connects, through the proxy if there is one, and shakes hands.
  ///
  /// Throws `notUpgraded` with the status if the server wants no WebSocket.
  package func open(
    _ request: WebSocketRequest, until deadline: Deadline, cancellation: Cancellation
  ) throws(TransportError) -> WebSocket {
    guard !isForked else { throw .forked }
    let link = WebSocketLink(request)
    let queue = self.queue
    let socket = WebSocket(link, queue)
    try cancellation.notifying {
      link.close(.cancelled)
      queue.move(link)
    } during: { () throws(TransportError) in
      guard queue.connect(link) else { throw .closed }
      if let error = link.waitUntilOpen(deadline) {
        socket.close()
        throw error
      }
    }
    return socket
  }
}
