internal import CCurl

/// One easy handle of libcurl, set up by the transport's options. Confined to the transport's thread.
final class EasyHandle {
  let raw: UnsafeMutableRawPointer
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutablePointer<CChar>

  /// URL and headers of a request may have so many bytes together: libcurl builds no head of more than 1 MiB.
  static let maxHeadBytes = 1_000_000

  /// `options` decide how servers are reached and which are trusted.
  init(_ options: TransportOptions) throws(TransportError) {
    guard let raw = curl_easy_init() else { throw .outOfMemory }
    self.raw = raw
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    try set(CURLOPT_ERRORBUFFER, errorText)
    try setConduct(options)
    try setTrust(options)
  }

  deinit {
    curl_easy_cleanup(raw)
    curl_slist_free_all(headerList)
    errorText.deallocate()
  }

  /// What a failure means, in libcurl's words for this handle.
  func failure(of result: CURLcode) -> TransportError {
    TransportError(result, detail: String(cString: errorText))
  }

  private func setConduct(_ options: TransportOptions) throws(TransportError) {
    try set(CURLOPT_NOSIGNAL, 1)
    // A name that does not resolve must not hold up the thread when its transfer is dropped.
    try set(CURLOPT_QUICK_EXIT, 1)
    try set(CURLOPT_PROTOCOLS_STR, "http,https")
    try set(CURLOPT_FOLLOWLOCATION, 0)
    try set(CURLOPT_PATH_AS_IS, 1)
    try set(CURLOPT_TCP_KEEPALIVE, 1)
    try set(CURLOPT_TCP_KEEPIDLE, max(1, options.probeSeconds))
    try set(CURLOPT_TCP_KEEPINTVL, max(1, options.probeSeconds / 5))
    let version = options.usesHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
    try set(CURLOPT_HTTP_VERSION, Int(version))
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    let seconds = min(max(options.connectSeconds, 0.001), 86_400)
    try set(CURLOPT_CONNECTTIMEOUT_MS, Int(seconds * 1000))
    if let proxy = options.proxy { try set(CURLOPT_PROXY, proxy) }
    try check(kvcurl_set_open_socket(raw, openSocket))
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
    try check(kvcurl_set_text(raw, CURLOPT_PROXY_CAINFO, system.file))
    try check(kvcurl_set_text(raw, CURLOPT_PROXY_CAPATH, system.directory))
  }

  /// Trusts these authorities and no others. Without the nil, libcurl's own directory would count beside a file.
  private func trust(_ file: String?, _ directory: String?) throws(TransportError) {
    try check(kvcurl_set_text(raw, CURLOPT_CAINFO, file))
    try check(kvcurl_set_text(raw, CURLOPT_CAPATH, directory))
  }

  func setURL(_ url: String) throws(TransportError) {
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

  /// Sends these header lines; libcurl does not copy the list, which lives as long as the handle.
  func setHeaders(_ lines: [String]) throws(TransportError) {
    for line in lines {
      guard let longer = curl_slist_append(headerList, line) else { throw .outOfMemory }
      headerList = longer
    }
    try set(CURLOPT_HTTPHEADER, headerList)
  }

  func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
    try check(kvcurl_set_long(raw, option, value))
  }

  func set(_ option: CURLoption, _ value: String) throws(TransportError) {
    try check(kvcurl_set_text(raw, option, value))
  }

  func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(TransportError) {
    try check(kvcurl_set_pointer(raw, option, value))
  }

  func check(_ result: CURLcode) throws(TransportError) {
    guard result == CURLE_OK else { throw TransportError(result, detail: nil) }
  }
}
