internal import KVJSON

/// Responses in JSON, and the shape that errors have.
extension Response {
  static func json(_ status: Int, _ value: JSONValue) -> Response {
    json(status, Payload(value.bytes))
  }

  static func json(_ status: Int, _ body: Payload) -> Response {
    Response(status, .whole(body), headers: [contentType])
  }

  static func json(_ status: Int, _ bytes: [UInt8]) -> Response { json(status, Payload(bytes)) }

  /// An error in the protocol's shape.
  static func error(_ error: ServerError, requestId: String) -> Response {
    var response = json(error.status, .object(error.json))
    if let allow = error.allow { response.headers.append(("Allow", allow)) }
    if let seconds = error.retryAfter {
      response.headers.append(("Retry-After", String(seconds)))
    }
    if error.code == .invalidCredentials {
      response.headers.append(("WWW-Authenticate", "Basic realm=\"kvstored\""))
    }
    if !requestId.isEmpty { response.headers.append(("X-Kinvey-Request-Id", requestId)) }
    return response
  }

  static func error(_ error: ServerError, to request: Request) -> Response {
    var response = Self.error(error, requestId: request.id)
    let version = (try? APIVersion.read(request.headers[.apiVersion])) ?? APIVersion.newest
    response.headers.append(("X-Kinvey-API-Version", String(version)))
    return response
  }

  /// Adds the headers that every answer carries.
  mutating func mark(for call: AuthenticatedRequest) {
    headers.append(("X-Kinvey-Request-Id", call.request.id))
    headers.append(("X-Kinvey-API-Version", String(call.apiVersion)))
    headers.append(Service.batchHeader)
  }

  private static let contentType = (name: "Content-Type", value: "application/json; charset=utf-8")
}

extension ServerError {
  /// The body of an answer that reports this error.
  var json: JSONObject {
    [
      "error": .string(code.rawValue), "description": .string(description),
      "debug": .string(debug),
    ]
  }
}

/// `X-Kinvey-API-Version`.
enum APIVersion {
  static let newest = 6
  /// From this one on, arrays can be posted.
  static let multiInsert = 5
  /// Up to this one, signing up also logs in.
  static let lastWithTokenAtSignup = 5

  /// The version a request is made for; the oldest if it does not say.
  static func read(_ header: String?) throws(ServerError) -> Int {
    guard let header else { return 1 }
    guard let version = Int(header), version >= 1 else {
      throw ServerError(
        .apiVersionNotAvailable, "X-Kinvey-API-Version is a number from 1 to \(newest)")
    }
    guard version <= newest else {
      throw ServerError(.apiVersionNotImplemented, "the newest version is \(newest)")
    }
    return version
  }
}
