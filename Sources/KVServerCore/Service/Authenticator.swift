internal import KVBase

/// Reads in whose name a request acts.
enum Authenticator {
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
