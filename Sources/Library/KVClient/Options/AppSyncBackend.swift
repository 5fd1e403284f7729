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
    let (credentials, usual) = try Self.authorization(&reader, api)
    var configuration = AppSyncConfiguration(endpoint: endpoint, credentials, usual: usual)
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

  /// The options "auth" and "defaultAuth". `api`: that of an `amplifyconfiguration.json`.
  private static func authorization(
    _ reader: inout OptionReader, _ api: JSONObject?
  ) throws(StoreError) -> (
    credentials: [AuthorizationMode: AppSyncConfiguration.Credential], usual: AuthorizationMode
  ) {
    let key = api?["apiKey"]?.stringValue
    let given = try reader.members("auth")
    let usual = try reader.choice("defaultAuth", AuthorizationMode.self)
    guard let given else {
      guard let key else {
        throw StoreError(.invalid, "The option \"auth\" is missing: what requests are allowed by.")
      }
      return ([.apiKey: .apiKey(key)], .apiKey)
    }
    var credentials: [AuthorizationMode: AppSyncConfiguration.Credential] = [:]
    for member in given.members {
      guard let mode = AuthorizationMode(rawValue: member.name) else {
        throw StoreError(.invalid, "The option \"\(member.name)\" does not apply here.")
      }
      credentials[mode] = try credential(mode, member.value)
    }
    if let key, credentials[.apiKey] == nil, credentials.count > 1 || usual == .apiKey {
      credentials[.apiKey] = .apiKey(key)
    }
    let first = given.members.first.flatMap { AuthorizationMode(rawValue: $0.name) }
    let configured = api?["authorizationType"]?.stringValue.flatMap(Self.mode)
    guard let chosen = usual ?? configured.flatMap({ credentials[$0] == nil ? nil : $0 }) ?? first
    else {
      throw StoreError(
        .invalid,
        "The option \"auth\" must have one of \"apiKey\", \"iam\" and a provider of tokens.")
    }
    guard credentials[chosen] != nil else {
      throw StoreError(
        .invalid,
        "The option \"auth\" must have what \"defaultAuth\" names: \"\(chosen.rawValue)\".")
    }
    return (credentials, chosen)
  }

  private static func credential(
    _ mode: AuthorizationMode, _ value: JSONValue
  ) throws(StoreError) -> AppSyncConfiguration.Credential {
    switch (mode, value) {
    case (.apiKey, .string(let key)) where !key.isEmpty: return .apiKey(key)
    case (.iam, .object(let object)): return try iam(OptionReader(object))
    // There is none yet.
    case (_, .null) where mode.isToken: return .token(nil)
    case (_, .string(let token)) where mode.isToken: return .token(token.isEmpty ? nil : token)
    default:
      throw StoreError(
        .invalid,
        "The option \"\(mode.rawValue)\" in \"auth\" must be \(mode == .iam ? "an object" : "a text")."
      )
    }
  }

  /// The mode that an `amplifyconfiguration.json` names.
  private static func mode(_ type: String) -> AuthorizationMode? {
    switch type {
    case "API_KEY": .apiKey
    case "AWS_IAM": .iam
    case "AMAZON_COGNITO_USER_POOLS": .userPools
    case "OPENID_CONNECT": .oidc
    case "AWS_LAMBDA": .function
    default: nil
    }
  }

  private static func iam(
    _ reader: OptionReader
  ) throws(StoreError) -> AppSyncConfiguration.Credential {
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
      let service = AppSyncService(configuration, transport)
      let remote = AppSyncRemote(service, schema)
      let live = AppSyncLive(remote, schema)
      var backend = Backend(name: BackendRegistry.appSync, remote: remote) {
        live.close()
        service.setTokenProvider(nil)
        transport.close()
      }
      backend.live = live
      backend.ping = { (call) throws(StoreError) in try remote.check(call) }
      backend.setTokenProvider = { service.setTokenProvider($0) }
      // As the API does itself. It keeps its own value also where only this device has changed the member.
      backend.conflicts = .automerge
      return backend
    }
  }
}
