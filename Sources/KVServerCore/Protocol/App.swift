/// One app that the server serves: its credentials, and its number in the database.
struct App: Sendable {
  var key: String
  var secret: String
  var masterSecret: String?
  var number: Int64

  init(_ credentials: AppCredentials, number: Int64) {
    key = credentials.key
    secret = credentials.secret
    masterSecret = credentials.masterSecret
    self.number = number
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
