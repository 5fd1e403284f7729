internal import KVBase

/// Answers that are made piece by piece while they are sent.
extension Service {
  /// The same answer, which ends as soon as the request would be refused if it came again: its session has ended, its secret was
  /// removed, or the rule of the collection is another one. A client that reads slowly keeps nothing open by that.
  func ending(
    _ response: Response, with call: AuthenticatedRequest, _ route: Route
  ) throws(ServerError) -> Response {
    guard case .stream(let source, let asker) = response.body else { return response }
    let rule = try readRule(call, route)
    let watched = WatchedSource(source) { [self] () throws(ServerError) in
      try checkIsServed(call, route)
      guard try readRule(call, route) == rule else { throw ServerError(.insufficientCredentials) }
    }
    var response = response
    response.body = .stream(watched, for: asker)
    return response
  }

  /// Throws unless the app is served with the secret of a request, which is still good for it.
  private func checkIsServed(
    _ call: AuthenticatedRequest, _ route: Route
  ) throws(ServerError) {
    guard let app = apps.find(call.app.key)?.app, app.number == call.app.number else {
      throw ServerError(.appNotFound)
    }
    switch call.proven {
    case .app?:
      guard app.secret.hasSameBytes(as: call.app.secret) else {
        throw ServerError(.invalidCredentials)
      }
    case .master?:
      let wanted = route.scopes(for: call.request.method)
      let known = app.masterSecrets.first { $0.sha256 == call.master?.sha256 }
      guard let known, known.isValid(at: settings.liveClock()),
        !known.scopes.isDisjoint(with: wanted)
      else { throw ServerError(.invalidCredentials) }
    case .user?, nil: break
    }
  }

  /// The rule by which a user reads what the request is for; nil: there is none. Throws if the user's session has ended.
  private func readRule(
    _ call: AuthenticatedRequest, _ route: Route
  ) throws(ServerError) -> Permissions.Rule? {
    guard let token = call.token else { return nil }
    let principal = try store.sessions.principal(of: .session(token: token), in: call.app.number)
    switch route {
    case .collection(_, let name), .delta(_, let name):
      let permissions = try store.collections.permissions(of: call.collection(name))
      return try Viewer(principal: principal, permissions: permissions).rule(for: .read)
    default: return nil
    }
  }
}

/// A long body that is looked after: before each piece but the first, which is made with the answer, a check may end it.
private final class WatchedSource: BodySource, @unchecked Sendable {
  // `@unchecked`: one thread at a time asks for pieces.
  private var isFirst = true
  private let source: any BodySource
  private let check: @Sendable () throws(ServerError) -> Void

  init(_ source: any BodySource, check: @escaping @Sendable () throws(ServerError) -> Void) {
    self.source = source
    self.check = check
  }

  func nextPiece() throws -> Payload? {
    if !isFirst { try check() }
    isFirst = false
    return try source.nextPiece()
  }
}
