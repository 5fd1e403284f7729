/// An authorization server: pages on which users log in, and grants, which begin sessions and renew them (OAuth 2.0 with
/// an authorization code). Its methods block and may be called from any thread.
package protocol Authorization: AnyObject, Sendable {
  /// The page on which a user logs in; it ends at `redirectURI` with `code` and `state` in its query.
  /// `clientId` nil: the backend's default.
  func page(redirectURI: String, clientId: String?, state: String?) -> String

  /// Changes the code that came to `redirectURI` into a grant. A code is good for one time.
  func grant(
    code: String, redirectURI: String, clientId: String?, call: Call
  ) throws(StoreError) -> Grant

  /// A new grant for an old one. Fails with `.unauthorized` if there will be none any more.
  func renewed(_ grant: Grant, _ call: Call) throws(StoreError) -> Grant

  /// What `Accounts.login` takes to log in whom this was granted to.
  func credentials(of grant: Grant) -> [UInt8]
}

/// What an authorization server has granted: an access token, which logs a user in, and perhaps a refresh
/// token, which brings the next one. Never shown to anybody.
package struct Grant: Sendable, Equatable {
  package var accessToken: String
  package var refreshToken: String?
  /// The client that it was granted to.
  package var clientId: String
  package var redirectURI: String

  package init(
    accessToken: String, refreshToken: String?, clientId: String, redirectURI: String
  ) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.clientId = clientId
    self.redirectURI = redirectURI
  }
}
