internal import KVBase

/// Reads in whose name a request acts.
enum Authenticator {
  /// In whose name a request acts, and by which master secret, if by one.
  struct Proof {
    var claim: Claim
    var master: MasterSecret?
  }

  /// Reads `Basic base64(key:secret)`, which is proven here, or `Kinvey token`, which is not. `now`: in milliseconds since 1970.
  static func proof(
    _ header: String?, for app: App, at now: Int64
  ) throws(ServerError) -> Proof {
    let space = UInt8(ascii: " ")
    guard let header, let end = header.utf8.firstIndex(of: space) else {
      throw ServerError(.invalidCredentials, "the Authorization header is missing or malformed")
    }
    let value = header.utf8[end...].drop { $0 == space }
    switch header[..<end].lowercased() {
    case "basic": return try basic(Substring(value), app, at: now)
    case "kinvey": return Proof(claim: .session(token: String(Substring(value))))
    default:
      throw ServerError(.invalidCredentials, "the scheme of Authorization must be Basic or Kinvey")
    }
  }

  /// The token of `Kinvey token`; nil: the header is missing, or is another.
  static func session(_ header: String?) -> String? {
    guard let header, header.utf8.prefix(7).map({ $0 | 0x20 }).elementsEqual("kinvey ".utf8) else {
      return nil
    }
    return String(Substring(header.utf8.dropFirst(7).drop { $0 == UInt8(ascii: " ") }))
  }

  /// Whether a header has a secret of an app.
  static func isBasic(_ header: String?) -> Bool {
    header?.utf8.prefix(6).map { $0 | 0x20 }.elementsEqual("basic ".utf8) == true
  }

  /// Whether a header has a secret for this app, right or wrong.
  static func names(_ app: App, _ header: String?) -> Bool {
    guard isBasic(header), let header else { return false }
    let value = header.utf8.dropFirst(6).drop { $0 == UInt8(ascii: " ") }
    return secret(in: Substring(value), for: app) != nil
  }

  /// The secret that stands beside the key of this app.
  private static func secret(in value: Substring, for app: App) -> String? {
    let text = Base64.decode(value).flatMap { String(validating: $0, as: UTF8.self) }
    guard let text, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
      text.utf8[..<colon].elementsEqual(app.key.utf8)
    else { return nil }
    return String(text[text.utf8.index(after: colon)...])
  }

  private static func basic(
    _ value: Substring, _ app: App, at now: Int64
  ) throws(ServerError) -> Proof {
    guard let secret = secret(in: value, for: app) else {
      throw ServerError(.invalidCredentials, "Basic needs base64(appKey:secret) of this app")
    }
    if isEqual(secret, app.secret) { return Proof(claim: .principal(.app)) }
    let hash = MasterSecret.hash(secret)
    guard let master = app.masterSecrets.first(where: { isEqual($0.sha256, hash) }) else {
      throw ServerError(.invalidCredentials)
    }
    guard master.isValid(at: now) else {
      throw ServerError(.invalidCredentials, "this master secret has expired")
    }
    return Proof(claim: .principal(.master), master: master)
  }
}
