internal import KVBase

/// What a log may say about one request once it has ended: nothing of its query, headers or body.
package struct RequestTrace: Sendable, Equatable {
  package var method: String
  /// The path of the URL, or what the request names in its place.
  package var path: String
  /// The answer's; nil: there is none.
  package var status: Int?
  /// Why there is no complete answer.
  package var failure: TransportError.Kind?
  package var milliseconds: Int
  /// The size of the answer's body, unpacked.
  package var bytes: Int

  /// One line, such as `GET /appdata/kid/things 200, 12 ms, 345 bytes`.
  package var text: String {
    let outcome = failure?.rawValue ?? status.map { "\($0)" } ?? "-"
    return "\(method) \(path) \(outcome), \(milliseconds) ms, \(bytes) bytes"
  }
}

/// Is told of each request once it has ended, on the thread that waited for it.
package typealias RequestObserver = @Sendable (RequestTrace) -> Void

/// Measures one request, from when it is made.
struct RequestTimer {
  private let method: String
  private let path: String
  private let start = monotonicNanoseconds()

  init(_ request: HTTPRequest) {
    method = request.method
    path = request.loggedPath ?? Self.path(of: request.url)
  }

  /// Logs the outcome: its head, or why there is none, and the bytes of the body.
  func trace(_ result: Result<HTTPHead, TransportError>, bytes: Int) -> RequestTrace {
    let (status, failure): (Int?, TransportError.Kind?) =
      switch result {
      case .success(let head): (head.status, nil)
      case .failure(let error): (nil, error.kind)
      }
    return RequestTrace(
      method: method, path: path, status: status, failure: failure,
      milliseconds: Int((monotonicNanoseconds() - start) / 1_000_000), bytes: bytes)
  }

  func trace(_ result: Result<HTTPResponse, TransportError>) -> RequestTrace {
    trace(result.map(\.head), bytes: (try? result.get().body.count) ?? 0)
  }

  private static func path(of url: String) -> String {
    let parts = url.utf8.prefix { $0 != UInt8(ascii: "?") }
      .split(separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
    return parts.count < 4 ? "/" : "/" + String(decoding: parts[3], as: UTF8.self)
  }
}
