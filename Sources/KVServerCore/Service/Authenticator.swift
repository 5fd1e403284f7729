internal import KVBase

/// Finds out in whose name a request acts. Safe from any thread.
struct Authenticator: Sendable {
  let sessions: any SessionStore

  /// The identity that `Authorization` claims.
  enum Claim {
    /// A proven one.
    case principal(Principal)
    /// The user of a session, if there is one of this token.
    case session(token: String)
  }

  /// Finds out who asks.
  func authenticate(
    _ header: String?, for app: App
  ) throws(ServerError) -> (principal: Principal, token: String?) {
    switch try Self.claim(header, for: app) {
    case .principal(let principal): return (principal, nil)
    case .session(let token):
      guard let session = try sessions.find(token), session.app == app.number else {
        throw ServerError(.invalidCredentials, "the session is unknown or has ended")
      }
      return (.user(id: session.user), token)
    }
  }

  /// Reads `Basic base64(key:secret)`, which is proven here, or `Kinvey token`, which is not.
  static func claim(_ header: String?, for app: App) throws(ServerError) -> Claim {
    let space = UInt8(ascii: " ")
    guard let header, let end = header.utf8.firstIndex(of: space) else {
      throw ServerError(.invalidCredentials, "the Authorization header is missing or malformed")
    }
    let value = header.utf8[end...].drop { $0 == space }
    switch header[..<end].lowercased() {
    case "basic": return .principal(try basic(Substring(value), app))
    case "kinvey": return .session(token: String(Substring(value)))
    default:
      throw ServerError(.invalidCredentials, "the scheme of Authorization must be Basic or Kinvey")
    }
  }

  private static func basic(_ value: Substring, _ app: App) throws(ServerError) -> Principal {
    let text = Base64.decode(value).flatMap { String(validating: $0, as: UTF8.self) }
    guard let text, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
      text.utf8[..<colon].elementsEqual(app.key.utf8)
    else {
      throw ServerError(.invalidCredentials, "Basic needs base64(appKey:secret) of this app")
    }
    let secret = String(text[text.utf8.index(after: colon)...])
    if isEqual(secret, app.secret) { return .app }
    if let master = app.masterSecret, isEqual(secret, master) { return .master }
    throw ServerError(.invalidCredentials)
  }
}
