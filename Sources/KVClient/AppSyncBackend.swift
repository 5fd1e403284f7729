internal import KVAppSync
internal import KVJSON
internal import KVModels
internal import KVSync
internal import KVTransport

/// The backend that speaks to AWS AppSync: the one place that knows the room.
struct AppSyncBackend {
  private let configuration: AppSyncConfiguration
  private let transport: TransportOptions

  /// From the options of a client, of which it takes its own.
  init(_ reader: inout OptionReader) throws(StoreError) {
    transport = try TransportOptions(from: &reader)
    let api = try reader.members("configuration").map(Self.api)
    let named = try reader.string("endpoint")
    guard let endpoint = named ?? api?["endpoint"]?.stringValue else {
      throw StoreError(.invalid, "The option \"endpoint\" is missing: the address of the API.")
    }
    guard endpoint.hasPrefix("https://") || endpoint.hasPrefix("http://") else {
      throw StoreError(
        .invalid, "The option \"endpoint\" must be an address of https:// or http://.")
    }
    var configuration = AppSyncConfiguration(
      endpoint: endpoint, try Self.authorization(&reader, or: api?["apiKey"]?.stringValue))
    if let limit = try reader.integer("maxResponseBytes", 1...Int(Int32.max)) {
      configuration.maxAnswerBytes = limit
    }
    if let size = try reader.integer("pageSize", 1...1000) { configuration.pageSize = size }
    if let seconds = try reader.seconds("syncInterval") { configuration.syncInterval = seconds }
    configuration.realtimeEndpoint = try reader.string("realtimeEndpoint")
    if let name = try reader.string("realtimeUpgrade") {
      guard let upgrade = AppSyncConfiguration.Upgrade(rawValue: name) else {
        throw StoreError(
          .invalid,
          "The option \"realtimeUpgrade\" must be \"subprotocol\", \"headers\" or \"query\".")
      }
      configuration.upgrade = upgrade
    }
    self.configuration = configuration
  }

  /// The GraphQL API that an `amplifyconfiguration.json` names.
  private static func api(_ configuration: JSONObject) throws(StoreError) -> JSONObject {
    let named = configuration["api"]?["plugins"]?["awsAPIPlugin"]?.objectValue ?? [:]
    let apis = named.members.compactMap(\.value.objectValue).filter {
      $0["endpointType"]?.stringValue == "GraphQL"
    }
    guard apis.count == 1 else {
      throw StoreError(
        .invalid, "The option \"configuration\" must name one GraphQL API; it names \(apis.count).")
    }
    return apis[0]
  }

  /// The option "auth": an object with one member. `key`: of an API that is configured with one.
  private static func authorization(
    _ reader: inout OptionReader, or key: String?
  ) throws(StoreError) -> AppSyncConfiguration.Authorization {
    guard var auth = try reader.options("auth") else {
      if let key { return .apiKey(key) }
      throw StoreError(.invalid, "The option \"auth\" is missing: what requests are allowed by.")
    }
    let (key, token) = (try auth.string("apiKey"), try auth.string("token"))
    let iam = try auth.options("iam").map(Self.iam)
    try auth.finish()
    switch (key, token, iam) {
    case (let key?, nil, nil): return .apiKey(key)
    case (nil, let token?, nil): return .token(token)
    case (nil, nil, let iam?): return iam
    default:
      throw StoreError(
        .invalid, "The option \"auth\" must have one of \"apiKey\", \"token\" and \"iam\".")
    }
  }

  private static func iam(
    _ reader: OptionReader
  ) throws(StoreError) -> AppSyncConfiguration.Authorization {
    var reader = reader
    guard let id = try reader.string("accessKeyId"),
      let secret = try reader.string("secretAccessKey"), let region = try reader.string("region")
    else {
      throw StoreError(
        .invalid,
        "The option \"auth\" needs \"accessKeyId\", \"secretAccessKey\" and \"region\" in \"iam\".")
    }
    let token = try reader.string("sessionToken")
    try reader.finish()
    return .iam(
      AWSCredentials(accessKeyID: id, secretAccessKey: secret, sessionToken: token), region: region)
  }

  /// What opens it.
  func factory(_ schema: ModelSchema) -> BackendFactory {
    { [configuration, transport] (context) throws(StoreError) in
      let transport = try Transport(transport, context)
      let remote = AppSyncRemote(AppSyncService(configuration, transport), schema)
      let live = AppSyncLive(remote, schema)
      var backend = Backend(name: BackendRegistry.appSync, remote: remote) {
        live.close()
        transport.close()
      }
      backend.live = live
      // What it can merge, it has merged; the rest is refused.
      backend.conflicts = .serverWins
      return backend
    }
  }
}
