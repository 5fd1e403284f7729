internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// Users. While one is logged in, the local data is this user's.
extension KVStoreClient {
  /// What the backend says about itself, as JSON. Throws `.network` if it cannot be reached.
  public func ping(options: CallOptions = CallOptions()) async throws(KVStoreError) -> String {
    let bytes = try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.ping(options: options, cancellation: cancellation)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Creates a user, who is logged in then. Without a name the backend makes up name and password.
  @discardableResult
  public func signup(
    username: String? = nil, password: String? = nil, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> User {
    try await signup(Self.credentials(username, password), options)
  }

  /// The same with members of the user's own; `username` and `password` are among them, or made up by the backend.
  @discardableResult
  public func signup(
    _ profile: some Encodable & Sendable, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> User {
    try await signup(Self.object(profile), options)
  }

  private func signup(
    _ properties: JSONObject, _ options: CallOptions
  ) async throws(KVStoreError) -> User {
    try await user(options) { (core, options, cancellation) throws(StoreError) in
      try core.signup(properties, options: options, cancellation: cancellation)
    }
  }

  /// Throws `.unauthorized` for a wrong name or password, and `.pending` while writes of another user wait.
  @discardableResult
  public func login(
    username: String, password: String, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> User {
    let credentials = Self.credentials(username, password)
    return try await user(options) { (core, options, cancellation) throws(StoreError) in
      try core.login(credentials, options: options, cancellation: cancellation)
    }
  }

  /// The active user as last seen, without a request; nil: nobody is logged in.
  public func currentUser() async throws(KVStoreError) -> User? {
    let bytes = try await perform(isLocal: true) { [core] (_) throws(StoreError) -> [UInt8]? in
      try StoreError.nilIf(.noUser) { () throws(StoreError) in try core.activeUser() }
    }
    return try bytes.map { (bytes) throws(KVStoreError) in try User(JSONDecoding.json(bytes)) }
  }

  /// The active user as the backend has it now.
  @discardableResult
  public func refreshUser(options: CallOptions = CallOptions()) async throws(KVStoreError) -> User {
    try await user(options) { (core, options, cancellation) throws(StoreError) in
      try core.me(options: options, cancellation: cancellation)
    }
  }

  /// Replaces members of the active user; those that are not named stay.
  @discardableResult
  public func updateUser(
    _ changes: some Encodable & Sendable, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> User {
    let changes = try Self.object(changes)
    return try await user(options) { (core, options, cancellation) throws(StoreError) in
      try core.updateUser(changes, options: options, cancellation: cancellation)
    }
  }

  /// Whether a user name is taken.
  public func userExists(
    _ username: String, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Bool {
    try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.userExists(username, options: options, cancellation: cancellation)
    }
  }

  /// The other users who have all of these members, one at least. What users may be found by, and what is shown of them, is
  /// the backend's choice: docs/sharing.md.
  ///
  ///     for user in try await client.lookupUsers(["username": "bob"]) { print(user.id) }
  public func lookupUsers(
    _ members: some Encodable & Sendable, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> [User] {
    let members = try Self.object(members)
    let bytes = try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.lookupUsers(members, options: options, cancellation: cancellation)
    }
    var users: [User] = []
    for json in try JSONDecoding.json(bytes).arrayValue ?? [] { users.append(try User(json)) }
    return users
  }

  /// Ends the session, and wipes the local data unless it is kept. Throws `.pending`, and changes nothing, if that would
  /// lose writes that wait and `discardsPending` is not set. `keepsData` nil: as for a shared device or not.
  public func logout(
    keepsData: Bool? = nil, discardsPending: Bool = false, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    try await asking(options) { (core, options, cancellation) throws(StoreError) in
      var leaving = Client.Leaving()
      leaving.keepData = keepsData
      leaving.discardPending = discardsPending
      leaving.call = options
      try core.logout(leaving, cancellation)
    }
  }

  /// Deletes the active user on the backend, then ends the session as `logout` does. `isHard`: for good, not disabled.
  public func deleteUser(
    isHard: Bool = false, keepsData: Bool? = nil, discardsPending: Bool = false,
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    try await asking(options) { (core, options, cancellation) throws(StoreError) in
      var leaving = Client.Leaving()
      leaving.keepData = keepsData
      leaving.discardPending = discardsPending
      leaving.hard = isHard
      leaving.call = options
      try core.deleteUser(leaving, cancellation)
    }
  }

  // MARK: Events

  /// Lets the active user listen to collections, until unregistered or logged out: see `DataStore.live`.
  public func registerForLiveData(options: CallOptions = CallOptions()) async throws(KVStoreError) {
    try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.registerLive(options: options, cancellation: cancellation)
    }
  }

  /// Ends all live data.
  public func unregisterFromLiveData(
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.unregisterLive(options: options, cancellation: cancellation)
    }
  }

  /// What happens while this client synchronises, from the moment of the call on.
  ///
  ///     for await event in client.syncEvents() {
  ///       if case .failed(let operation, let error) = event { print(operation.name, error) }
  ///     }
  public func syncEvents() -> EventSequence<SyncEvent> {
    let buffer = EventBuffer<SyncEvent>(missed: .missed)
    let listener = core.events.listen { [weak buffer] in buffer?.send(SyncEvent($0)) }
    return EventSequence(buffer, of: self) { listener.end() }
  }

  // MARK: Shared

  private func user(
    _ options: CallOptions,
    _ body: @escaping @Sendable (Client, Options, Cancellation) throws(StoreError) -> [UInt8]
  ) async throws(KVStoreError) -> User {
    try User(JSONDecoding.json(try await asking(options, body)))
  }

  private static func credentials(_ username: String?, _ password: String?) -> JSONObject {
    var object = JSONObject()
    object.set("username", username)
    object.set("password", password)
    return object
  }

  private static func object(_ value: some Encodable) throws(KVStoreError) -> JSONObject {
    guard let object = try JSONEncoding.value(of: value).objectValue else {
      throw KVStoreError(.invalid, "The \(type(of: value)) is no JSON object.")
    }
    return object
  }
}
