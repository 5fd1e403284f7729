internal import KVSync

/// Where the backend is, and how the URLs of one application are made.
struct KinveyEndpoint: Sendable {
  let host: String
  private let authHost: String
  private let appKey: String

  /// Fails with `invalid` for a host that is no plain http or https URL.
  init(_ configuration: KinveyConfiguration) throws(StoreError) {
    guard !configuration.appKey.isEmpty else { throw StoreError(.invalid, "The appKey is empty.") }
    host = try Self.host(configuration.host, instanceId: configuration.instanceId, service: "baas")
    authHost = try Self.host(
      configuration.authHost ?? configuration.host,
      instanceId: configuration.authHost == nil ? configuration.instanceId : nil, service: "auth")
    appKey = PercentEncoding.segment(configuration.appKey)
  }

  /// `<host>/<family>/<appKey>/<segments>?<items>`; segments and values are encoded here.
  func url(_ family: Family, _ segments: [String], query items: [QueryItem] = []) -> String {
    var url = "\(host)/\(family.rawValue)/\(appKey)"
    for segment in segments { url += "/" + PercentEncoding.segment(segment) }
    return url + Self.query(items)
  }

  /// The URL of what has an id: an entity, a user, a substream. Fails with `invalid` for an id that the backend
  /// would not take for one.
  func url(
    _ family: Family, _ segments: String..., id: String, query items: [QueryItem] = []
  ) throws(StoreError) -> String {
    if let error = family.error(ofID: id) { throw error }
    return url(family, segments + [id], query: items)
  }

  /// `?name=value&…`, or nothing.
  static func query(_ items: [QueryItem]) -> String {
    var query = ""
    for (index, item) in items.enumerated() {
      query += index == 0 ? "?" : "&"
      query += "\(item.name)=\(PercentEncoding.value(item.value))"
    }
    return query
  }

  /// An endpoint of the authorization server.
  func authorization(_ name: String) -> String { "\(authHost)/v3/oauth/\(name)" }

  enum Family: String {
    case data = "appdata"
    case users = "user"
    case groups = "group"
    case functions = "rpc"
    case streams = "stream"

    /// Whether a segment where an id is expected means something else. The backend decodes a segment before it
    /// looks: encoding does not help.
    func hasOperation(_ segment: String) -> Bool {
      operations.contains { $0.utf8.elementsEqual(segment.utf8) }
    }

    /// The error of an id that no URL leads to; nil if one does.
    func error(ofID id: String) -> StoreError? {
      guard !id.isEmpty else { return StoreError(.invalid, "The id is empty.") }
      guard hasOperation(id) else { return nil }
      return StoreError(
        .invalid, "\(id) is the name of an operation of the backend and cannot be an id.")
    }

    /// The names of operations, of the hosted service and of our server.
    private var operations: [String] {
      switch self {
      case .data:
        [
          "_count", "_group", "_batch", "_deltaset", "_history", "_indexes", "_permissions",
          "_subscribe", "_unsubscribe",
        ]
      case .users: ["login", "_logout", "_me", "_lookup"]
      case .functions, .groups: []
      case .streams: ["_substreams"]
      }
    }
  }

  struct QueryItem {
    var name: StaticString
    var value: String
    init(_ name: StaticString, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  // MARK: The host

  private static func host(
    _ host: String?, instanceId: String?, service name: String
  ) throws(StoreError) -> String {
    guard let host else { return try hosted(instanceId, name) }
    guard instanceId == nil else {
      throw StoreError(.invalid, "The options host and instanceId exclude each other.")
    }
    let scheme = host.prefix { $0 != ":" }.lowercased()
    let rest = host.dropFirst(scheme.count)
    guard scheme == "http" || scheme == "https", rest.hasPrefix("://"), rest.utf8.count > 3,
      !rest.dropFirst(3).hasPrefix("/"),
      rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"@?#\\".utf8.contains($0) })
    else {
      throw StoreError(.invalid, "The host must be a URL such as https://baas.kinvey.com.")
    }
    return String(host.reversed().drop { $0 == "/" }.reversed())
  }

  private static func hosted(_ instanceId: String?, _ name: String) throws(StoreError) -> String {
    guard let instanceId else { return "https://\(name).kinvey.com" }
    let isLabel = instanceId.utf8.allSatisfy {
      ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-")
    }
    guard !instanceId.isEmpty, isLabel else {
      throw StoreError(.invalid, "The instanceId must have letters, digits and hyphens only.")
    }
    return "https://\(instanceId)-\(name).kinvey.com"
  }
}
