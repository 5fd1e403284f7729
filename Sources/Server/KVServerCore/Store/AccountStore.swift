/// The users of apps: an entity that clients see, and an account with what they must not see. Both are written in one
/// transaction, and what ends sessions ends them in the same.
package protocol AccountStore: Sendable {
  func find(name: String, of app: Int64) throws(ServerError) -> Account?
  func find(id: String, of app: Int64) throws(ServerError) -> Account?

  /// The account that is linked with an identity of a provider, by `ProvenIdentity.key`.
  func find(identity: String, of app: Int64) throws(ServerError) -> Account?

  /// Links an account with an identity; nil: with none. False: there is no such account, or another one has the identity.
  func link(_ identity: String?, to id: String, of app: Int64) throws(ServerError) -> Bool

  /// The ids of all users.
  func ids(of app: Int64) throws(ServerError) -> [String]

  /// Makes a user, who is logged in if a session is given. Throws `.userAlreadyExists` if the name is taken, or the id
  /// is or ever was.
  func create(
    _ draft: EntityDraft, name: String, password: String, session: NewSession?, of app: Int64
  ) throws(ServerError) -> [UInt8]

  /// Replaces a user's entity, and the name and password as `change` says. nil if the account is not any more what it
  /// was when it was read.
  func update(
    _ draft: EntityDraft, of account: Account, change: AccountChange, for principal: Principal,
    app: Int64
  ) throws(ServerError) -> [UInt8]?

  /// Deletes a user for good, or only disables the login. The user's sessions end.
  func delete(
    _ id: String, permanently: Bool, for principal: Principal, of app: Int64
  ) throws(ServerError)

  /// Lets a user log in again who was kept from it. Throws `.userNotFound` if there is none.
  func restore(_ id: String, for principal: Principal, of app: Int64) throws(ServerError)

  /// Sets the hash of a user's password; the user's sessions end. False: there is no such user.
  func setPassword(_ password: String, of id: String, app: Int64) throws(ServerError) -> Bool

  /// Starts a session of a user whose password was found right. Gives the user, with the moment in `_kmd.llt`; nil if
  /// the account is not any more what it was when it was read.
  func begin(
    _ session: NewSession, of account: Account, app: Int64
  ) throws(ServerError) -> [UInt8]?

  /// Records that the user's address, if there is one, is to be verified.
  func recordVerification(of account: Account, app: Int64) throws(ServerError)
}

/// What of a user clients must not see.
package struct Account: Sendable {
  package var id: String
  package var name: String
  /// The hash.
  package var password: String
  package var isDisabled: Bool
  /// Sessions of another one are none.
  package var generation: Int64
  /// When all its sessions were ended last, in milliseconds since 1970; 0: never.
  package var ended: Int64

  package init(
    id: String, name: String, password: String, isDisabled: Bool, generation: Int64,
    ended: Int64 = 0
  ) {
    self.ended = ended
    self.id = id
    self.name = name
    self.password = password
    self.isDisabled = isDisabled
    self.generation = generation
  }
}

/// What a change makes of an account.
package struct AccountChange: Sendable {
  package var name: String
  /// The hash of a new password; nil: the old one stays.
  package var password: String?
  /// The session that a new password does not end.
  package var keptToken: String?
}

/// Groups of users, which access lists can name: an entity that clients see, and who is in it.
package protocol UserGroupStore: Sendable {
  /// Creates, replaces or deletes a group. `members`: the ids of the users who are in it afterwards. Nil: it was
  /// deleted.
  func perform(
    _ write: EntityWrite, members: [String], for principal: Principal, app: Int64
  ) throws(ServerError) -> WrittenEntity?
}
