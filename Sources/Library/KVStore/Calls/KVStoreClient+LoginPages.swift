internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// Logins on a page of the backend's authorization server. The program never sees the password.
extension KVStoreClient {
  /// Returns the address of the login page, which the program opens in a browser. No request is made.
  ///
  ///     let page = try client.loginPage(redirectURI: "notes://login", state: "17")
  ///     print("open", page)
  ///
  /// After the login, the browser goes to `redirectURI` with a `code` for `login(code:)`, and with `state`, which
  /// identifies the answer to this page. `clientID` is the name of the program on the server; nil: the application's
  /// key.
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

  /// Logs in the user who has used the login page. A user who is new to the backend is created.
  ///
  ///     let user = try await client.login(code: "…", redirectURI: "notes://login")
  ///
  /// `redirectURI` and `clientID` are those of the page. `adoptsData`: see `login(username:password:)`. An expired session is
  /// renewed automatically: docs/sync.md.
  @discardableResult
  public func login(
    code: String, redirectURI: String, clientID: String? = nil, adoptsData: Bool = false,
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> User {
    var object = try options.object
    object.set("clientId", clientID)
    if adoptsData { object["adopt"] = true }
    let bytes = try await perform(isLocal: false) {
      [core, object] (cancellation) throws(StoreError) in
      try core.login(code: code, redirectURI: redirectURI, object, cancellation)
    }
    return try User(JSONDecoding.json(bytes))
  }
}
