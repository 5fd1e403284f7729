internal import KVJSON
internal import KVKinvey
internal import KVStorage
internal import KVSync

/// Who is logged in, as kept in the data directory.
///
/// It is read anew each time: another process of the same application may have logged in or out.
final class Session: Sendable {
  /// A user and the proof of the session.
  struct User: Sendable {
    var id: String
    var token: String
    /// What the backend said, without the token.
    var json: JSONObject
  }

  private let store: SessionStore

  init(_ store: SessionStore) { self.store = store }

  func close() { store.close() }

  /// The active user; nil if there is none.
  func current() throws(StoreError) -> User? {
    guard let text = try store.user() else { return nil }
    guard let saved = try? JSONValue(parsing: text), let token = saved["token"]?.stringValue,
      let json = saved["user"]?.objectValue, let id = json["_id"]?.stringValue
    else { throw StoreError(.corrupt, "What was kept of the session cannot be read.") }
    return User(id: id, token: token, json: json)
  }

  /// Makes `user` the active one. `token` nil keeps the one of the same user.
  func adopt(_ user: KinveyUser, token: String?) throws(StoreError) {
    guard let token = user.token ?? token else {
      throw StoreError(.proto, "The backend gave no session to this user.")
    }
    guard let json = try? JSONValue(parsing: user.json) else {
      throw StoreError(.proto, "The backend's answer is no user.")
    }
    let saved = JSONValue.object(["token": .string(token), "user": json])
    try store.save(user: saved.text)
  }

  func clear() throws(StoreError) { try store.clearUser() }
}
