package import KVJSON

/// The users of a backend. Its methods change nothing here – who is active is the caller's business –, block until the
/// answer is complete, and may be called from any thread.
package protocol Accounts: AnyObject, Sendable {
  /// Creates a user and logs it in. `user` is a JSON object; `{}`: the backend makes up what it needs. Not to be
  /// repeated when no answer came.
  func signup(_ user: [UInt8], _ call: Call) throws(StoreError) -> Account

  /// Begins a session: the account has a token. `credentials` is a JSON object. Fails with `.unauthorized`.
  func login(_ credentials: [UInt8], _ call: Call) throws(StoreError) -> Account

  /// Ends the session of this token, which need not be the active one any more.
  func logout(token: String, _ call: Call) throws(StoreError)

  /// The active user as the backend has it.
  func me(_ call: Call) throws(StoreError) -> Account

  /// Replaces members of a user who was read as `user`; those that are not named stay. May bring a new token.
  func update(
    _ user: Account, _ changes: JSONObject, call: Call
  ) throws(StoreError) -> Account

  /// Disables a user, or with `isHard` deletes it for good.
  func delete(id: String, isHard: Bool, call: Call) throws(StoreError)

  /// Whether a user name is taken.
  func exists(_ username: String, _ call: Call) throws(StoreError) -> Bool

  /// The other users who have all of these members, as far as the backend lets them be found.
  func lookup(_ members: JSONObject, _ call: Call) throws(StoreError) -> [JSONObject]
}

/// A user as the backend describes it, and apart from it the token, so that nothing shows it by accident.
package struct Account: Sendable, Equatable {
  package var id: String
  /// Proves the session; nil if this answer did not bring one.
  package var token: String?
  /// JSON without the token.
  package var json: [UInt8]

  package init(id: String, token: String?, json: [UInt8]) {
    self.id = id
    self.token = token
    self.json = json
  }
}
