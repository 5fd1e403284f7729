internal import KVJSON

/// Logging in and out.
extension Service {
  func login(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    let object = try Self.object(call.body)
    if let identity = object["_socialIdentity"] { return try login(with: identity, call) }
    guard let name = object["username"]?.stringValue,
      let password = object["password"]?.stringValue
    else { throw ServerError(.incompleteRequestBody, "username and password are required") }
    let attempt = LoginThrottle.Attempt(
      app: call.app.number, name: name, from: ClientAddress(call.request.client))
    if let seconds = throttle.wait(for: attempt) { throw ServerError.tooManyFailures(seconds) }
    let session = try newSession(for: call.request)
    let user = try retrying { () throws(ServerError) in
      guard let account = try verified(name, password, for: call) else {
        throttle.failed(attempt)
        throw ServerError(.invalidCredentials)
      }
      try checkSessions(of: account.id, app: call.app.number)
      return try store.accounts.begin(session, of: account, app: call.app.number)
    }
    throttle.succeeded(attempt)
    return Response.json(200, Self.adding(session.token, to: user))
  }

  /// Reads in whose name a request acts. Wrong secrets of apps are counted as failed logins are. A right one waits with the
  /// wrong ones only if it could be guessed.
  func proof(_ request: Request, for app: App) throws(ServerError) -> Authenticator.Proof {
    let header = request.headers[.authorization]
    let now = settings.liveClock()
    guard Authenticator.isBasic(header) else {
      return try Authenticator.proof(header, for: app, at: now)
    }
    let address = ClientAddress(request.client)
    func refuseIfTooMany() throws(ServerError) {
      guard let seconds = throttle.waitForSecrets(from: address) else { return }
      throw .tooManyRequests("too many wrong secrets came from this address", after: seconds)
    }
    if app.isGuessable { try refuseIfTooMany() }
    do throws(ServerError) { return try Authenticator.proof(header, for: app, at: now) } catch {
      try refuseIfTooMany()
      throttle.failedSecret(from: address)
      auditWrongSecret(request, app)
      throw error
    }
  }

  /// The same for what the request asks for. A master secret that is not good for that is refused, whatever the request looks like: all
  /// requests pass here.
  func proof(
    _ request: Request, for app: App, to route: Route
  ) throws(ServerError) -> Authenticator.Proof {
    let proof = try proof(request, for: app)
    guard let master = proof.master else { return proof }
    let wanted = route.scopes(for: request.method)
    guard master.scopes.isDisjoint(with: wanted) else { return proof }
    auditRefusal(of: master, request, to: route, in: app)
    throw .missingScope(wanted)
  }

  /// The account that a name and a password open; nil: none. It takes as long, whatever was wrong with them.
  private func verified(
    _ name: String, _ password: String, for call: AuthenticatedRequest
  ) throws(ServerError) -> Account? {
    let account = try store.accounts.find(name: name, of: call.app.number)
    // A name that no user has may be a password in the wrong field.
    call.note?.subject = account?.id
    let matches = PasswordHasher.matches(password, account?.password ?? nobodysHash)
    guard let account, matches, !account.isDisabled else { return nil }
    return account
  }

  /// A session that lasts as long as the settings say.
  func newSession(for request: Request) throws(ServerError) -> NewSession {
    NewSession(
      settings.sessionLife, device: try DeviceText.of(request.headers), address: request.client)
  }

  /// Throws if a user has as many sessions as they may have.
  func checkSessions(of user: String, app: Int64) throws(ServerError) {
    let most = settings.limits.sessionsPerUser
    guard most > 0 else { return }
    let known = try store.sessions.list(app: app, user: user, after: nil, limit: most)
    guard known.count >= most else { return }
    throw .tooManyRequests("the user has \(most) sessions; end some, or all", after: 3600)
  }

  func logout(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    let user = try call.user()
    call.note?.subject = user
    if let token = call.token {
      try store.sessions.end(token)
      try endListening(of: user, app: call.app.number, in: .one(token))
    }
    return Response(204)
  }

  /// Ends all sessions of a user: one's own, or any user's with the master secret.
  func endSessions(_ call: AuthenticatedRequest, of id: String) throws(ServerError) -> Response {
    try call.requireUserOrMaster(id, to: "end the user's sessions")
    guard try store.accounts.find(id: id, of: call.app.number) != nil else {
      throw ServerError(.userNotFound)
    }
    try store.sessions.endAll(app: call.app.number, user: id)
    try endListening(of: id, app: call.app.number, in: .allBut(nil))
    return Response(204)
  }
}

extension ServerError {
  /// A master secret is not good for something that takes one of these scopes.
  static func missingScope(_ wanted: Set<MasterScope>) -> ServerError {
    let names = MasterScope.names(wanted).joined(separator: " or ")
    return ServerError(
      .insufficientCredentials, "this needs a master secret with the scope \(names)")
  }
}
