internal import CWslay
internal import KVBase

/// The frames of one WebSocket, without a network: bytes in, messages and bytes out. Confined to one thread.
///
/// Messages are texts. A binary one, one that is too long, and what RFC 6455 forbids end the socket with the close code
/// that says so. Pings are answered.
final class WebSocketFrames {
  /// The complete messages that were not taken yet, each valid UTF-8.
  private(set) var messages: [[UInt8]] = []
  /// The bytes that were not sent yet.
  var outgoing: [UInt8] = []
  /// Why no more messages come; nil: they may.
  private(set) var end: TransportError?

  /// Set once, by `init`, which passes itself to it.
  private var context: wslay_event_context_ptr?
  private let maxBytes: Int
  /// What came and was not looked at, from `position` on.
  private var incoming: [UInt8] = []
  private var position = 0
  /// The message whose frames are being received.
  private var message: [UInt8] = []
  private var isControlFrame = false

  /// `maxBytes`: a longer message ends the socket. Throws `resources` only.
  init(maxBytes: Int) throws(TransportError) {
    self.maxBytes = maxBytes
    var callbacks = wslay_event_callbacks(
      recv_callback: takeIncoming, send_callback: addOutgoing, genmask_callback: makeMask,
      on_frame_recv_start_callback: beginFrame, on_frame_recv_chunk_callback: addChunk,
      on_frame_recv_end_callback: nil, on_msg_recv_callback: endMessage)
    let itself = Unmanaged.passUnretained(self).toOpaque()
    guard wslay_event_context_client_init(&context, &callbacks, itself) == 0 else {
      throw .outOfMemory
    }
    // Messages are put together here: memory follows what has come, not what a frame announces.
    wslay_event_config_set_no_buffering(context, 1)
    wslay_event_config_set_max_recv_msg_length(context, UInt64(max(maxBytes, 125)))
  }

  deinit { wslay_event_context_free(context) }

  /// Takes the messages that are complete.
  func takeMessages() -> [[UInt8]] {
    defer { messages = [] }
    return messages
  }

  /// Receives bytes of the server.
  func receive(_ bytes: some Collection<UInt8>) {
    guard end == nil else { return }
    incoming.append(contentsOf: bytes)
    let result = wslay_event_recv(context)
    incoming.removeAll(keepingCapacity: true)
    position = 0
    flush()
    guard end == nil, result != 0 || wslay_event_get_read_enabled(context) == 0 else { return }
    let code = UInt32(wslay_event_get_status_code_sent(context))
    end =
      code == UInt32(WSLAY_CODE_MESSAGE_TOO_BIG.rawValue)
      ? tooLarge : TransportError(.malformed, "The server sent a frame that is not valid.")
  }

  /// Sends a text.
  func send(_ text: [UInt8]) {
    var message = wslay_event_msg()
    message.opcode = UInt8(WSLAY_TEXT_FRAME.rawValue)
    message.msg_length = text.count
    let result = text.withUnsafeBufferPointer { bytes in
      message.msg = bytes.baseAddress
      return wslay_event_queue_msg(context, &message)
    }
    if result != 0, end == nil { end = .outOfMemory }
    flush()
  }

  /// Says that nothing more is sent and nothing more is read.
  func close() {
    wslay_event_queue_close(context, UInt16(WSLAY_CODE_NORMAL_CLOSURE.rawValue), nil, 0)
    flush()
  }

  private func flush() {
    if wslay_event_send(context) != 0, end == nil { end = .outOfMemory }
  }

  // MARK: What wslay calls

  fileprivate func take(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    let count = min(buffer.count, incoming.count - position)
    _ = buffer.update(fromContentsOf: incoming[position..<position + count])
    position += count
    return count
  }

  fileprivate func begin(opcode: UInt8) {
    isControlFrame = opcode & 8 != 0
    guard opcode == UInt8(WSLAY_BINARY_FRAME.rawValue) else { return }
    refuse(
      TransportError(.malformed, "The server sent a message that is no text."),
      WSLAY_CODE_UNSUPPORTED_DATA)
  }

  fileprivate func add(_ chunk: UnsafeBufferPointer<UInt8>) {
    guard !isControlFrame, end == nil else { return }
    guard chunk.count <= maxBytes - message.count else {
      return refuse(tooLarge, WSLAY_CODE_MESSAGE_TOO_BIG)
    }
    do throws(TransportError) {
      try message.makeRoom(for: chunk.count, or: TransportError.outOfMemory)
    } catch {
      return refuse(error, WSLAY_CODE_INTERNAL_SERVER_ERROR)
    }
    message.append(contentsOf: chunk)
  }

  fileprivate func complete(opcode: UInt8, code: UInt16) {
    switch UInt32(opcode) {
    case UInt32(WSLAY_TEXT_FRAME.rawValue) where end == nil:
      messages.append(message)
      message = []
    case UInt32(WSLAY_CONNECTION_CLOSE.rawValue):
      let named = code == 0 ? "" : " with code \(code)"
      end = end ?? TransportError(.reset, "The server closed the WebSocket\(named).")
    default: break
    }
  }

  private var tooLarge: TransportError {
    TransportError(.tooLarge, "A message of the server has more than \(maxBytes) bytes.")
  }

  private func refuse(_ error: TransportError, _ code: wslay_status_code) {
    end = error
    message = []
    wslay_event_queue_close(context, UInt16(code.rawValue), nil, 0)
    wslay_event_shutdown_read(context)
  }
}

private func frames(_ context: UnsafeMutableRawPointer?) -> WebSocketFrames? {
  context.map { Unmanaged<WebSocketFrames>.fromOpaque($0).takeUnretainedValue() }
}

private func takeIncoming(
  _ event: wslay_event_context_ptr?, _ buffer: UnsafeMutablePointer<UInt8>?, count: Int,
  flags: CInt, context: UnsafeMutableRawPointer?
) -> Int {
  let taken =
    frames(context)?.take(into: UnsafeMutableBufferPointer(start: buffer, count: count)) ?? 0
  if taken > 0 { return taken }
  wslay_event_set_error(event, WSLAY_ERR_WOULDBLOCK.rawValue)
  return -1
}

private func addOutgoing(
  _ event: wslay_event_context_ptr?, _ bytes: UnsafePointer<UInt8>?, count: Int, flags: CInt,
  context: UnsafeMutableRawPointer?
) -> Int {
  frames(context)?.outgoing.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
  return count
}

private func makeMask(
  _ event: wslay_event_context_ptr?, _ buffer: UnsafeMutablePointer<UInt8>?, count: Int,
  context: UnsafeMutableRawPointer?
) -> CInt {
  for index in 0..<count { buffer?[index] = .random(in: 0...255) }
  return 0
}

private func beginFrame(
  _ event: wslay_event_context_ptr?,
  _ frame: UnsafePointer<wslay_event_on_frame_recv_start_arg>?, context: UnsafeMutableRawPointer?
) {
  if let frame { frames(context)?.begin(opcode: frame.pointee.opcode) }
}

private func addChunk(
  _ event: wslay_event_context_ptr?,
  _ chunk: UnsafePointer<wslay_event_on_frame_recv_chunk_arg>?, context: UnsafeMutableRawPointer?
) {
  guard let chunk = chunk?.pointee else { return }
  frames(context)?.add(UnsafeBufferPointer(start: chunk.data, count: chunk.data_length))
}

private func endMessage(
  _ event: wslay_event_context_ptr?, _ message: UnsafePointer<wslay_event_on_msg_recv_arg>?,
  context: UnsafeMutableRawPointer?
) {
  guard let message = message?.pointee else { return }
  frames(context)?.complete(opcode: message.opcode, code: message.status_code)
}
