internal import KVServerCore

/// The origins whose web pages may use the server: the Fetch standard's CORS. By default none.
///
/// Credentials travel in `Authorization`, which pages set themselves; cookies are not used, so that a page can do no more
/// than its user's token lets it.
package struct CrossOriginPolicy: Sendable {
  /// Stands for every origin.
  package static let any = "*"
  /// How many seconds a browser may remember what is allowed.
  private static let seconds = 7200

  private let origins: [String]

  /// `origins`: such as `https://app.example`, or `*`.
  package init(_ origins: [String] = []) { self.origins = origins }

  /// Whether a text is an origin as browsers write it: scheme, host and port, and nothing behind.
  package static func isOrigin(_ text: String) -> Bool {
    guard text != any else { return true }
    for scheme in ["http://", "https://"] where text.hasPrefix(scheme) {
      let host = text.dropFirst(scheme.count)
      return !host.isEmpty
        && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@*".utf8.contains($0) }
    }
    return false
  }

  /// What an answer to a page of this origin carries.
  func headers(for origin: String?) -> [(name: String, value: String)] {
    guard !origins.isEmpty else { return [] }
    guard !origins.contains(Self.any) else {
      return origin == nil ? [] : Self.permission(Self.any)
    }
    // Caches must not give one page what was answered to another.
    let varying = [(name: "Vary", value: "Origin")]
    guard let origin, origins.contains(where: { $0.utf8.elementsEqual(origin.utf8) }) else {
      return varying
    }
    return varying + Self.permission(origin)
  }

  private static func permission(_ origin: String) -> [(name: String, value: String)] {
    [
      ("Access-Control-Allow-Origin", origin),
      ("Access-Control-Expose-Headers", "*"),
    ]
  }

  /// The answer to the question of a browser whether a request that a page wants to make is allowed; nil: this is no
  /// such question, or nothing is allowed.
  func preflight(_ request: Request) -> Response? {
    guard !origins.isEmpty, request.method == .options, request.headers[.origin] != nil,
      request.headers[.requestedMethod] != nil
    else { return nil }
    return Response(
      204,
      headers: [
        ("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE"),
        ("Access-Control-Allow-Headers", Self.allowed(request.headers[.requestedHeaders])),
        ("Access-Control-Max-Age", String(Self.seconds)),
        ("X-Kinvey-Request-Id", request.id),
      ])
  }

  /// All headers that the page wants to send: what the server does not read does no harm.
  private static func allowed(_ headers: String?) -> String {
    let usual = "Authorization, Content-Type, X-Kinvey-API-Version"
    guard let headers, headers.utf8.count <= 4096,
      headers.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
    else { return usual }
    return headers
  }
}
