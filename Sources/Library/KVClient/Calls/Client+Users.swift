package import KVBase
package import KVJSON
internal import KVStorage
package import KVSync

/// Users. What is given out never contains the session token.
extension Client {
  /// What the backend says about itself.
  package func ping(
    options: Options, cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try asking("ping", options: options, cancellation: cancellation) { (call) throws(StoreError) in
      let backend = try existing()
      guard let ping = backend.ping else { throw backend.lacks("pings") }
      return try call.repeating { () throws(StoreError) in try ping(call) }
    }
  }

  /// Sets the provider of the tokens of the backend's requests; nil removes it. Throws `.unsupported` for a backend that
  /// takes no tokens of others.
  package func setTokenProvider(_ provide: TokenProvider?) throws(StoreError) {
    let backend = try existing()
    guard let set = backend.setTokenProvider else { throw backend.lacks("token providers") }
    set(provide)
  }

  /// What a user who becomes the active one does with the local data of another user.
  package struct Joining: Sendable {
    /// It becomes this user's, with its pending writes; else it is deleted, or in the way.
    package var adopt = false
    package var call = Options()

    package init(_ object: JSONObject) throws(StoreError) {
      var reader = OptionReader(object)
      self = try Joining(from: &reader)
    }

    /// Reads what is left of an object.
    init(from reader: inout OptionReader) throws(StoreError) {
      adopt = try reader.bool("adopt") ?? false
      call = try Options(from: &reader)
      try reader.finish()
    }
  }

  /// Creates a user and makes it the active one. An empty object: the backend makes up name and password.
  /// Throws `.pending`, and creates no user, while writes of another user wait that this one does not adopt.
  package func signup(
    _ user: JSONObject, adopting isAdopting: Bool = false, options: Options,
    cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    let created = try asking("signup", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let users = try accounts()
      if !isAdopting { try checkUnsent(before: nil) }
      return try users.signup(JSONValue.object(user).bytes, call)
    }
    return try begun(created, options, adopting: isAdopting)
  }

  /// Makes a user the active one. The same user finds the local data as it was, and so does one who adopts it; another one finds
  /// none, and `.pending` while writes of the former one wait.
  package func login(
    _ credentials: JSONObject, adopting isAdopting: Bool = false, options: Options,
    cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    let user = try asking("login", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let users = try accounts()
      return try call.repeating { () throws(StoreError) in
        try users.login(JSONValue.object(credentials).bytes, call)
      }
    }
    return try begun(user, options, adopting: isAdopting)
  }

  /// Begins the session that the backend has given to a user. If it cannot be the active one, the session is given
  /// back.
  private func begun(
    _ user: Account, _ options: Options, grant: Grant? = nil, adopting isAdopting: Bool
  ) throws(StoreError) -> [UInt8] {
    do throws(StoreError) {
      try log.measuring("begin of the session") { () throws(StoreError) in
        try begin(user, grant: grant, adopting: isAdopting)
      }
    } catch {
      if let token = user.token {
        _ = try? asking("logout of the one refused", options: options, cancellation: Cancellation())
        {
          (call) throws(StoreError) in
          try accounts().logout(token: token, call)
        }
      }
      throw error
    }
    return user.json
  }

  // MARK: By the authorization server

  /// The page on which a user logs in, to be shown in a browser. `options`: `clientId`, `state`.
  package func loginPage(
    redirectURI: String, _ options: JSONObject
  ) throws(StoreError) -> String {
    let authorization = try authorization()
    var reader = OptionReader(options)
    let (clientId, state) = (try reader.string("clientId"), try reader.string("state"))
    try reader.finish()
    return authorization.page(redirectURI: redirectURI, clientId: clientId, state: state)
  }

  /// Makes the user the active one who has logged in on that page; `code` is what came to `redirectURI`. A user
  /// whom the backend does not know yet is created. `options`: `clientId`, and those of a login.
  package func login(
    code: String, redirectURI: String, _ options: JSONObject, _ cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    let authorization = try authorization()
    var reader = OptionReader(options)
    let clientId = try reader.string("clientId")
    let joining = try Joining(from: &reader)
    let options = joining.call
    let (user, grant) = try asking("login by code", options: options, cancellation: cancellation) {
      (call) throws(StoreError) -> (Account, Grant) in
      let users = try accounts()
      let grant = try authorization.grant(
        code: code, redirectURI: redirectURI, clientId: clientId, call: call)
      do throws(StoreError) {
        let user = try call.repeating { () throws(StoreError) in
          try users.login(authorization.credentials(of: grant), call)
        }
        return (user, grant)
      } catch {
        guard error.kind == .notFound else { throw error }
        return (try users.signup(authorization.credentials(of: grant), call), grant)
      }
    }
    return try begun(user, options, grant: grant, adopting: joining.adopt)
  }

  // MARK: The active one

  /// The active user as last seen. `.noUser` if there is none.
  package func activeUser() throws(StoreError) -> [UInt8] {
    JSONValue.object(try active().json).bytes
  }

  /// The active user as the backend has it now.
  package func me(
    options: Options, cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try asking("me", options: options, cancellation: cancellation) { (call) throws(StoreError) in
      let users = try accounts()
      let before = try active()
      let user = try renewing(call) { () throws(StoreError) in try users.me(call) }
      try keep(user, before)
      return user.json
    }
  }

  /// Replaces members of the active user; those that are not named stay.
  package func updateUser(
    _ changes: JSONObject, options: Options, cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try asking("user update", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let users = try accounts()
      let before = try active()
      let now = try renewing(call) { () throws(StoreError) in try users.me(call) }
      let user = try users.update(now, changes, call: call)
      try keep(user, before)
      return user.json
    }
  }

  /// Whether a user name is taken.
  package func userExists(
    _ name: String, options: Options, cancellation: Cancellation
  ) throws(StoreError) -> Bool {
    guard !name.isEmpty else { throw StoreError(.invalid, "A user name must not be empty.") }
    return try asking("user exists", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      try call.repeating { () throws(StoreError) in try accounts().exists(name, call) }
    }
  }

  /// The other users who have all of these members: an array. `.invalid` without one: listing all users is not possible.
  package func lookupUsers(
    _ members: JSONObject, options: Options, cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    guard !members.isEmpty else {
      throw StoreError(
        .invalid, "A lookup needs at least one member: listing all users is not possible.")
    }
    return try asking("user lookup", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let users = try accounts()
      let found = try renewing(call) { () throws(StoreError) in try users.lookup(members, call) }
      return JSONValue.array(found.map { .object($0) }).bytes
    }
  }

  // MARK: Leaving

  /// What a logout does with the local data.
  package struct Leaving: Sendable {
    /// Nil: as the client was opened, for a device that is shared or not.
    package var keepData: Bool?
    package var discardPending = false
    package var hard = false
    package var call = Options()

    package init() {}

    /// `hard` is an option of a deletion only.
    package init(_ object: JSONObject, isDeletion: Bool) throws(StoreError) {
      var reader = OptionReader(object)
      keepData = try reader.bool("keepData")
      discardPending = try reader.bool("discardPending") ?? false
      if isDeletion { hard = try reader.bool("hard") ?? false }
      call = try Options(from: &reader)
      try reader.finish()
    }
  }

  /// Ends the session here, wipes the local data that belongs to it, and ends the session on the backend, whose
  /// failure does not matter any more: if it is away, it is told after its next answer. `.pending`, and nothing is changed, if that would lose unsent work.
  package func logout(_ leaving: Leaving, _ cancellation: Cancellation) throws(StoreError) {
    let (user, listened) = try log.measuring("logout") { () throws(StoreError) in
      let user = try active()
      let listened = live?.registered
      try endSession(leaving, ending: user.token)
      return (user, listened)
    }
    let isBegun = endings.add()
    if let listened {
      _ = try? asking(
        "unregister on the backend", options: leaving.call, cancellation: cancellation
      ) {
        (call) throws(StoreError) in
        try backend?.live?.unregister(listened, token: user.token, call: call)
      }
    }
    sendEndings(leaving.call, cancellation, isBegun: isBegun)
  }

  /// Deletes the active user on the backend, then ends its session as a logout does.
  package func deleteUser(_ leaving: Leaving, _ cancellation: Cancellation) throws(StoreError) {
    try asking("user delete", options: leaving.call, cancellation: cancellation) {
      (call) throws(StoreError) in
      let user = try active()
      try checkUnsent(leaving)
      try recordingRefusal { () throws(StoreError) in
        try accounts().delete(id: user.id, isHard: leaving.hard, call: call)
      }
    }
    try log.measuring("user delete") { () throws(StoreError) in try endSession(leaving) }
  }

  // MARK: Shared

  /// Runs something that asks the backend about users.
  func asking<R>(
    _ operation: StaticString, options: Options, cancellation: Cancellation,
    body: (Call) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let result = try log.measuring(operation) { () throws(StoreError) in
      try operations.run(cancellation) { (cancellation) throws(StoreError) in
        try connectivity.noting { () throws(StoreError) in try body(call(options, cancellation)) }
      }
    }
    sendEndingsLater()
    return result
  }

  /// Gives the backend; `.unsupported` if there is none.
  func existing() throws(StoreError) -> Backend {
    guard let backend else { throw StoreError(.unsupported, "This client has no backend.") }
    return backend
  }

  func accounts() throws(StoreError) -> any Accounts {
    let backend = try existing()
    guard let accounts = backend.accounts else { throw backend.lacks("users") }
    return accounts
  }

  private func authorization() throws(StoreError) -> any Authorization {
    let backend = try existing()
    guard let authorization = backend.authorization else { throw backend.lacks("login pages") }
    return authorization
  }

  /// The session that users begin and end.
  func usersSession() throws(StoreError) -> Session {
    guard let session else { throw try existing().lacks("users") }
    return session
  }

  /// Runs a request of the active user, again if that is worthwhile, also if its session had run out.
  func renewing<R>(
    _ call: Call, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try call.repeating { () throws(StoreError) in try renewingOnce(call, body) }
  }

  /// The same for what must not be sent again when no answer came. A session that has run out is found out before anything
  /// else happens.
  func renewingOnce<R>(
    _ call: Call, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try recordingRefusal { () throws(StoreError) in
      guard let renewal else { return try body() }
      return try renewal.renewing(call, body)
    }
  }

  /// Runs a request of the active user; if the backend refuses the session, that is recorded.
  func recordingRefusal<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) { return try body() } catch {
      if error.kind == .unauthorized { didRefuse(error) }
      throw error
    }
  }

  func active() throws(StoreError) -> Session.User {
    guard let user = try usersSession().current() else {
      throw StoreError(.noUser, "No user is logged in.")
    }
    return user
  }

  /// Keeps what the backend says of the active user, unless another user is active by now.
  private func keep(_ user: Account, _ before: Session.User) throws(StoreError) {
    let session = try usersSession()
    guard let now = try session.current(), now.id.hasSameBytes(as: user.id),
      now.id.hasSameBytes(as: before.id)
    else { return }
    try session.adopt(user, token: user.token ?? now.token, grant: now.grant)
  }
}
