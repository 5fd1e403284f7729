internal import KVJSON

/// The shape that errors have, and the headers that all answers have.
extension Response {
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
  mutating func mark(for call: AuthenticatedRequest, maxEntityBytes: Int) {
    headers.append(("X-Kinvey-Request-Id", call.request.id))
    headers.append(("X-Kinvey-API-Version", String(call.apiVersion)))
    headers.append(Service.batchHeader)
    headers.append(Service.tokensHeader)
    headers.append(Service.collationHeader)
    headers.append(Service.operatorsHeader)
    headers.append(("X-Kvstored-Max-Entity", String(maxEntityBytes)))
  }
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
