internal import KVJSON

/// The settings that a client is opened with.
///
///     var configuration = Configuration(appKey: "kid_demo", backend: .none)
///     configuration.dataDirectory = "/var/lib/notes"
///     let client = try KVStoreClient(configuration)
public struct Configuration: Sendable {
  /// The backend that the client synchronises with.
  public enum Backend: Sendable {
    /// No backend: a local database. Its stores are of the type `.sync` and stay local.
    case none
    /// A server with Kinvey's protocol, such as `kvstored`. `secret` is the secret of the application.
    case host(String, secret: String)
    /// A dedicated instance of Kinvey's service.
    case instance(String, secret: String)
    /// A backend that the program has registered under this name: see `CustomBackend`.
    case custom(String)
    /// The store of this name: one that the program has registered (see `CustomStore`), `"local"` for the library's own
    /// database, or a backend.
    case store(String)
  }

  /// What the local data is encrypted with. Nil: it is not encrypted.
  public var encryptionKey: EncryptionKey?
  /// Which failures an acknowledged write survives.
  public enum Durability: String, Sendable {
    /// A loss of power.
    case full
    /// The end of the process. A loss of power may lose the last writes.
    case normal
  }

  /// What happens to data that the backend has confirmed and has no more, because it went back to an older copy of its data.
  public enum BackendReset: String, Sendable {
    /// It stays on the device, quarantined, until the program decides: see `PendingWrite.State.backendWentBack`.
    case keep
    /// It is sent again, on the condition that the backend still has what it went back to.
    case resend
    /// What the backend has replaces it.
    case accept
  }

  /// The key of the application on the backend, such as `kid_…`.
  public var appKey: String
  /// The backend that the client synchronises with.
  public var backend: Backend
  /// A GraphQL schema whose models are the collections of a local database: see `docs/models.md`. Without a schema,
  /// collections have any name, and their entities any content.
  public var schema: String?
  /// How local data of another schema becomes data of this one. Nil: data that does not fit is refused, with `.conflict`.
  public var migration: Migration?
  /// The directory of the local data and the session. Nil: `$XDG_DATA_HOME/kvstore`, or else `~/.local/share/kvstore`.
  public var dataDirectory: String?
  /// The tag of the local data and the session. Different tags are kept apart.
  public var tag: String?
  /// Which failures an acknowledged write survives.
  public var durability = Durability.full
  /// Whether all users of the device share one set of local data.
  public var isSharedDevice = false
  /// Whether the client pushes pending writes by itself.
  public var pushesAutomatically = false
  /// What happens to data that the backend has confirmed and has no more, because it went back to an older copy.
  public var onBackendReset = BackendReset.keep
  /// Whether local data gets indexes where queries look at all entities again and again.
  public var makesIndexes = true
  /// The master secret of the application, for calls without a user. Do not ship it in programs.
  public var masterSecret: String?
  /// The options of every call, unless the store or the call overrides them.
  public var calls = CallOptions()
  /// All other options in `docs/options.md`, as a JSON object.
  public var otherOptions: String?

  /// Creates a configuration with defaults for everything else.
  public init(appKey: String, backend: Backend) {
    self.appKey = appKey
    self.backend = backend
  }

  /// The options in the form of the C interface.
  var options: JSONObject {
    get throws(KVStoreError) {
      var options = try JSONObject(options: otherOptions)
      options.add(try calls.object)
      options["appKey"] = .string(appKey)
      switch backend {
      case .none: options["host"] = options["backend"] == nil ? .null : nil
      case .host(let url, let secret):
        options["host"] = .string(url)
        options["appSecret"] = .string(secret)
      case .instance(let id, let secret):
        options["instanceId"] = .string(id)
        options["appSecret"] = .string(secret)
      case .custom(let name): options["backend"] = .string(name)
      case .store(let name): options["store"] = .string(name)
      }
      options.set("schema", schema)
      options.set("dataDirectory", dataDirectory)
      options.set("tag", tag)
      options["encryptionKey"] = encryptionKey?.option
      options.set("masterSecret", masterSecret)
      options["durability"] = .string(durability.rawValue)
      if isSharedDevice { options["sharedDevice"] = true }
      if pushesAutomatically { options["pushAutomatically"] = true }
      if onBackendReset != .keep { options["onBackendReset"] = .string(onBackendReset.rawValue) }
      if !makesIndexes { options["autoIndex"] = false }
      return options
    }
  }
}

extension JSONObject {
  /// Parses options. Nil: none.
  init(options text: String?) throws(KVStoreError) {
    guard let text else {
      self.init()
      return
    }
    guard let object = try JSONDecoding.ifValid(text)?.objectValue else {
      throw KVStoreError(.invalid, "The options are not a JSON object.")
    }
    self = object
  }

  mutating func set(_ name: String, _ text: String?) {
    if let text { self[name] = .string(text) }
  }

  /// Adds the members of another object.
  mutating func add(_ other: JSONObject) {
    for member in other.members { self[member.name] = member.value }
  }
}
