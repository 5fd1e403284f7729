internal import KVHTTP
internal import KVJSON
package import KVSync
internal import KVTransport

/// The authorization server (Mobile Identity Connect): OAuth 2.0 with an authorization code. Safe from any thread.
package final class KinveyAuthorization: Authorization {
  private let service: KinveyService

  package init(_ service: KinveyService) { self.service = service }

  /// The page on which a user logs in; it ends at `redirectURI` with `code` and `state` in its query.
  /// `clientId` nil: the app key.
  package func page(redirectURI: String, clientId: String?, state: String?) -> String {
    var items = [
      ("client_id", clientId ?? service.configuration.appKey), ("redirect_uri", redirectURI),
      ("response_type", "code"), ("scope", "openid"),
    ]
    if let state { items.append(("state", state)) }
    return service.endpoint.authorization("auth") + "?" + Self.form(items)
  }

  /// Changes the code that came to `redirectURI` into a grant. A code is good for one time.
  package func grant(
    code: String, redirectURI: String, clientId: String?, call: Call
  ) throws(StoreError) -> Grant {
    let clientId = clientId ?? service.configuration.appKey
    return try token(
      [("grant_type", "authorization_code"), ("code", code)], clientId: clientId,
      redirectURI: redirectURI,
      refreshToken: nil, call)
  }

  /// A new grant for an old one. Fails with `unauthorized` if there will be none any more.
  package func renewed(_ grant: Grant, _ call: Call) throws(StoreError) -> Grant {
    guard let refreshToken = grant.refreshToken else {
      throw StoreError(.unauthorized, "The session cannot be renewed.")
    }
    return try token(
      [("grant_type", "refresh_token"), ("refresh_token", refreshToken)],
      clientId: grant.clientId, redirectURI: grant.redirectURI, refreshToken: refreshToken, call)
  }

  package func credentials(of grant: Grant) -> [UInt8] {
    let identity: JSONObject = ["kinveyAuth": ["access_token": .string(grant.accessToken)]]
    return JSONValue.object(["_socialIdentity": .object(identity)]).bytes
  }

  /// Asks for a grant. `refreshToken` stays in use if the answer brings no other.
  private func token(
    _ items: [(String, String)], clientId: String, redirectURI: String, refreshToken old: String?,
    _ call: Call
  ) throws(StoreError) -> Grant {
    let credentials = KinveyCredentials.basic(
      user: clientId, secret: service.configuration.appSecret)
    let form = Self.form(items + [("client_id", clientId), ("redirect_uri", redirectURI)])
    let headers = try service.headers(credentials, call)
    // Once: a code, or a refresh token that changes with each use, is of no use the second time.
    var request = service.request(
      "POST", service.endpoint.authorization("token"), headers: headers,
      body: .once(Array(form.utf8)))
    request.headers.removeAll { $0.name == "Content-Type" }
    request.headers.append(HTTPHeader("Content-Type", "application/x-www-form-urlencoded"))
    let response = try service.transport.exchange(request, for: call)
    guard response.head.isSuccess else {
      let secrets = headers.secrets + items.dropFirst().map(\.1)
      throw KinveyErrors.authorization(response.head, response.body, hiding: secrets)
    }
    let answer = try response.json()
    guard let access = answer["access_token"]?.stringValue, Provenance.isToken(access)
    else {
      throw KinveyErrors.unusable(response.head, "The authorization server's answer has no token.")
    }
    return Grant(
      accessToken: access, refreshToken: answer["refresh_token"]?.stringValue ?? old,
      clientId: clientId, redirectURI: redirectURI)
  }

  private static func form(_ items: [(String, String)]) -> String {
    items.map { "\($0.0)=\(PercentEncoding.value($0.1))" }.joined(separator: "&")
  }
}
