internal import KVBase
internal import KVJSON
internal import KVKinvey
internal import KVStorage
internal import KVSync

/// Who is logged in, as kept in the data directory.
///
/// It is read anew each time: another process of the same application may have logged in or out. Only what the text
/// says is remembered, as long as it stays the same: each call to the backend asks several times.
final class Session: Sendable {
  /// A user and the proof of the session.
  struct User: Sendable {
    var id: String
    var token: String
    /// What the backend said, without the token.
    var json: JSONObject
    /// What renews the session; nil: nothing does.
    var grant: KinveyGrant?
  }

  private let store: SessionStore
  private let last = Monitor<(text: String, user: User)?>(nil)

  init(_ store: SessionStore) { self.store = store }

  func close() { store.close() }

  /// The active user; nil if there is none.
  func current() throws(StoreError) -> User? {
    guard let text = try store.user() else {
      last.peek { $0 = nil }
      return nil
    }
    if let known = last.peek({ $0?.text.hasSameBytes(as: text) == true ? $0?.user : nil }) {
      return known
    }
    let user = try Self.user(text)
    last.peek { $0 = (text, user) }
    return user
  }

  private static func user(_ text: String) throws(StoreError) -> User {
    guard let saved = try? JSONValue(parsing: text), let token = saved["token"]?.stringValue,
      let json = saved["user"]?.objectValue, let id = json["_id"]?.stringValue
    else { throw StoreError(.corrupt, "What was kept of the session cannot be read.") }
    return User(id: id, token: token, json: json, grant: grant(saved["oauth"]))
  }

  /// Makes `user` the active one. `token`: for an answer that brought none. `grant`: what will renew the session.
  func adopt(
    _ user: KinveyUser, token: String?, grant: KinveyGrant? = nil
  ) throws(StoreError) {
    guard let token = user.token ?? token else {
      throw StoreError(.proto, "The backend gave no session to this user.")
    }
    guard let json = try? JSONValue(parsing: user.json) else {
      throw StoreError(.proto, "The backend's answer is no user.")
    }
    try save(["token": .string(token), "user": json], grant)
  }

  /// Replaces what will renew the session of the active user, unless that has changed.
  func keep(_ grant: KinveyGrant, of user: User) throws(StoreError) {
    guard try current()?.token.hasSameBytes(as: user.token) == true else { return }
    try save(["token": .string(user.token), "user": .object(user.json)], grant)
  }

  private func save(_ session: JSONObject, _ grant: KinveyGrant?) throws(StoreError) {
    var session = session
    if let grant, let refreshToken = grant.refreshToken {
      session["oauth"] = [
        "refreshToken": .string(refreshToken), "clientId": .string(grant.clientId),
        "redirectUri": .string(grant.redirectURI),
      ]
    }
    try store.save(user: JSONValue.object(session).text)
  }

  private static func grant(_ saved: JSONValue?) -> KinveyGrant? {
    guard let saved, let refreshToken = saved["refreshToken"]?.stringValue,
      let clientId = saved["clientId"]?.stringValue,
      let redirectURI = saved["redirectUri"]?.stringValue
    else { return nil }
    // The access token is used at once and not kept.
    return KinveyGrant(
      accessToken: "", refreshToken: refreshToken, clientId: clientId, redirectURI: redirectURI)
  }

  /// What this installation is called.
  func deviceId() throws(StoreError) -> String { try store.deviceId() }

  func clear() throws(StoreError) { try store.clearUser() }
}
