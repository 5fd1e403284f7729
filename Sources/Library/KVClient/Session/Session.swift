internal import KVBase
internal import KVJSON
internal import KVStorage
internal import KVSync

/// The session of the clients of a tag, stored in the data directory.
///
/// It is read anew each time: another process of the same application may have logged in or out. Only what the text
/// says is remembered, as long as it stays the same: each call to the backend asks several times. A client acts for one
/// user, from the first that it finds here to its own login or logout; if another user is logged in by then, it acts
/// for none.
final class Session: Sendable {
  /// A user and the proof of the session.
  struct User: Sendable {
    var id: String
    var token: String
    /// What the backend said, without the token.
    var json: JSONObject
    /// What renews the session; nil: nothing does.
    var grant: Grant?
  }

  private struct State {
    var last: (text: String, user: User)?
    /// For whom the client acts.
    var actor: RecordID?
  }

  private let store: SessionStore
  private let state = Monitor(State())

  init(_ store: SessionStore) { self.store = store }

  func close() { store.close() }

  // MARK: Who it is

  /// The active user; nil if there is none. Throws `.noUser` if it is another one than the client acts for.
  func current() throws(StoreError) -> User? {
    try state.withLock { (state) throws(StoreError) in
      guard let user = try stored(&state) else { return nil }
      let id = RecordID(user.id)
      if state.actor == nil { state.actor = id }
      guard state.actor == id else {
        throw StoreError(
          .noUser,
          "Another client of this tag has logged in another user: log in again, or open a new client."
        )
      }
      return user
    }
  }

  /// The user for whom the client acts, logged in or not; nil: none yet.
  var actor: RecordID? { state.withLock { $0.actor } }

  /// The user who is logged in with clients of another tag.
  func user(ofTag tag: String) throws(StoreError) -> RecordID? {
    guard let text = try store.user(ofTag: tag) else { return nil }
    return RecordID(try Self.user(text).id)
  }

  /// The user who was logged in before each tag had its own session.
  func formerUser() throws(StoreError) -> RecordID? { try store.formerUser() }

  private func stored(_ state: inout State) throws(StoreError) -> User? {
    guard let text = try store.user() else {
      state.last = nil
      return nil
    }
    if let last = state.last, last.text.hasSameBytes(as: text) { return last.user }
    let user = try Self.user(text)
    state.last = (text, user)
    return user
  }

  private static func user(_ text: String) throws(StoreError) -> User {
    guard let saved = try JSONValue.ifValid(text), let token = saved["token"]?.stringValue,
      let json = saved["user"]?.objectValue,
      // Before there were other backends, the id was only in what they said.
      let id = saved["id"]?.stringValue ?? json["_id"]?.stringValue
    else { throw StoreError(.corrupt, "The stored session cannot be read.") }
    return User(id: id, token: token, json: json, grant: grant(saved["oauth"]))
  }

  // MARK: Changes

  /// Makes `user` the active one. `token`: for an answer that brought none. `grant`: what will renew the session.
  func adopt(
    _ user: Account, token: String?, grant: Grant? = nil
  ) throws(StoreError) {
    guard let token = user.token ?? token else {
      throw StoreError(.proto, "The backend's answer has no session for this user.")
    }
    guard let json = try JSONValue.ifValid(user.json) else {
      throw StoreError(.proto, "The backend's answer is not a user.")
    }
    try state.withLock { (state) throws(StoreError) in
      try save(["id": .string(user.id), "token": .string(token), "user": json], grant)
      state.actor = RecordID(user.id)
    }
  }

  /// Replaces what will renew the session of the active user, unless that has changed.
  func keep(_ grant: Grant, of user: User) throws(StoreError) {
    guard try current()?.token.hasSameBytes(as: user.token) == true else { return }
    try save(
      ["id": .string(user.id), "token": .string(user.token), "user": .object(user.json)], grant)
  }

  /// Ends the session. The client goes on to act for its user, whose data is there: another user's login does not
  /// count for it. `ending`: its token, for the backend to end it when it can be reached.
  func clear(ending token: String? = nil) throws(StoreError) { try store.clearUser(ending: token) }

  /// The tokens of sessions that have ended here, and perhaps not on the backend.
  func endings() throws(StoreError) -> [String] { try store.endings() }

  /// The backend has ended the session of a token.
  func forget(ending token: String) throws(StoreError) { try store.forget(ending: token) }

  /// The data of the user is deleted: any user may log in next.
  func forgetActor() { state.withLock { $0.actor = nil } }

  private func save(_ session: JSONObject, _ grant: Grant?) throws(StoreError) {
    var session = session
    if let grant, let refreshToken = grant.refreshToken {
      session["oauth"] = [
        "refreshToken": .string(refreshToken), "clientId": .string(grant.clientId),
        "redirectUri": .string(grant.redirectURI),
      ]
    }
    try store.save(user: JSONValue.object(session).text)
  }

  private static func grant(_ saved: JSONValue?) -> Grant? {
    guard let saved, let refreshToken = saved["refreshToken"]?.stringValue,
      let clientId = saved["clientId"]?.stringValue,
      let redirectURI = saved["redirectUri"]?.stringValue
    else { return nil }
    // The access token is used at once and not kept.
    return Grant(
      accessToken: "", refreshToken: refreshToken, clientId: clientId, redirectURI: redirectURI)
  }
}
