internal import KVBase
internal import KVKinvey
internal import KVSync
internal import KVTransport

/// The backend that speaks Kinvey's protocol: the only file that knows the room. Hosted, or our own server.
struct KinveyBackend {
  private var configuration: KinveyConfiguration
  private let transport: TransportOptions

  /// From the options of a client, of which it takes its own. Nil: they say that there is no backend.
  init?(_ appKey: String, _ reader: inout OptionReader) throws(StoreError) {
    transport = try TransportOptions(from: &reader)
    let host = try reader.stringOrNull("host")
    let secret = try reader.string("appSecret")
    configuration = KinveyConfiguration(
      host: host ?? nil, instanceId: try reader.string("instanceId"),
      authHost: try reader.string("authHost"), appKey: appKey,
      appSecret: secret ?? "", masterSecret: try reader.string("masterSecret"),
      apiVersion: try reader.integer("apiVersion", 5...6) ?? 5, connections: transport.connections,
      version: Version.text)
    if let limit = try reader.integer("maxResponseBytes", 1...Int(Int32.max)) {
      configuration.maxAnswerBytes = limit
    }
    if let limit = try reader.integer("maxGroupBytes", 1...Int(Int32.max)) {
      configuration.maxGroupBytes = limit
    }
    if let name = try reader.string("deviceName") {
      guard DeviceName.isName(name) else {
        throw StoreError(
          .invalid,
          "The option \"deviceName\" must have 1 to \(DeviceName.maxBytes) bytes of UTF-8 without control characters."
        )
      }
      configuration.deviceName = name
    }
    configuration.sendsOriginalForms = try reader.bool("originalForms") ?? false
    if case .some(nil) = host { return nil }
    guard host != nil || configuration.instanceId != nil else {
      // No default: if the option is forgotten, the data must not be sent to another app.
      throw StoreError(
        .invalid,
        "The option \"host\" is missing: the backend's address, or null for a local database.")
    }
    guard secret != nil else {
      throw StoreError(
        .invalid,
        "The option \"appSecret\" is missing; it is required unless the host is null.")
    }
  }

  /// What opens it. `calls`: what requests say that are told nothing else.
  func factory(_ calls: Options) -> BackendFactory {
    var configuration = configuration
    configuration.clientAppVersion = calls.clientAppVersion
    configuration.customRequestProperties = calls.customRequestProperties
    return { [configuration, transport] (context) throws(StoreError) in
      try Self.open(configuration, transport, context: context)
    }
  }

  private static func open(
    _ configuration: KinveyConfiguration, _ options: TransportOptions, context: BackendContext
  ) throws(StoreError) -> Backend {
    let transport = try Transport(options, context)
    let service: KinveyService
    do throws(StoreError) {
      service = try KinveyService(
        configuration, transport, session: context.token, memory: context.memory,
        debug: context.debug)
    } catch {
      transport.close()
      throw error
    }
    let polls = PollTransport(options) { trace in context.debug { trace.text } }
    var backend = Backend(name: "kinvey", remote: KinveyRemote(service)) {
      polls.close()
      transport.close()
    }
    let users = KinveyUsers(service)
    let live = KinveyLive(service, polling: polls)
    backend.accounts = users
    backend.groups = KinveyGroups(service)
    backend.authorization = KinveyAuthorization(service)
    (backend.live, backend.streams) = (live, live)
    backend.ping = { (call) throws(StoreError) in try users.ping(call) }
    backend.acceptsAnonymousWrites = configuration.masterSecret != nil
    return backend
  }
}
