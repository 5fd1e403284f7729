internal import KVBase

/// A request that is understood, and proven as far as that takes no statement of its own: what the operations work on.
struct AuthenticatedRequest: Sendable {
  let request: Request
  let app: App
  /// In whose name it acts, for a store that finds that out along with what it is asked for.
  let claim: Claim
  /// The token of the user's session.
  let token: String?
  /// The master secret that has proven it.
  let master: MasterSecret?
  let apiVersion: Int
  /// What the operation adds to its line of the audit log; nil: there is no such log.
  var note: AuditNote?
  /// The filter that business logic has set in place of the client's; nil: the client's.
  var filter: String?
  /// What business logic makes of entities that are about to be sent, with commas between; nil: nothing.
  var afterFetch: (@Sendable (Payload) throws(ServerError) -> [UInt8])?

  var body: Payload { request.body }

  /// How long work for it may go on.
  var budget: WorkBudget { request.budget }

  /// A collection of the app.
  func collection(_ name: String) -> CollectionKey { CollectionKey(app: app.number, name: name) }

  /// Nil: there is a session to be looked up.
  var proven: Principal? { if case .principal(let principal) = claim { principal } else { nil } }

  func principal() throws(ServerError) -> Principal {
    guard let proven else {
      throw ServerError(.invalidCredentials, "the session was not looked up")
    }
    return proven
  }

  /// The client that the request is counted for: the user or, without a session, the address.
  var asker: Asker {
    switch claim {
    case .principal(.user(let id)): .user(id, app: app.number)
    case .principal: .address(request.client)
    case .session(let token): .session(token)
    }
  }

  /// A parameter of the URL, decoded.
  subscript(_ parameter: String) -> String? {
    if let filter, parameter == "query" { return filter }
    return request.target[parameter]
  }

  /// The id of the user whose session this is.
  func user() throws(ServerError) -> String {
    guard case .user(let id)? = proven else {
      throw ServerError(.insufficientCredentials, "this needs a user's session")
    }
    return id
  }

  /// Whether this is a session of the user with this id.
  func isUser(_ id: String) -> Bool {
    guard case .user(let own)? = proven else { return false }
    return own.hasSameBytes(as: id)
  }

  var isAdministrator: Bool { proven == .master }

  /// The token of a session of this very user.
  func session(of user: String) throws(ServerError) -> String {
    guard isUser(user), let token else {
      throw ServerError(.insufficientCredentials, "this needs a session of this user")
    }
    return token
  }

  /// Throws unless a user asks this for their own account, or the administrator does.
  func requireUserOrMaster(_ id: String, to action: String) throws(ServerError) {
    guard isAdministrator || isUser(id) else {
      throw ServerError(
        .insufficientCredentials, "only the user and the master secret can \(action)")
    }
  }

  /// Throws if a master secret has proven the request that is not good for this. The route has decided that already, unless what a
  /// request does depends on more than its route.
  func requireScope(_ scope: MasterScope) throws(ServerError) {
    guard master?.scopes.contains(scope) != false else { throw .missingScope([scope]) }
  }

  func requireMaster() throws(ServerError) {
    guard isAdministrator else {
      throw ServerError(.insufficientCredentials, "this needs the master secret")
    }
  }
}
