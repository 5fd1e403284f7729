internal import KVClient
internal import KVSync

/// What a token provider is asked for: see `KVStoreClient.setTokenProvider`.
///
///     try client.setTokenProvider { request in
///       print(request.provider, request.isRefused ? "was refused" : "expires soon")
///       return "…"
///     }
public struct TokenRequest: Sendable, Equatable {
  /// The maker of the token: `userPools`, `oidc`, `function` or `token`, as in the option `auth`.
  public let provider: String
  /// The token that was in use; nil: there was none.
  public let former: String?
  /// Whether the backend has refused that token. Otherwise it is about to expire.
  public let isRefused: Bool

  init(_ request: KVSync.TokenRequest) {
    provider = request.provider
    former = request.former
    isRefused = request.isRefused
  }
}

/// The reasons why a token provider gives no token. Any other error means that the user is not authorized.
///
///     throw TokenFailure.notSignedIn
public enum TokenFailure: Error {
  /// No user is signed in.
  case notSignedIn
  /// The provider cannot be reached at the moment.
  case unreachable
}

extension KVStoreClient {
  /// Sets the closure that gives the tokens of a backend that takes tokens of others, such as AppSync. Nil removes it.
  ///
  ///     try client.setTokenProvider { request in
  ///       request.isRefused ? "a new token" : "the token of the session"
  ///     }
  ///
  /// The closure runs on a thread of its own and may block. It is called when there is no token, when the backend has
  /// refused the last one, and a minute before a JSON Web Token expires, once for all calls that wait for a token.
  ///
  /// If it throws a `TokenFailure`, the calls throw `.noUser` or `.network`; otherwise they throw `.unauthorized`. What
  /// waits to be sent stays in the queue. Throws `.unsupported` for other backends.
  public func setTokenProvider(
    _ provide: (@Sendable (TokenRequest) throws -> String)?
  ) throws(KVStoreError) {
    try KVStoreError.mapping { () throws(StoreError) in
      guard let provide else { return try core.setTokenProvider(nil) }
      try core.setTokenProvider { (request) throws(StoreError) in
        do { return try provide(TokenRequest(request)) } catch TokenFailure.notSignedIn {
          throw StoreError(.noUser, "No user is signed in.")
        } catch TokenFailure.unreachable {
          throw StoreError(.network, "The token provider cannot be reached.")
        } catch {
          throw StoreError(.unauthorized, "The token provider failed: \(error)")
        }
      }
    }
  }
}
