internal import KVBase
internal import KVJSON
internal import KVSync
internal import KVTransport

/// What requests to an API are allowed by: a key, a signature, or a token of a provider. Safe from any thread.
final class AppSyncAuthorizer: Sendable {
  /// Headers, and the token among them, if that is what they have.
  struct Allowance {
    let headers: [HTTPHeader]
    var token: String?
  }

  private let configuration: AppSyncConfiguration
  private let tokens: [AuthorizationMode: TokenSource]

  init(_ configuration: AppSyncConfiguration) {
    self.configuration = configuration
    var tokens: [AuthorizationMode: TokenSource] = [:]
    for (mode, credential) in configuration.credentials {
      guard case .token(let token) = credential else { continue }
      tokens[mode] = TokenSource(provider: mode.rawValue, token: token)
    }
    self.tokens = tokens
  }

  func setTokenProvider(_ provide: TokenProvider?) {
    for source in tokens.values { source.setProvider(provide) }
  }

  /// The headers of a request by HTTP with this body, which is JSON.
  func headers(
    for body: [UInt8], as mode: AuthorizationMode, _ call: Call
  ) throws(StoreError) -> Allowance {
    let type = HTTPHeader("Content-Type", "application/json")
    let (_, host, path) = configuration.address
    let signed = [HTTPHeader("content-type", type.value), HTTPHeader("host", host)]
    let proof = try proof(mode, call) { $0.signed(signed, path: path, body: body) }
    return Allowance(headers: [type] + proof.headers, token: proof.token)
  }

  /// What a message over the WebSocket, or its upgrade, is allowed by: `path` and `body` are what a signature covers.
  func realtimeHeaders(
    path: String, body: [UInt8], as mode: AuthorizationMode, _ call: Call
  ) throws(StoreError) -> Allowance {
    let host = HTTPHeader("host", configuration.address.host)
    let fixed = [
      HTTPHeader("accept", "application/json, text/javascript"),
      HTTPHeader("content-encoding", "amz-1.0"),
      HTTPHeader("content-type", "application/json; charset=UTF-8"), host,
    ]
    let proof = try proof(mode, call) {
      Array(fixed.dropLast()) + $0.signed(fixed, path: path, body: body)
    }
    return Allowance(headers: [host] + proof.headers, token: proof.token)
  }

  private func proof(
    _ mode: AuthorizationMode, _ call: Call, signing: (RequestSigner) -> [HTTPHeader]
  ) throws(StoreError) -> Allowance {
    switch configuration.credentials[mode] {
    case .apiKey(let key): return Allowance(headers: [HTTPHeader("x-api-key", key)])
    case .iam(let credentials, let region):
      return Allowance(headers: signing(RequestSigner(credentials: credentials, region: region)))
    case .token, nil:
      guard let token = try tokens[mode]?.token(call) else {
        throw StoreError(.unauthorized, "The client has no credentials of \(mode.rawValue).")
      }
      return Allowance(headers: [HTTPHeader("Authorization", token)], token: token)
    }
  }

  /// What the token of a mode says of the caller; nil: it has none, or one that says nothing.
  func claims(as mode: AuthorizationMode, _ call: Call) throws(StoreError) -> JSONValue? {
    try tokens[mode].flatMap { (source) throws(StoreError) in
      TokenSource.claims(of: try source.token(call))
    }
  }

  /// Runs a request in a mode; once more if the backend has refused its token and there is another one.
  func renewing<R>(
    _ mode: AuthorizationMode, _ call: Call, allowance: () throws(StoreError) -> Allowance,
    sending request: (Allowance) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let first = try allowance()
    do throws(StoreError) { return try request(first) } catch {
      guard error.kind == .unauthorized, let refused = first.token, let source = tokens[mode],
        try source.replacement(of: refused, call) != nil
      else { throw error }
    }
    return try request(try allowance())
  }
}
