/// What the application is asked for when a backend needs a token of its user.
package struct TokenRequest: Sendable, Equatable {
  /// Who makes such tokens, in the backend's words.
  package var provider: String
  /// The token that was in use; nil: there was none.
  package var former: String?
  /// Whether the backend has refused it; else it is about to expire.
  package var isRefused: Bool

  package init(provider: String, former: String?, isRefused: Bool) {
    (self.provider, self.former, self.isRefused) = (provider, former, isRefused)
  }
}

/// Gives a token. It may block: it runs on a thread of its own, one at a time for each provider. `.noUser`: no user is
/// signed in.
package typealias TokenProvider = @Sendable (TokenRequest) throws(StoreError) -> String
