internal import CCurl
internal import KVBase

/// One easy handle with what its callbacks need. Confined to the transport's thread.
final class Transfer {
  let exchange: Exchange
  let easy: UnsafeMutableRawPointer
  var hasNews = false

  /// Why a callback stopped the transfer, which libcurl reports as a failure to write or read.
  var refusal: TransportError?
  var head = HeadReader()
  /// How much had been sent before a request that is sent once only: to a proxy, for a way through it.
  var sentBeforehand: Int?

  /// Read from the socket at once. More is hardly faster: 512 KiB saves a tenth of the time that goes
  /// into receiving. But what is read is unpacked at once, and when the sink is full libcurl keeps the
  /// rest, up to 64 MiB: that is 1,024 times this, as much as gzip can unpack to.
  private static let readBytes = 64 << 10

  /// A single header of an answer may have so many bytes (`CURL_MAX_HTTP_HEADER`).
  private static let headerBytes = 100 << 10

  /// URL and headers of a request may have so many bytes together: libcurl builds no head of more than 1 MiB.
  private static let maxHeadBytes = 1_000_000

  private var headerList: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutablePointer<CChar>

  init(_ exchange: Exchange, _ options: TransportOptions) throws(TransportError) {
    guard let easy = curl_easy_init() else { throw .outOfMemory }
    self.exchange = exchange
    self.easy = easy
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    try configure(options)
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(headerList)
    errorText.deallocate()
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
    if result == CURLE_OUT_OF_MEMORY, let limit = exceededLimit {
      return TransportError(.tooLarge, limit, code: Int(result.rawValue))
    }
    return refusal ?? TransportError(result, detail: String(cString: errorText))
  }

  /// The limit of libcurl that an answer exceeds, which libcurl reports as missing memory; nil: there is none.
  private var exceededLimit: String? {
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

  private func configure(_ options: TransportOptions) throws(TransportError) {
    try set(CURLOPT_ERRORBUFFER, errorText)
    try set(CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
    try setConduct(options)
    try setTrust(options)
    try setURL()
    try setHeaders()
    try setBody()
    try setCallbacks()
  }

  private func setConduct(_ options: TransportOptions) throws(TransportError) {
    try set(CURLOPT_NOSIGNAL, 1)
    // A name that does not resolve must not hold up the thread when its transfer is dropped.
    try set(CURLOPT_QUICK_EXIT, 1)
    try set(CURLOPT_PROTOCOLS_STR, "http,https")
    try set(CURLOPT_FOLLOWLOCATION, 0)
    try set(CURLOPT_PATH_AS_IS, 1)
    try set(CURLOPT_TCP_KEEPALIVE, 1)
    let version = options.usesHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
    try set(CURLOPT_HTTP_VERSION, Int(version))
    try set(CURLOPT_ACCEPT_ENCODING, "")
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    try set(CURLOPT_BUFFERSIZE, Self.readBytes)
    let seconds = min(max(options.connectSeconds, 0.001), 86_400)
    try set(CURLOPT_CONNECTTIMEOUT_MS, Int(seconds * 1000))
    if let proxy = options.proxy { try set(CURLOPT_PROXY, proxy) }
    let limit = curl_off_t(max(1, exchange.request.maxBytes))
    try check(kvcurl_set_size(easy, CURLOPT_MAXFILESIZE_LARGE, limit))
  }

  private func setTrust(_ options: TransportOptions) throws(TransportError) {
    try set(CURLOPT_SSL_VERIFYPEER, 1)
    try set(CURLOPT_SSL_VERIFYHOST, 2)
    try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    if let caFile = options.caFile { return try trust(caFile, nil) }
    let system = SystemAuthorities(fallback: options.caFallback)
    guard system.file != nil || system.directory != nil else { return }
    try trust(system.file, system.directory)
    // A proxy that is reached over TLS.
    try check(kvcurl_set_text(easy, CURLOPT_PROXY_CAINFO, system.file))
    try check(kvcurl_set_text(easy, CURLOPT_PROXY_CAPATH, system.directory))
  }

  /// Trusts these authorities and no others. Without the nil, libcurl's own directory would count beside a file.
  private func trust(_ file: String?, _ directory: String?) throws(TransportError) {
    try check(kvcurl_set_text(easy, CURLOPT_CAINFO, file))
    try check(kvcurl_set_text(easy, CURLOPT_CAPATH, directory))
  }

  private func setURL() throws(TransportError) {
    let url = exchange.request.url
    guard url.utf8.count <= Self.maxHeadBytes else {
      throw TransportError(
        .tooLarge,
        "The URL of the request has \(url.utf8.count) bytes. The limit is \(Self.maxHeadBytes)."
      )
    }
    let scheme = url.prefix { $0 != ":" }.lowercased()
    guard scheme == "http" || scheme == "https" else {
      throw TransportError(.invalid, "The URL is not one of http or https.")
    }
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw TransportError(.invalid, "The URL has a character that must be percent-encoded.")
    }
    try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    try set(CURLOPT_URL, url)
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
    guard byteCount <= Self.maxHeadBytes else {
      throw TransportError(
        .tooLarge,
        "URL and headers of the request have \(byteCount) bytes. The limit is \(Self.maxHeadBytes)."
      )
    }
    for line in lines {
      guard let longer = curl_slist_append(headerList, line) else { throw .outOfMemory }
      headerList = longer
    }
    try set(CURLOPT_HTTPHEADER, headerList)
  }

  private func setBody() throws(TransportError) {
    let method = exchange.request.method
    guard HTTPHeader.isToken(method) else {
      throw TransportError(.invalid, "The method is not valid.")
    }
    switch exchange.request.body {
    case nil:
      if method == "HEAD" { try set(CURLOPT_NOBODY, 1) }
    case .bytes(let bytes)?: try setBytes(bytes)
    case .once(let bytes)?:
      try setBytes(bytes)
      try check(kvcurl_set_prereq(easy, beforeSending))
      try set(CURLOPT_PREREQDATA, Unmanaged.passUnretained(self).toOpaque())
    case .source(let source)?: try setUpload(source.byteCount)
    }
    try set(CURLOPT_CUSTOMREQUEST, method)
  }

  /// A body that libcurl sends together with the head, if it is short.
  private func setBytes(_ bytes: [UInt8]) throws(TransportError) {
    try check(kvcurl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count)))
    try check(
      bytes.isEmpty
        ? kvcurl_set_text(easy, CURLOPT_COPYPOSTFIELDS, "")
        : bytes.withUnsafeBytes {
          kvcurl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress)
        })
  }

  /// A body that the callback provides; without a count it is sent in chunks.
  private func setUpload(_ count: Int?) throws(TransportError) {
    try set(CURLOPT_UPLOAD, 1)
    guard let count else { return }
    try check(kvcurl_set_size(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(count)))
  }

  private func setCallbacks() throws(TransportError) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    try check(kvcurl_set_callback(easy, CURLOPT_WRITEFUNCTION, receiveBody))
    try set(CURLOPT_WRITEDATA, context)
    try check(kvcurl_set_callback(easy, CURLOPT_HEADERFUNCTION, receiveHeader))
    try set(CURLOPT_HEADERDATA, context)
    try check(kvcurl_set_callback(easy, CURLOPT_READFUNCTION, sendBody))
    try set(CURLOPT_READDATA, context)
    try check(kvcurl_set_open_socket(easy, openSocket))
    try check(kvcurl_set_seek(easy, rewindBody))
    try set(CURLOPT_SEEKDATA, context)
  }

  private func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
    try check(kvcurl_set_long(easy, option, value))
  }

  private func set(_ option: CURLoption, _ value: String) throws(TransportError) {
    try check(kvcurl_set_text(easy, option, value))
  }

  private func set(
    _ option: CURLoption, _ value: UnsafeMutableRawPointer?
  ) throws(TransportError) {
    try check(kvcurl_set_pointer(easy, option, value))
  }

  private func check(_ result: CURLcode) throws(TransportError) {
    guard result == CURLE_OK else { throw TransportError(result, detail: nil) }
  }
}
