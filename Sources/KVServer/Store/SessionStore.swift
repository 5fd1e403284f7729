internal import KVBase

/// The sessions of users who are logged in.
///
/// A session belongs to one generation of its user's account. Whatever ends all sessions of a user – a new password,
/// a deletion – makes a new generation, in the transaction that does it; a session of another generation is none.
protocol SessionStore: Sendable {
  /// The session of a token; nil if there is none any more.
  func find(_ token: String) throws(ServerError) -> Session?

  /// Ends one session.
  func end(_ token: String) throws(ServerError)

  /// Ends the sessions of a user.
  func endAll(app: Int64, user: String) throws(ServerError)
}

struct Session: Sendable, Equatable {
  var app: Int64
  var user: String
  /// The generation of the account when the session began.
  var generation: Int64
  /// When it ends, in milliseconds since 1970; nil: not by itself.
  var expires: Int64?

  func isValid(at now: Timestamp) -> Bool { expires.map { now.milliseconds < $0 } ?? true }
}

/// Sessions of one user, by their tokens.
enum SessionSubset: Sendable {
  case one(String)
  case allBut(String?)
}

/// A session that is about to start. Its token is random, and cannot be had again: stores know its hash alone.
struct NewSession: Sendable {
  let token: String
  /// When it ends, in milliseconds since 1970; nil: not by itself.
  let expires: Int64?

  /// `lifetimeSeconds` nil: it lasts until it is ended.
  init(lifetimeSeconds: Int64?) {
    token = hexText(randomBytes(32))
    expires = lifetimeSeconds.map { Timestamp.now().milliseconds &+ $0 &* 1000 }
  }

  /// What a token is stored under.
  static func hash(_ token: String) -> String { hexText(SHA256.hash(token.utf8)) }
}
