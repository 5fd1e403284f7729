internal import KVJSON

/// What a client is opened with.
///
///     var configuration = Configuration(appKey: "kid_demo", backend: .none)
///     configuration.dataDirectory = "/var/lib/notes"
///     let client = try KVStoreClient(configuration)
public struct Configuration: Sendable {
  /// With whom the data is synchronised.
  public enum Backend: Sendable {
    /// Nobody: a local database. Its stores are of the type `.sync` and stay local.
    case none
    /// A server that speaks Kinvey's protocol, such as `kvstored`. `secret`: the application's.
    case host(String, secret: String)
    /// A dedicated instance of Kinvey's.
    case instance(String, secret: String)
    /// A backend of the program's own, by the name that it was registered under: see `CustomBackend`.
    case custom(String)
  }

  /// What is safe once it is acknowledged.
  public enum Durability: String, Sendable {
    /// It survives a loss of power.
    case full
    /// It survives the end of the process; a loss of power may take the last writes.
    case normal
  }

  /// The application on the backend, such as `kid_…`.
  public var appKey: String
  public var backend: Backend
  /// A GraphQL schema whose models are the collections of a local database: `docs/models.md`. Nil: collections have any
  /// name, and their entities any content.
  public var schema: String?
  /// Where local data and the session are. Nil: `$XDG_DATA_HOME/kvstore`, else `~/.local/share/kvstore`.
  public var dataDirectory: String?
  /// Local data and sessions of different tags are apart.
  public var tag: String?
  public var durability = Durability.full
  /// All users of the device have one set of local data.
  public var isSharedDevice = false
  /// What waits is pushed without being asked for.
  public var pushesAutomatically = false
  /// Calls without a user act as the application's master. Not for programs that you give away.
  public var masterSecret: String?
  /// Of every call, unless the store or the call says something else.
  public var calls = CallOptions()
  /// All other options of `docs/options.md`, by their names there, as a JSON object.
  public var otherOptions: String?

  public init(appKey: String, backend: Backend) {
    self.appKey = appKey
    self.backend = backend
  }

  /// As the C interface has it.
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
      }
      options.set("schema", schema)
      options.set("dataDirectory", dataDirectory)
      options.set("tag", tag)
      options.set("masterSecret", masterSecret)
      options["durability"] = .string(durability.rawValue)
      if isSharedDevice { options["sharedDevice"] = true }
      if pushesAutomatically { options["pushAutomatically"] = true }
      return options
    }
  }
}

extension JSONObject {
  /// Options as a text. Nil: none.
  init(options text: String?) throws(KVStoreError) {
    guard let text else {
      self.init()
      return
    }
    guard let object = try JSONDecoding.ifValid(text)?.objectValue else {
      throw KVStoreError(.invalid, "The options are no JSON object.")
    }
    self = object
  }

  mutating func set(_ name: String, _ text: String?) {
    if let text { self[name] = .string(text) }
  }

  /// Takes over the members of another one.
  mutating func add(_ other: JSONObject) {
    for member in other.members { self[member.name] = member.value }
  }
}
