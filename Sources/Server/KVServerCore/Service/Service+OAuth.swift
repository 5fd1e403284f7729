internal import KVBase
internal import KVJSON

/// Logins on a provider's page: OAuth 2.0 with an authorization code (RFC 6749), towards clients.
extension Service {
  /// Why there are no tokens (RFC 6749, section 5.2).
  private struct OAuthError: Error {
    var code: String
    var description: String
    var status = 400
    /// Seconds after which to try again.
    var retryAfter: Int?

    static func client(_ description: String) -> OAuthError {
      OAuthError(code: "invalid_client", description: description, status: 401)
    }
  }

  func oauth(_ request: Request, _ call: OAuthCall) -> Response {
    var response: Response
    do throws(OAuthError) {
      response =
        switch call {
        case .page: try page(request)
        case .callback: try comeBack(request)
        case .token: try tokens(request)
        }
    } catch {
      response = Response.json(
        error.status,
        ["error": .string(error.code), "error_description": .string(error.description)])
      if let seconds = error.retryAfter ?? (error.status == 503 ? 1 : nil) {
        response.headers.append(("Retry-After", String(seconds)))
      }
      if error.status == 401 {
        response.headers.append(("WWW-Authenticate", "Basic realm=\"kvstored\""))
      }
    }
    response.headers.append(("X-Kinvey-Request-Id", request.id))
    response.headers += [("Referrer-Policy", "no-referrer")]
    return response
  }

  private func flow(_ clientId: String?) throws(OAuthError) -> (app: App, flow: LoginFlow) {
    guard let clientId, let served = apps.find(clientId) else {
      throw .client("client_id has to be the key of an app")
    }
    guard let provider = served.app.provider, provider.rules.callback != nil else {
      throw .client("this app has no login page")
    }
    return (served.app, LoginFlow(provider, app: served.app.key, now: Self.now))
  }

  private static var now: Int64 { Timestamp.now().milliseconds / 1000 }

  // MARK: Browsers

  /// Sends a browser to the provider. Nothing is sent anywhere before it is known that the app may have it sent there.
  private func page(_ request: Request) throws(OAuthError) -> Response {
    let target = request.target
    let (_, flow) = try flow(target["client_id"])
    guard let redirect = target["redirect_uri"],
      flow.provider.rules.redirects.contains(where: { $0.hasSameBytes(as: redirect) })
    else {
      throw OAuthError(
        code: "invalid_request", description: "redirect_uri is not one that the app may use")
    }
    let wish = LoginFlow.Wish(
      redirect: redirect, state: target["state"], challenge: target["code_challenge"])
    guard target["response_type"] == "code" else {
      return Self.back(wish, error: "unsupported_response_type")
    }
    guard wish.challenge == nil || target["code_challenge_method"] == "S256" else {
      return Self.back(wish, error: "invalid_request")
    }
    do throws(IdentityFailure) { return Self.redirect(to: try flow.page(wish)) } catch {
      log.warning("request \(request.id): \(Self.sentence(error))")
      return Self.back(wish, error: "temporarily_unavailable")
    }
  }

  /// Sends a browser that comes from the provider on to the client.
  private func comeBack(_ request: Request) throws(OAuthError) -> Response {
    let target = request.target
    guard let state = target["state"], let (flow, wish, members) = begun(state) else {
      throw OAuthError(
        code: "invalid_request", description: "this login was not begun here, or too long ago")
    }
    guard let code = target["code"], !code.isEmpty else {
      // Words of the provider's, but only those that are known.
      let words = ["access_denied", "temporarily_unavailable", "login_required", "invalid_scope"]
      let word = words.first { $0 == target["error"] }
      return Self.back(wish, error: word ?? "server_error")
    }
    return Self.back(wish, with: [("code", flow.code(code, members))])
  }

  /// The login whose state this is, of whichever app.
  private func begun(
    _ state: String
  ) -> (flow: LoginFlow, wish: LoginFlow.Wish, members: JSONObject)? {
    for served in apps.all {
      guard let provider = served.app.provider else { continue }
      let flow = LoginFlow(provider, app: served.app.key, now: Self.now)
      if let (wish, members) = flow.wish(state) { return (flow, wish, members) }
    }
    return nil
  }

  private static func back(_ wish: LoginFlow.Wish, error: String) -> Response {
    back(wish, with: [("error", error)])
  }

  private static func back(
    _ wish: LoginFlow.Wish, with items: [(name: String, value: String)]
  ) -> Response {
    let state = wish.state.map { [(name: "state", value: $0)] } ?? []
    return redirect(to: addressed(wish.redirect, items + state))
  }

  private static func redirect(to address: String) -> Response {
    Response(302, headers: [("Location", address)])
  }

  // MARK: Clients

  private func tokens(_ request: Request) throws(OAuthError) -> Response {
    let text = request.body.withBytes { String(validating: $0, as: UTF8.self) }
    guard let form = text.flatMap(Target.form) else {
      throw OAuthError(code: "invalid_request", description: "the body is no form")
    }
    let (app, flow) = try flow(form["client_id"])
    let claim: Claim?
    do throws(ServerError) {
      claim = try proof(request, for: app, to: .oauth(.token)).claim
    } catch {
      if error.code == .tooManyRequests {
        throw OAuthError(
          code: "temporarily_unavailable", description: error.debug, status: 429,
          retryAfter: error.retryAfter)
      }
      claim = nil
    }
    guard case .principal? = claim
    else { throw .client("Authorization has to be Basic, with the key and the secret of the app") }
    let grant: ProviderGrant
    do throws(IdentityFailure) { grant = try Self.grant(form, flow) } catch {
      switch error {
      case .refused(let why): throw OAuthError(code: "invalid_grant", description: why)
      case .unavailable:
        log.warning("request \(request.id): \(Self.sentence(error))")
        throw OAuthError(
          code: "temporarily_unavailable",
          description: "the provider of identities cannot be asked now", status: 503)
      }
    }
    var answer: JSONObject = [
      "access_token": .string(flow.accessToken(of: grant)), "token_type": "bearer",
      "expires_in": .int(grant.seconds),
    ]
    answer["refresh_token"] = flow.refreshToken(of: grant).map { .string($0) }
    return Response.json(200, .object(answer))
  }

  private static func grant(
    _ form: [Target.Parameter], _ flow: LoginFlow
  ) throws(IdentityFailure) -> ProviderGrant {
    switch form["grant_type"] {
    case "authorization_code":
      try flow.grant(
        ofCode: form["code"] ?? "", redirect: form["redirect_uri"] ?? "",
        verifier: form["code_verifier"])
    case "refresh_token": try flow.grant(ofRefreshToken: form["refresh_token"] ?? "")
    default: throw .refused("grant_type has to be authorization_code or refresh_token")
    }
  }

  private static func sentence(_ failure: IdentityFailure) -> String {
    switch failure {
    case .refused(let why), .unavailable(let why): "login by a provider: \(why)"
    }
  }
}
