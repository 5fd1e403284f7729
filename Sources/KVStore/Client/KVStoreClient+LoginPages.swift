internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// Logging in on a page of the backend's authorization server, in a browser: the program never sees the password.
extension KVStoreClient {
  /// The address of the page on which somebody logs in. No request is made.
  ///
  ///     let page = try client.loginPage(redirectURI: "notes://login", state: "17")
  ///     print("open", page)
  ///
  /// When they have, the browser goes to `redirectURI` with a `code` for `login(code:)`, and with `state`, which tells
  /// that it is the answer to this page. `clientID`: what the server knows the program by; nil: the application's key.
  public func loginPage(
    redirectURI: String, clientID: String? = nil, state: String? = nil
  ) throws(KVStoreError) -> String {
    var options = JSONObject()
    options.set("clientId", clientID)
    options.set("state", state)
    return try KVStoreError.mapping { () throws(StoreError) in
      try core.loginPage(redirectURI: redirectURI, options)
    }
  }

  /// Makes the user the active one who has logged in on the page; one whom the backend does not know yet is created.
  ///
  ///     let user = try await client.login(code: "…", redirectURI: "notes://login")
  ///
  /// `redirectURI` and `clientID`: those of the page. The session renews itself when it runs out: docs/sync.md.
  @discardableResult
  public func login(
    code: String, redirectURI: String, clientID: String? = nil,
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> User {
    var object = try options.object
    object.set("clientId", clientID)
    let bytes = try await perform(isLocal: false) {
      [core, object] (cancellation) throws(StoreError) in
      try core.login(code: code, redirectURI: redirectURI, object, cancellation)
    }
    return try User(JSONDecoding.json(bytes))
  }
}
