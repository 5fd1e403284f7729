internal import CCurl
internal import KVBase

/// One easy handle with what its callbacks need. Confined to the transport's thread.
final class Transfer {
  let exchange: Exchange
  let easy: UnsafeMutableRawPointer
  var hasNews = false

  /// Why a callback stopped the transfer, which libcurl reports as a failure to write or read.
  var refusal: TransportError?
  /// Whether an allocation failed during the last steps of libcurl.
  var lacksMemory = false
  var head = HeadReader()
  /// How many bytes have travelled, in both directions.
  var travelled = 0
  /// How much had been sent before a request that is sent once only: to a proxy, for a way through it.
  var sentBeforehand: Int?

  /// Read from the socket at once. More is hardly faster: 512 KiB saves a tenth of the time that goes
  /// into receiving. But what is read is unpacked at once, and when the sink is full libcurl keeps the
  /// rest, up to 64 MiB: that is 1,024 times this, as much as gzip can unpack to.
  private static let readBytes = 64 << 10

  /// A single header of an answer may have so many bytes (`CURL_MAX_HTTP_HEADER`).
  private static let headerBytes = 100 << 10

  private let handle: EasyHandle

  init(_ exchange: Exchange, _ options: TransportOptions) throws(TransportError) {
    self.exchange = exchange
    handle = try EasyHandle(options)
    easy = handle.raw
    try configure()
  }

  /// The transfer whose easy handle this is.
  static func of(_ easy: UnsafeMutableRawPointer) -> Transfer? {
    kvcurl_private(easy).map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Goes on after a pause; what waits inside libcurl reaches the sink before this returns.
  func resume() {
    // 0 is CURLPAUSE_CONT, a macro that Swift does not see.
    let result = curl_easy_pause(easy, 0)
    if result != CURLE_OK, refusal == nil { refusal = TransportError(result, detail: nil) }
  }

  /// What the end of the transfer means; nil: a complete answer has come.
  func failure(of result: CURLcode) -> TransportError? {
    if result == CURLE_OK { return nil }
    if result == CURLE_FILESIZE_EXCEEDED { return tooLarge }
    if result == CURLE_OUT_OF_MEMORY, !lacksMemory, let limit = exceededLimit {
      return TransportError(.tooLarge, limit, code: Int(result.rawValue))
    }
    return refusal ?? handle.failure(of: result)
  }

  /// The limit of libcurl that an answer exceeds, which libcurl reports as missing memory; nil: there is none.
  private var exceededLimit: String? {
    guard kvcurl_hides_limits() != 0 else { return nil }
    if head.isPacked { return "The compressed answer expands too much at once." }
    // Before anything has come, the memory was missing.
    guard !head.isComplete, kvcurl_has_answer(easy) != 0, Memory.isAvailable(Self.headerBytes)
    else { return nil }
    return "A header of the answer has more than \(Self.headerBytes) bytes."
  }

  /// The answer is longer than the request allows, whether the server has announced that or not.
  var tooLarge: TransportError {
    TransportError(.tooLarge, "The answer has more than \(exchange.request.maxBytes) bytes.")
  }

  // MARK: Options

  private func configure() throws(TransportError) {
    try handle.set(CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
    try handle.set(CURLOPT_ACCEPT_ENCODING, "")
    try handle.set(CURLOPT_BUFFERSIZE, Self.readBytes)
    let limit = curl_off_t(max(1, exchange.request.maxBytes))
    try handle.check(kvcurl_set_size(easy, CURLOPT_MAXFILESIZE_LARGE, limit))
    try handle.setURL(exchange.request.url)
    try setHeaders()
    try setBody()
    try setCallbacks()
  }

  private func setHeaders() throws(TransportError) {
    // libcurl would wait up to a second for a "100 Continue" before it sends a large body, and
    // would call a body a web form.
    var lines = ["Expect:"]
    if !exchange.request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
      lines.append("Content-Type:")
    }
    for header in exchange.request.headers { lines.append(try header.line()) }
    let byteCount = lines.reduce(exchange.request.url.utf8.count) { $0 + $1.utf8.count }
    guard byteCount <= EasyHandle.maxHeadBytes else {
      throw TransportError(
        .tooLarge,
        "URL and headers of the request have \(byteCount) bytes. The limit is \(EasyHandle.maxHeadBytes)."
      )
    }
    try handle.setHeaders(lines)
  }

  private func setBody() throws(TransportError) {
    let method = exchange.request.method
    guard HTTPHeader.isToken(method) else {
      throw TransportError(.invalid, "The method is not valid.")
    }
    switch exchange.request.body {
    case nil:
      if method == "HEAD" { try handle.set(CURLOPT_NOBODY, 1) }
    case .bytes(let bytes)?: try setBytes(bytes)
    case .once(let bytes)?:
      try setBytes(bytes)
      try handle.check(kvcurl_set_prereq(easy, beforeSending))
      try handle.set(CURLOPT_PREREQDATA, Unmanaged.passUnretained(self).toOpaque())
    case .source(let source)?: try setUpload(source.byteCount)
    }
    try handle.set(CURLOPT_CUSTOMREQUEST, method)
  }

  /// A body that libcurl sends together with the head, if it is short.
  private func setBytes(_ bytes: [UInt8]) throws(TransportError) {
    try handle.check(kvcurl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count)))
    try handle.check(
      bytes.isEmpty
        ? kvcurl_set_text(easy, CURLOPT_COPYPOSTFIELDS, "")
        : bytes.withUnsafeBytes {
          kvcurl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
        })
  }

  /// A body that the callback provides; without a count it is sent in chunks.
  private func setUpload(_ count: Int?) throws(TransportError) {
    try handle.set(CURLOPT_UPLOAD, 1)
    guard let count else { return }
    try handle.check(kvcurl_set_size(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(count)))
  }

  private func setCallbacks() throws(TransportError) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    try handle.check(kvcurl_set_callback(easy, CURLOPT_WRITEFUNCTION, receiveBody))
    try handle.set(CURLOPT_WRITEDATA, context)
    try handle.check(kvcurl_set_callback(easy, CURLOPT_HEADERFUNCTION, receiveHeader))
    try handle.set(CURLOPT_HEADERDATA, context)
    try handle.check(kvcurl_set_callback(easy, CURLOPT_READFUNCTION, sendBody))
    try handle.set(CURLOPT_READDATA, context)
    try handle.check(kvcurl_set_progress(easy, noticeSteps))
    try handle.set(CURLOPT_XFERINFODATA, context)
    try handle.set(CURLOPT_NOPROGRESS, 0)
    try handle.check(kvcurl_set_seek(easy, rewindBody))
    try handle.set(CURLOPT_SEEKDATA, context)
  }
}
