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
    try proving(identity, call) { (proven, rules) throws(ServerError) in
      try login(of: proven, rules, call)
    }
  }

  /// Runs `body` with whom the provider proves. An id token is used up, unless `body` throws.
  private func proving(
    _ identity: JSONValue, _ call: AuthenticatedRequest,
    run body: (ProvenIdentity, IdentityRules) throws(ServerError) -> Response
  ) throws(ServerError) -> Response {
    guard let provider = call.app.provider else {
      throw ServerError(.featureUnavailable, "users can only log in with a name and a password")
    }
    if let token = identity["kinveyAuth"]?["access_token"]?.stringValue {
      let flow = LoginFlow(provider, app: call.app.key, now: Timestamp.now().milliseconds / 1000)
      guard let proven = flow.identity(ofAccessToken: token) else {
        throw ServerError(.invalidCredentials, "the access token is unknown or has expired")
      }
      return try body(proven, provider.rules)
    }
    guard let openID = identity["openid"], let token = openID["id_token"]?.stringValue else {
      throw ServerError(
        .invalidCredentials, "_socialIdentity needs kinveyAuth.access_token or openid.id_token")
    }
    let proven: ProvenIdentity
    do throws(IdentityFailure) {
      proven = try provider.identity(
        ofToken: token, nonce: openID["nonce"]?.stringValue,
        accessToken: openID["access_token"]?.stringValue)
    } catch {
      throw ServerError(error)
    }
    do throws(ServerError) { return try body(proven, provider.rules) } catch {
      provider.release(token: token)
      throw error
    }
  }

  private func login(
    of proven: ProvenIdentity, _ rules: IdentityRules, _ call: AuthenticatedRequest
  ) throws(ServerError) -> Response {
    let app = call.app
    let session = try newSession(for: call.request)
    let user = try retrying { () throws(ServerError) in
      let account = try account(of: proven, rules, app: app)
      call.note?.subject = account.id
      // What the provider proved before all sessions of the user were ended opens no new one.
      guard account.ended == 0 || proven.issued &* 1000 > account.ended else {
        throw ServerError(
          .invalidCredentials,
          "the sessions of the user were ended after the provider has proven this: log in there again"
        )
      }
      try checkSessions(of: account.id, app: app.number)
      return try store.accounts.begin(session, of: account, app: app.number)
    }
    return Response.json(200, Self.adding(session.token, to: user))
  }

  // MARK: Users

  /// The account for an identity that a provider has proven: the one that is linked with them, or theirs by its id; made if it is missing
  /// and the rules say so. No name leads to an account: users choose their names themselves.
  private func account(
    of proven: ProvenIdentity, _ rules: IdentityRules, app: App
  ) throws(ServerError) -> Account {
    if let account = try store.accounts.find(identity: proven.key, of: app.number) {
      return try Self.enabled(account)
    }
    guard rules.createsUsers else {
      throw ServerError(
        .userNotFound, "no user is linked with whom the provider proves: see _identity of users")
    }
    // The id follows from the provider's name of the user, so no other user gets it.
    let id = proven.key
    if let account = try store.accounts.find(id: id, of: app.number) {
      return try Self.enabled(account)
    }
    var name = proven.name
    if try store.accounts.find(name: name, of: app.number) != nil {
      // The name belongs to another user, which must not keep this one out.
      name = "\(proven.name.prefix(200))~\(hexText(randomBytes(4)))"
    }
    let draft = try Self.draft(
      Payload(Array("{}".utf8)), id: id, replacing: [("username", JSONValue.string(name).bytes)])
    do throws(ServerError) {
      // No password matches this hash.
      _ = try store.accounts.create(
        draft, name: name, password: nobodysHash, session: nil, of: app.number)
    } catch {
      guard error.code == .userAlreadyExists,
        try store.accounts.find(id: id, of: app.number) == nil
      else { throw error }
      if try store.accounts.find(name: name, of: app.number) != nil {
        throw ServerError(.internalErrorRetry)
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

  // MARK: Links

  /// Links a user with an identity of the provider, which then logs in as this user. It takes proof of both sides: a session of the user
  /// with what the provider has proven; or the administrator's word. DELETE removes the link.
  func identity(_ call: AuthenticatedRequest, of id: String) throws(ServerError) -> Response {
    try call.requireUserOrMaster(id, to: "link a user with an identity")
    guard let account = try store.accounts.find(id: id, of: call.app.number), !account.isDisabled
    else { throw ServerError(.userNotFound) }
    guard call.request.method == .put else { return try link(nil, to: id, call) }
    let object = try Self.object(call.body)
    if call.isAdministrator, let subject = object["subject"]?.stringValue,
      let issuer = object["issuer"]?.stringValue
    {
      return try link(
        ProvenIdentity(issuer: issuer, subject: subject, name: "").key, to: id, call)
    }
    guard let identity = object["_socialIdentity"] else {
      throw ServerError(.incompleteRequestBody, "_socialIdentity is required")
    }
    return try proving(identity, call) { (proven, _) throws(ServerError) in
      try link(proven.key, to: id, call)
    }
  }

  private func link(
    _ key: String?, to id: String, _ call: AuthenticatedRequest
  ) throws(ServerError) -> Response {
    guard try store.accounts.link(key, to: id, of: call.app.number) else {
      throw ServerError(.userAlreadyExists, "another user is linked with this identity")
    }
    return Response(204)
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
