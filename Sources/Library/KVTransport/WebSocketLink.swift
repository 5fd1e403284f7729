internal import CCurl
internal import KVBase

/// One WebSocket between the thread that uses it and the transport's thread. Safe from any thread.
final class WebSocketLink: Sendable {
  /// Bytes of messages that wait for their reader before the socket is not read from any more.
  private static let capacity = 1 << 20

  private struct State {
    var messages = FIFO<[UInt8]>()
    var waitingBytes = 0
    var outbox: [[UInt8]] = []
    var isOpen = false
    /// The user wants nothing any more.
    var isClosing = false
    var end: TransportError?
  }

  let request: WebSocketRequest
  private let state = Monitor(State())

  init(_ request: WebSocketRequest) { self.request = request }

  // MARK: The user's side

  /// Waits until the handshake is over. Nil: it is.
  func waitUntilOpen(_ deadline: Deadline) -> TransportError? {
    let outcome = state.wait(until: deadline) { state -> Result<Void, TransportError>? in
      // It may have ended since: then that is what reading it says.
      if state.isOpen { return .success(()) }
      return state.end.map { .failure($0) }
    }
    switch outcome {
    case .success?: return nil
    case .failure(let error)?: return error
    case nil: return .timedOut
    }
  }

  /// Waits for a message. What came before the end is given first. `mustMove`: the socket was not read from for want of
  /// room, and may be again.
  func nextMessage(
    _ deadline: Deadline, _ cancellation: Cancellation
  ) -> Result<(message: [UInt8], mustMove: Bool), TransportError> {
    state.wait(until: deadline) {
      state -> Result<(message: [UInt8], mustMove: Bool), TransportError>? in
      if cancellation.isCancelled { return .failure(.cancelled) }
      guard let message = state.messages.popFirst() else { return state.end.map { .failure($0) } }
      let wasFull = state.waitingBytes >= Self.capacity
      state.waitingBytes -= message.count
      return .success((message, wasFull && state.waitingBytes < Self.capacity))
    } ?? .failure(.timedOut)
  }

  /// Wakes the thread that waits for a message, to check the cancellation.
  func interrupt() { state.withLockNotifyingAll { _ in } }

  /// Adds a message that is to be sent. Throws why there is no connection any more.
  func enqueue(_ message: [UInt8]) throws(TransportError) {
    try state.withLock { (state) throws(TransportError) in
      if let end = state.end { throw end }
      state.outbox.append(message)
    }
  }

  /// Ends it for the user now, and for the server as soon as the transport's thread gets there.
  func close(_ reason: TransportError) {
    state.withLockNotifyingAll { state in
      state.isClosing = true
      state.end = state.end ?? reason
    }
  }

  // MARK: The transport's side

  var isClosing: Bool { state.withLock { $0.isClosing } }

  /// Whether there is room for messages.
  var hasRoom: Bool { state.withLock { $0.waitingBytes < Self.capacity } }

  func open() { state.withLockNotifyingAll { $0.isOpen = true } }

  func takeOutbox() -> [[UInt8]] {
    state.withLock { state in
      defer { state.outbox = [] }
      return state.outbox
    }
  }

  func deliver(_ messages: [[UInt8]]) {
    guard !messages.isEmpty else { return }
    state.withLockNotifyingAll { state in
      for message in messages {
        state.messages.append(message)
        state.waitingBytes += message.count
      }
    }
  }

  func end(_ error: TransportError) {
    state.withLockNotifyingAll { $0.end = $0.end ?? error }
  }
}

/// The connection under one WebSocket: libcurl brings bytes there and back, TLS and proxies included. Confined to the
/// transport's thread.
final class WebSocketConnection {
  private enum Phase {
    case connecting
    case upgrading(WebSocketUpgrade, RawHeadReader)
    case open
  }

  /// Bytes that are read at once.
  private static let readBytes = 16 << 10
  /// Bytes that wait to be sent before nothing is read any more: a server must not make us answer pings without end.
  private static let maxOutgoing = 1 << 20

  let link: WebSocketLink
  let handle: EasyHandle
  private let frames: WebSocketFrames
  private var phase = Phase.connecting
  private var outgoing: [UInt8] = []
  private(set) var socket = curl_socket_t(CURL_SOCKET_BAD)

  init(_ link: WebSocketLink, _ options: TransportOptions) throws(TransportError) {
    var options = options
    options.usesHTTP2 = false
    self.link = link
    handle = try EasyHandle(options)
    frames = try WebSocketFrames(maxBytes: link.request.maxBytes)
    try handle.setURL(link.request.url)
    try handle.set(CURLOPT_CONNECT_ONLY, 1)
    try handle.set(CURLOPT_HTTPPROXYTUNNEL, 1)
  }

  /// The connection stands: sends the handshake. Throws what is wrong with it.
  func begin() throws(TransportError) {
    socket = kvcurl_active_socket(handle.raw)
    guard socket != curl_socket_t(CURL_SOCKET_BAD) else {
      throw TransportError(.reset, "The connection was lost.")
    }
    let upgrade = try WebSocketUpgrade(link.request)
    outgoing = upgrade.bytes
    phase = .upgrading(upgrade, RawHeadReader())
  }

  /// What is waited for at the socket; nil: nothing yet.
  var waiting: curl_waitfd? {
    if case .connecting = phase { return nil }
    var events: Int32 = mayRead ? CURL_WAIT_POLLIN : 0
    if !outgoing.isEmpty { events |= CURL_WAIT_POLLOUT }
    return curl_waitfd(fd: socket, events: Int16(events), revents: 0)
  }

  private var mayRead: Bool { outgoing.count < Self.maxOutgoing && link.hasRoom }

  /// Sends what there is to send, and reads what has come. Throws what ends the socket.
  func work() throws(TransportError) {
    if case .connecting = phase {
      if link.isClosing { throw .cancelled }
      return
    }
    if case .open = phase {
      for message in link.takeOutbox() { frames.send(message) }
      if link.isClosing { frames.close() }
      takeOutgoing()
    }
    try send()
    if link.isClosing { throw .cancelled }
    try read()
    try send()
    if let end = frames.end { throw end }
  }

  private func takeOutgoing() {
    outgoing += frames.outgoing
    frames.outgoing = []
  }

  private func send() throws(TransportError) {
    while !outgoing.isEmpty {
      var count = 0
      let result = curl_easy_send(handle.raw, outgoing, outgoing.count, &count)
      if result == CURLE_AGAIN { return }
      guard result == CURLE_OK else { throw handle.failure(of: result) }
      outgoing.removeFirst(count)
    }
  }

  private func read() throws(TransportError) {
    while mayRead, frames.end == nil {
      var count = 0
      var result = CURLE_OK
      let bytes = [UInt8](unsafeUninitializedCapacity: Self.readBytes) { buffer, initialized in
        result = curl_easy_recv(handle.raw, buffer.baseAddress, buffer.count, &count)
        initialized = result == CURLE_OK ? count : 0
      }
      if result == CURLE_AGAIN { return }
      guard result == CURLE_OK else { throw handle.failure(of: result) }
      guard count > 0 else { throw TransportError(.reset, "The server closed the connection.") }
      try receive(bytes[...])
    }
  }

  private func receive(_ bytes: ArraySlice<UInt8>) throws(TransportError) {
    var rest = bytes
    if case .upgrading(let upgrade, var reader) = phase {
      let head = try reader.read(&rest)
      phase = .upgrading(upgrade, reader)
      guard let head else { return }
      try upgrade.check(head)
      phase = .open
      link.open()
    }
    frames.receive(rest)
    link.deliver(frames.takeMessages())
    takeOutgoing()
  }
}

/// The WebSockets of a transport. Confined to its thread.
struct Sockets {
  private let multi: MultiHandle
  private let options: TransportOptions
  private var connections: [UnsafeMutableRawPointer: WebSocketConnection] = [:]

  init(_ multi: MultiHandle, _ options: TransportOptions) {
    self.multi = multi
    self.options = options
  }

  /// What curl_multi_poll is to wait for.
  var waiting: [curl_waitfd] { connections.values.compactMap(\.waiting) }

  mutating func connect(_ link: WebSocketLink) {
    do throws(TransportError) {
      let connection = try WebSocketConnection(link, options)
      guard curl_multi_add_handle(multi.raw, connection.handle.raw) == CURLM_OK else {
        throw .outOfMemory
      }
      connections[connection.handle.raw] = connection
    } catch {
      link.end(error)
    }
  }

  /// libcurl has connected a handle, or could not. False: it is not one of these.
  ///
  /// The handle stays where it is: libcurl closes the connection of one that is taken out.
  mutating func connected(_ easy: UnsafeMutableRawPointer, _ result: CURLcode) -> Bool {
    guard let connection = connections[easy] else { return false }
    do throws(TransportError) {
      guard result == CURLE_OK else { throw connection.handle.failure(of: result) }
      try connection.begin()
    } catch {
      end(connection, error)
    }
    return true
  }

  mutating func work() {
    for connection in connections.values {
      do throws(TransportError) { try connection.work() } catch { end(connection, error) }
    }
  }

  mutating func endAll(_ error: TransportError) {
    for connection in connections.values { end(connection, error) }
  }

  private mutating func end(_ connection: WebSocketConnection, _ error: TransportError) {
    connections[connection.handle.raw] = nil
    curl_multi_remove_handle(multi.raw, connection.handle.raw)
    connection.link.end(error)
  }
}
