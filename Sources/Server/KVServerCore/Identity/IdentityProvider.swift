internal import KVBase

/// An identity, as a provider has proven it.
package struct ProvenIdentity: Sendable, Equatable {
  package var issuer: String
  /// The provider's name for it, which never changes, and which no other identity ever has.
  package var subject: String
  /// The username in an app.
  package var name: String
  /// When the provider said so, in seconds since 1970; 0: long ago.
  package var issued: Int64

  package init(issuer: String, subject: String, name: String, issued: Int64 = 0) {
    self.issuer = issuer
    self.subject = subject
    self.name = name
    self.issued = issued
  }

  /// What accounts are found by: as long as a hash can be cut without two of them ever being the same.
  package var key: String {
    hexText(Array(SHA256.hash("\(issuer)\0\(subject)".utf8).prefix(16)))
  }
}

/// What a provider gives for the code of a login, or for a refresh token.
package struct ProviderGrant: Sendable {
  package var identity: ProvenIdentity
  /// Gets another grant later; nil: the provider gives none.
  package var refreshToken: String?
  /// How long the provider says that this one lasts.
  package var seconds: Int64

  package init(identity: ProvenIdentity, refreshToken: String?, seconds: Int64) {
    self.identity = identity
    self.refreshToken = refreshToken
    self.seconds = seconds
  }
}

/// Why an identity is not proven. Each has a sentence, which contains no secret.
package enum IdentityFailure: Error, Equatable {
  /// The provider, or a check of what it has signed, says no.
  case refused(String)
  /// The provider cannot be asked now, or does not answer as it must.
  case unavailable(String)
}

/// What the operator allows to those whom a provider proves.
package struct IdentityRules: Sendable, Equatable {
  /// Whether a user is made at the first login; if not, there has to be a user of that name.
  package var createsUsers = true
  /// Where the provider sends browsers back to: this server's own address; nil: there is no login page.
  package var callback: String?
  /// Where browsers may be sent in the end.
  package var redirects: [String] = []
  /// What is under way is sealed with it.
  package var secret: String

  package init(secret: String) { self.secret = secret }
}

/// Proves identities. Safe from any thread; waits for the network some seconds at the most.
package protocol IdentityProvider: AnyObject, Sendable {
  var rules: IdentityRules { get }

  /// The address of the page where a user logs in. The browser comes back with `state`; `challenge` is of the verifier that
  /// changes the code into a grant (RFC 7636).
  func loginPage(
    state: String, nonce: String, challenge: String
  ) throws(IdentityFailure) -> String

  /// What the code that a browser came back with is good for, once.
  func grant(
    code: String, verifier: String, nonce: String
  ) throws(IdentityFailure) -> ProviderGrant

  /// Another grant of the one who is known already.
  func renewed(
    _ refreshToken: String, of identity: ProvenIdentity
  ) throws(IdentityFailure) -> ProviderGrant

  /// Whom an id token proves that a client has got by itself. `nonce` and `accessToken`: what it belongs to, if the client says so.
  ///
  /// The token counts as used from now on, so that of two logins with it one fails; `release` takes that back.
  func identity(
    ofToken token: String, nonce: String?, accessToken: String?
  ) throws(IdentityFailure) -> ProvenIdentity

  /// Lets an id token be used once more, because the login with it has failed.
  func release(token: String)

  /// Ends the calls under way. Those that come afterwards fail.
  func close()
}
