package import KVBase
package import KVJSON
internal import KVKinvey
internal import KVStorage
package import KVSync

/// Users. What is given out never contains the session token.
extension Client {
  /// What the backend says about itself.
  package func ping(
    _ options: Options, _ cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try log.telling("ping") { () throws(StoreError) in
      try backend().users.ping(call(options, cancellation))
    }
  }

  /// Creates a user and makes it the active one. An empty object: the backend makes up name and password.
  package func signup(
    _ user: JSONObject, _ options: Options, _ cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try log.telling("signup") { () throws(StoreError) in
      let (users, session) = try backend()
      let created = try users.signup(
        JSONValue.object(user).bytes, call(options, cancellation))
      try session.adopt(created, token: nil)
      return created.json
    }
  }

  /// Makes a user the active one. Local data stays.
  package func login(
    _ credentials: JSONObject, _ options: Options, _ cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try log.telling("login") { () throws(StoreError) in
      let (users, session) = try backend()
      let user = try users.login(
        JSONValue.object(credentials).bytes, call(options, cancellation))
      try session.adopt(user, token: nil)
      return user.json
    }
  }

  /// The active user as last seen. `.noUser` if there is none.
  package func activeUser() throws(StoreError) -> [UInt8] {
    JSONValue.object(try active().json).bytes
  }

  /// The active user as the backend has it now.
  package func me(
    _ options: Options, _ cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try log.telling("me") { () throws(StoreError) in
      let (users, session) = try backend()
      let before = try active()
      let user = try users.me(call(options, cancellation))
      try keep(user, before, session)
      return user.json
    }
  }

  /// Replaces members of the active user; those that are not named stay.
  package func updateUser(
    _ changes: JSONObject, _ options: Options, _ cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try log.telling("user update") { () throws(StoreError) in
      let (users, session) = try backend()
      let before = try active()
      var body = before.json
      body["_kmd"] = nil
      for member in changes.members { body[member.name] = member.value }
      let user = try users.update(
        id: before.id, JSONValue.object(body).bytes, call(options, cancellation))
      try keep(user, before, session)
      return user.json
    }
  }

  /// Whether a user name is taken.
  package func userExists(
    _ name: String, _ options: Options, _ cancellation: Cancellation
  ) throws(StoreError) -> Bool {
    guard !name.isEmpty else { throw StoreError(.invalid, "A user name must not be empty.") }
    return try log.telling("user exists") { () throws(StoreError) in
      try backend().users.exists(name, call(options, cancellation))
    }
  }

  // MARK: Leaving

  /// What a logout does with the local data.
  package struct Leaving: Sendable {
    package var keepData = false
    package var discardPending = false
    package var hard = false
    package var call = Options()

    package init() {}

    /// `hard` is an option of a deletion only.
    package init(_ object: JSONObject, isDeletion: Bool) throws(StoreError) {
      var reader = OptionReader(object)
      keepData = try reader.bool("keepData") ?? false
      discardPending = try reader.bool("discardPending") ?? false
      if isDeletion { hard = try reader.bool("hard") ?? false }
      call = try Options(from: &reader)
      try reader.finish()
    }
  }

  /// Drops the session here, then on the backend (whose failure does not matter any more), and wipes the
  /// local data of all tags. `.pending` if that would lose unsent work.
  package func logout(_ leaving: Leaving, _ cancellation: Cancellation) throws(StoreError) {
    try log.telling("logout") { () throws(StoreError) in
      let (users, session) = try backend()
      let user = try active()
      try checkUnsent(leaving)
      try session.clear()
      do throws(StoreError) {
        try users.logout(token: user.token, call(leaving.call, cancellation))
      } catch {
        log.write(.info, "logout: the backend was not told: \(error.kind.name)")
      }
      try wipe(leaving)
    }
  }

  /// Deletes the active user on the backend, then ends its session as a logout does.
  package func deleteUser(_ leaving: Leaving, _ cancellation: Cancellation) throws(StoreError) {
    try log.telling("user delete") { () throws(StoreError) in
      let (users, session) = try backend()
      let user = try active()
      try checkUnsent(leaving)
      try users.delete(id: user.id, isHard: leaving.hard, call(leaving.call, cancellation))
      try session.clear()
      try wipe(leaving)
    }
  }

  private func checkUnsent(_ leaving: Leaving) throws(StoreError) {
    guard !leaving.keepData, !leaving.discardPending else { return }
    var unsent = 0
    for storage in try storages() { unsent += try storage.pendingCount(in: nil) }
    guard unsent == 0 else {
      throw StoreError(
        .pending,
        "\(unsent) pending writes would be lost: push them, or say keepData or discardPending.")
    }
  }

  private func wipe(_ leaving: Leaving) throws(StoreError) {
    guard !leaving.keepData else { return }
    for storage in try storages() { try storage.wipe() }
  }

  // MARK: Shared

  private func backend() throws(StoreError) -> (users: KinveyUsers, session: Session) {
    guard let users, let session else {
      throw StoreError(.unsupported, "This client has no backend, and therefore no users.")
    }
    return (users, session)
  }

  private func active() throws(StoreError) -> Session.User {
    guard let user = try backend().session.current() else {
      throw StoreError(.noUser, "Nobody is logged in.")
    }
    return user
  }

  /// Keeps what the backend says of the active user, unless somebody else is active by now.
  private func keep(
    _ user: KinveyUser, _ before: Session.User, _ session: Session
  ) throws(StoreError) {
    guard let now = try session.current(), now.id == user.id, now.id == before.id else { return }
    try session.adopt(user, token: user.token ?? now.token)
  }
}
