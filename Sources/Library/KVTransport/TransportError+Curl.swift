internal import CCurl

extension TransportError {
  /// Translates a result of libcurl. `detail` is its own text for this transfer, if it left one.
  init(_ result: CURLcode, detail: String?) {
    let text = curl_easy_strerror(result).map { String(cString: $0) } ?? "Unknown error"
    let sentence = detail.flatMap { $0.isEmpty ? nil : $0 } ?? text
    self.init(Self.kind(of: result), "\(sentence).", code: Int(result.rawValue))
  }

  private static func kind(of result: CURLcode) -> Kind {
    switch result {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
    case CURLE_COULDNT_CONNECT, CURLE_PROXY, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE:
      .connect
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT:
      .certificate
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED,
      CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED:
      .tls
    case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
      CURLE_SSL_SHUTDOWN_FAILED, CURLE_SEND_FAIL_REWIND, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      .reset
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_FILESIZE_EXCEEDED, kvcurl_too_large: .tooLarge
    case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT,
      CURLE_READ_ERROR, CURLE_ABORTED_BY_CALLBACK, CURLE_LOGIN_DENIED:
      .invalid
    case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION:
      .resources
    default: .malformed
    }
  }
}
