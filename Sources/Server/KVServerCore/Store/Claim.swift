internal import KVBase

/// In whose name a request says that it acts.
///
/// A store that is not local finds the session in the statement that does what is asked. So a session that has ended on
/// another server is none here either, and looking it up takes no round trip of its own.
package enum Claim: Sendable {
  /// It is proven.
  case principal(Principal)
  /// That of the user whose session has this token, if there is one.
  case session(token: String)

  /// Who that is. `session`: the one of the claim's token that a store has found. Throws if it is none any more, or is one of
  /// another app.
  package func principal(_ session: Session?, in app: Int64) throws(ServerError) -> Principal {
    switch self {
    case .principal(let principal): return principal
    case .session:
      guard let session, session.app == app, session.isValid(at: .now()) else {
        throw .noSession
      }
      return .user(id: session.user)
    }
  }
}

extension ServerError {
  package static let noSession = ServerError(
    .invalidCredentials, "the session is unknown or has ended")
}

extension SessionStore {
  /// Finds out who claims this.
  package func principal(of claim: Claim, in app: Int64) throws(ServerError) -> Principal {
    guard case .session(let token) = claim else { return try claim.principal(nil, in: app) }
    return try claim.principal(try find(token), in: app)
  }
}
