internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// Users. While a user is logged in, the local data belongs to this user.
extension KVStoreClient {
  /// Returns the backend's description of itself, as JSON. Throws `.network` if the backend cannot be reached.
  public func ping(options: CallOptions = CallOptions()) async throws(KVStoreError) -> String {
    let bytes = try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.ping(options: options, cancellation: cancellation)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Creates a user and logs it in. Without a name the backend generates a name and a password. `adoptsData`: see `login`.
  @discardableResult
  public func signup(
    username: String? = nil, password: String? = nil, adoptsData: Bool = false,
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> User {
    try await signup(Self.credentials(username, password), options, adopting: adoptsData)
  }

  /// Creates a user with further members and logs it in. Without `username` and `password` the backend generates them.
  @discardableResult
  public func signup(
    _ profile: some Encodable & Sendable, adoptsData: Bool = false,
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> User {
    try await signup(Self.object(profile), options, adopting: adoptsData)
  }

  private func signup(
    _ properties: JSONObject, _ options: CallOptions, adopting isAdopting: Bool
  ) async throws(KVStoreError) -> User {
    try await user(options) { (core, options, cancellation) throws(StoreError) in
      try core.signup(
        properties, adopting: isAdopting, options: options, cancellation: cancellation)
    }
  }

  /// Logs a user in. Throws `.unauthorized` if the name or password is wrong, and `.pending` if writes of another user
  /// are pending. `adoptsData`: the local data and the pending writes of another user become this user's, for accounts
  /// that are gone: docs/backup.md.
  @discardableResult
  public func login(
    username: String, password: String, adoptsData: Bool = false,
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> User {
    let credentials = Self.credentials(username, password)
    return try await user(options) { (core, options, cancellation) throws(StoreError) in
      try core.login(
        credentials, adopting: adoptsData, options: options, cancellation: cancellation)
    }
  }

  /// Returns the active user as last read, without a request; nil: no user is logged in.
  public func currentUser() async throws(KVStoreError) -> User? {
    let bytes = try await perform(isLocal: true) { [core] (_) throws(StoreError) -> [UInt8]? in
      try StoreError.nilIf(.noUser) { () throws(StoreError) in try core.activeUser() }
    }
    return try bytes.map { (bytes) throws(KVStoreError) in try User(JSONDecoding.json(bytes)) }
  }

  /// Reads the active user from the backend.
  @discardableResult
  public func refreshUser(options: CallOptions = CallOptions()) async throws(KVStoreError) -> User {
    try await user(options) { (core, options, cancellation) throws(StoreError) in
      try core.me(options: options, cancellation: cancellation)
    }
  }

  /// Replaces members of the active user. Other members stay.
  @discardableResult
  public func updateUser(
    _ changes: some Encodable & Sendable, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> User {
    let changes = try Self.object(changes)
    return try await user(options) { (core, options, cancellation) throws(StoreError) in
      try core.updateUser(changes, options: options, cancellation: cancellation)
    }
  }

  /// Returns whether a user name is taken.
  public func userExists(
    _ username: String, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Bool {
    try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.userExists(username, options: options, cancellation: cancellation)
    }
  }

  /// Finds other users by members, all of which must match. At least one is required. The backend decides which members
  /// it searches and which it returns: docs/sharing.md.
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

  /// Ends the session and deletes the local data, unless it is kept. If that would lose pending writes and
  /// `discardsPending` is not set, the call throws `.pending` and changes nothing. `keepsData` nil: kept on a shared
  /// device, else deleted.
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

  /// Disables the active user on the backend, or deletes it for good with `isHard`. Then ends the session as `logout`
  /// does.
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

  /// Registers the active user for live data, until a logout or `unregisterFromLiveData`: see `DataStore.live`.
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

  /// Returns the events of this client's synchronisation from now on.
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
      throw KVStoreError(.invalid, "The \(type(of: value)) is not a JSON object.")
    }
    return object
  }
}
