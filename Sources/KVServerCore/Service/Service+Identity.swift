internal import KVBase
internal import KVJSON

/// Logging in with what a provider has proven.
extension Service {
  /// Whether a login is one by a provider, for which the network may be waited for.
  static func isByProvider(_ request: Request) -> Bool {
    // The token of a provider is not longer; event threads look at it.
    guard request.body.count <= 64 << 10 else { return false }
    return (try? object(request.body))?["_socialIdentity"] != nil
  }

  /// Logs in with `{"kinveyAuth":{"access_token":…}}`, or with `{"openid":{"id_token":…}}`.
  func login(
    with identity: JSONValue, _ call: AuthenticatedRequest
  ) throws(ServerError) -> Response {
    guard let provider = call.app.provider else {
      throw ServerError(.featureUnavailable, "users can only log in with a name and a password")
    }
    if let token = identity["kinveyAuth"]?["access_token"]?.stringValue {
      let flow = LoginFlow(provider, app: call.app.key, now: Timestamp.now().milliseconds / 1000)
      guard let proven = flow.identity(ofAccessToken: token) else {
        throw ServerError(.invalidCredentials, "the access token is unknown or has expired")
      }
      return try login(of: proven, provider.rules, app: call.app)
    }
    guard let openID = identity["openid"], let token = openID["id_token"]?.stringValue else {
      throw ServerError(
        .invalidCredentials, "_socialIdentity needs kinveyAuth.access_token or openid.id_token")
    }
    return try login(withToken: token, openID, provider, app: call.app)
  }

  /// Uses an id token up, unless the login fails.
  private func login(
    withToken token: String, _ openID: JSONValue, _ provider: any IdentityProvider, app: App
  ) throws(ServerError) -> Response {
    let proven: ProvenIdentity
    do throws(IdentityFailure) {
      proven = try provider.identity(
        ofToken: token, nonce: openID["nonce"]?.stringValue,
        accessToken: openID["access_token"]?.stringValue)
    } catch {
      throw ServerError(error)
    }
    do throws(ServerError) { return try login(of: proven, provider.rules, app: app) } catch {
      provider.release(token: token)
      throw error
    }
  }

  private func login(
    of proven: ProvenIdentity, _ rules: IdentityRules, app: App
  ) throws(ServerError) -> Response {
    let session = newSession()
    let user = try retrying { () throws(ServerError) in
      let account = try account(of: proven, rules, app: app)
      return try store.accounts.begin(session, of: account, app: app.number)
    }
    return Response.json(200, Self.adding(session.token, to: user))
  }

  // MARK: Users

  /// The account of somebody whom a provider has proven; made if it is missing and the rules say so.
  ///
  /// Only this names its id, which follows from the provider's name of him: nobody else gets it, and no name that others choose
  /// leads to it.
  private func account(
    of proven: ProvenIdentity, _ rules: IdentityRules, app: App
  ) throws(ServerError) -> Account {
    guard rules.createsUsers else {
      let account = try store.accounts.find(name: proven.name, of: app.number)
      guard let account else {
        throw ServerError(.userNotFound, "there is no user of the name that the provider proves")
      }
      return try Self.enabled(account)
    }
    let id = Self.id(of: proven)
    if let account = try store.accounts.find(id: id, of: app.number) {
      return try Self.enabled(account)
    }
    let draft = try Self.draft(
      Payload(Array("{}".utf8)), id: id,
      replacing: [("username", JSONValue.string(proven.name).bytes)])
    do throws(ServerError) {
      // Nobody knows the password of this hash.
      _ = try store.accounts.create(
        draft, name: proven.name, password: nobodysHash, session: nil, of: app.number)
    } catch {
      guard error.code == .userAlreadyExists,
        try store.accounts.find(id: id, of: app.number) == nil
      else { throw error }
      if try store.accounts.find(name: proven.name, of: app.number) != nil {
        throw ServerError(.userAlreadyExists, "another user has the name that the provider proves")
      }
      throw ServerError(.insufficientCredentials, "the user was deleted for good")
    }
    guard let account = try store.accounts.find(id: id, of: app.number) else {
      throw ServerError(.internalErrorRetry)
    }
    return account
  }

  private static func enabled(_ account: Account) throws(ServerError) -> Account {
    guard !account.isDisabled else {
      throw ServerError(.invalidCredentials, "the user is disabled")
    }
    return account
  }

  /// As long as a hash can be cut without two of them ever being the same.
  private static func id(of proven: ProvenIdentity) -> String {
    hexText(Array(SHA256.hash("\(proven.issuer)\0\(proven.subject)".utf8).prefix(16)))
  }
}

extension ServerError {
  init(_ failure: IdentityFailure) {
    switch failure {
    case .refused(let why): self.init(.invalidCredentials, why)
    case .unavailable(let why):
      self.init(.stopping, "the provider of identities cannot be asked now", cause: why)
    }
  }
}
