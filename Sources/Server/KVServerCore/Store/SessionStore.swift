package import KVBase

/// The sessions of users who are logged in.
///
/// A session belongs to one generation of its user's account. Whatever ends all sessions of a user – a new password,
/// a deletion – makes a new generation, in the transaction that does it; a session of another generation is none.
package protocol SessionStore: Sendable {
  /// The session of a token; nil if there is none any more.
  func find(_ token: String) throws(ServerError) -> Session?

  /// Ends one session.
  func end(_ token: String) throws(ServerError)

  /// Ends the session of this name (see `SessionSummary`), if it is one of this user; nil: of any user of the app. Gives the user whose
  /// it was; nil: there is no such session.
  func end(named name: String, of user: String?, app: Int64) throws(ServerError) -> String?

  /// A session was used: see `SessionLife`.
  func extend(_ token: String, _ life: SessionLife, at now: Timestamp) throws(ServerError)

  /// Ends the sessions of a user. Proofs of a provider that are older open none afterwards.
  func endAll(app: Int64, user: String) throws(ServerError)

  /// The sessions of an app that have not ended, or those of one user, in the order of their names: at most `limit`,
  /// those after the one named `after`.
  func list(
    app: Int64, user: String?, after: String?, limit: Int
  ) throws(ServerError) -> [SessionSummary]
}

/// What users are told of their own sessions, and an administrator of all: nothing that opens it.
package struct SessionSummary: Sendable, Equatable {
  /// The hash of its token.
  package var name: String
  package var user: String
  /// When it ends, in milliseconds since 1970; nil: not by itself.
  package var expires: Int64?
  /// What the client said of its device at the login, and the address that it came from; nil: not known.
  package var device: String?
  package var address: String?
  /// When it began, and when a use was noted last, in milliseconds since 1970: see `SessionLife.noteMilliseconds`.
  package var began: Int64
  package var used: Int64?

  package init(
    name: String, user: String, expires: Int64?, device: String?, address: String?, began: Int64,
    used: Int64?
  ) {
    self.name = name
    self.user = user
    self.expires = expires
    self.device = device
    self.address = address
    self.began = began
    self.used = used
  }
}

package struct Session: Sendable, Equatable {
  package var app: Int64
  package var user: String
  /// The generation of the account when the session began.
  package var generation: Int64
  /// When it ends, in milliseconds since 1970; nil: not by itself.
  package var expires: Int64?

  package init(app: Int64, user: String, generation: Int64, expires: Int64?) {
    self.app = app
    self.user = user
    self.generation = generation
    self.expires = expires
  }

  package func isValid(at now: Timestamp) -> Bool { expires.map { now.milliseconds < $0 } ?? true }
}

/// When sessions end by themselves.
package struct SessionLife: Sendable, Equatable {
  /// Seconds after the last use.
  package var idleSeconds: Int64
  /// Seconds after the login, whatever the use.
  package var longestSeconds: Int64

  package init(idleSeconds: Int64, longestSeconds: Int64) {
    self.idleSeconds = idleSeconds
    self.longestSeconds = longestSeconds
  }

  package var idleMilliseconds: Int64 { idleSeconds &* 1000 }
  package var longestMilliseconds: Int64 { longestSeconds &* 1000 }

  /// How often at the most a use is noted, in milliseconds: an hour, or less for those that end soon.
  package var noteMilliseconds: Int64 { min(3_600_000, idleMilliseconds / 24) }
}

/// Sessions of one user, by their tokens, or by the name that stands for one.
package enum SessionSubset: Sendable {
  case one(String)
  case named(String)
  case allBut(String?)
}

/// A session that is about to start. Its token is random, and cannot be had again: stores know its hash alone.
package struct NewSession: Sendable {
  package let token: String
  /// In milliseconds since 1970.
  package let began: Int64
  /// When it ends, in milliseconds since 1970; nil: not by itself.
  package let expires: Int64?
  /// Where it was begun, for those who look at their sessions; nil: not known.
  package let device: String?
  package let address: String?

  /// `life` nil: it lasts until it is ended.
  package init(
    _ life: SessionLife?, device: String? = nil, address: String? = nil, at now: Timestamp = .now()
  ) {
    self.device = device
    self.address = address
    token = SessionToken.random()
    began = now.milliseconds
    expires = life.map {
      now.milliseconds &+ min($0.idleMilliseconds, $0.longestMilliseconds)
    }
  }
}
