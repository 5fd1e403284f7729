/// One app that the server serves: its credentials, its number in the database, and by whom its users log in.
struct App: Sendable {
  var key: String
  var secret: String
  var masterSecret: String?
  var number: Int64
  /// Nil: users log in with a name and a password only.
  var provider: (any IdentityProvider)?

  init(
    _ credentials: AppCredentials, number: Int64, provider: (any IdentityProvider)? = nil
  ) {
    key = credentials.key
    secret = credentials.secret
    masterSecret = credentials.masterSecret
    self.number = number
    self.provider = provider
  }
}

/// The key of an app, and the secrets that prove that a request is its own or its administrator's.
package struct AppCredentials: Sendable, Equatable {
  package var key: String
  package var secret: String
  package var masterSecret: String?

  package init(key: String, secret: String, masterSecret: String? = nil) {
    self.key = key
    self.secret = secret
    self.masterSecret = masterSecret
  }
}
