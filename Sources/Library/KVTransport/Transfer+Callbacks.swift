internal import CCurl
internal import Glibc
internal import KVBase

// What libcurl calls. Each one finds its transfer by the context and goes on in Swift; none may
// let an error out, so refusals are kept with the transfer.

func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int,
  context: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes, let transfer = Transfer.from(context) else { return 0 }
  return transfer.receive(UnsafeRawBufferPointer(start: bytes, count: size &* count))
}

func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int,
  context: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes, let transfer = Transfer.from(context) else { return 0 }
  return transfer.receive(header: UnsafeRawBufferPointer(start: bytes, count: size &* count))
}

func sendBody(
  _ bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int,
  context: UnsafeMutableRawPointer?
) -> Int {
  guard let bytes, let transfer = Transfer.from(context) else { return Int(CURL_READFUNC_ABORT) }
  return transfer.send(UnsafeMutableRawBufferPointer(start: bytes, count: size &* count))
}

func rewindBody(_ context: UnsafeMutableRawPointer?, offset: curl_off_t, origin: CInt) -> CInt {
  guard let transfer = Transfer.from(context), offset == 0, origin == 0 else {
    return CURL_SEEKFUNC_CANTSEEK
  }
  return transfer.rewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}

/// libcurl has a connection and is about to send the request: for the first time, or again.
func beforeSending(
  _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?,
  _: UnsafeMutablePointer<CChar>?, _: CInt, _: CInt
) -> CInt {
  guard let transfer = Transfer.from(context) else { return CURL_PREREQFUNC_ABORT }
  return transfer.maySend() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// libcurl has taken steps, or gives a transfer up and has not closed its connection yet: the last time that `errno` tells a
/// failed allocation from an answer that exceeds one of libcurl's limits.
func noticeSteps(
  _ context: UnsafeMutableRawPointer?, _: curl_off_t, received: curl_off_t, _: curl_off_t,
  sent: curl_off_t
) -> CInt {
  guard let transfer = Transfer.from(context) else { return 0 }
  transfer.lacksMemory = errno == ENOMEM
  transfer.noteProgress(Int(received) &+ Int(sent))
  return 0
}

/// Opens a socket that no program inherits which the host runs: it would keep our connections open.
func openSocket(
  _ context: UnsafeMutableRawPointer?, purpose: curlsocktype,
  address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  guard let address = address?.pointee else { return CURL_SOCKET_BAD }
  return socket(
    address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
}

extension Transfer {
  /// `bytes`: how many have travelled so far, in both directions.
  fileprivate func noteProgress(_ bytes: Int) {
    guard bytes > travelled else { return }
    exchange.deadline.noteProgress(bytes: bytes &- travelled)
    travelled = bytes
  }

  fileprivate static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Anything but the count stops the transfer.
  fileprivate func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard !bytes.isEmpty else { return 0 }
    hasNews = true
    switch exchange.sink.receive(bytes) {
    case .accepted: return bytes.count
    case .full: return Int(CURL_WRITEFUNC_PAUSE)
    case .tooLarge: refusal = tooLarge
    case .noMemory: refusal = .outOfMemory
    case .ended: refusal = .cancelled
    }
    return 0
  }

  fileprivate func receive(header bytes: UnsafeRawBufferPointer) -> Int {
    switch head.read(bytes) {
    case .more: return bytes.count
    case .complete(let head):
      exchange.sink.begin(head)
      return bytes.count
    case .tooLarge:
      refusal = TransportError(.tooLarge, "The answer has too many headers.")
      return 0
    }
  }

  fileprivate func send(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    switch exchange.request.body {
    case nil, .bytes?, .once?: return 0
    case .source(let source)?:
      if let count = source.read(into: buffer), (0...buffer.count).contains(count) { return count }
      refusal = TransportError(.invalid, "The body of the request could not be read.")
      return Int(CURL_READFUNC_ABORT)
    }
  }

  /// Whether nothing of the request has been sent yet, over a connection that broke.
  fileprivate func maySend() -> Bool {
    let sent = kvcurl_sent_bytes(easy)
    defer { sentBeforehand = sent }
    if sentBeforehand == nil || sentBeforehand == sent { return true }
    refusal = TransportError(
      .reset, "The connection was lost. The request may have been carried out.")
    return false
  }

  fileprivate func rewind() -> Bool {
    switch exchange.request.body {
    case nil, .bytes?, .once?: true
    case .source(let source)?: source.rewind()
    }
  }
}
