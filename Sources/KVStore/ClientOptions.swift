internal import Glibc
internal import KVJSON
internal import KVKinvey
internal import KVStorage
internal import KVSync
internal import KVTransport

/// What a client is opened with, checked.
struct ClientOptions {
  var appKey: String
  /// Nil: a local database without a backend.
  var backend: KinveyConfiguration?
  var transport: TransportOptions
  var dataDirectory: String
  var tag: String
  var durability: Storage.Durability
  var calls: Options
  /// Whether all users of the device have one set of data.
  var isSharedDevice: Bool
  /// Whether what waits is pushed without being asked for.
  var pushesAutomatically: Bool

  private enum DurabilityName: String, CaseIterable { case full, normal }

  init(_ object: JSONObject) throws(StoreError) {
    var reader = OptionReader(object)
    guard let appKey = try reader.string("appKey") else {
      throw StoreError(.invalid, "The option \"appKey\" is missing.")
    }
    self.appKey = appKey
    transport = TransportOptions(
      caFile: try reader.string("caFile"), proxy: try reader.string("proxy"),
      connections: try reader.integer("connections", 1...64) ?? 6)
    backend = try Self.backend(appKey, transport.connections, &reader)
    if let directory = try reader.string("dataDirectory") {
      dataDirectory = directory
    } else {
      dataDirectory = try Self.defaultDirectory()
    }
    tag = try Self.tag(&reader) ?? "kinvey"
    let named = try reader.choice("durability", DurabilityName.self)
    durability = named == .normal ? .normal : .full
    isSharedDevice = try reader.bool("sharedDevice") ?? false
    pushesAutomatically = try reader.bool("pushAutomatically") ?? false
    calls = try Options(from: &reader)
    backend?.clientAppVersion = calls.clientAppVersion
    backend?.customRequestProperties = calls.customRequestProperties
    try reader.finish()
  }

  /// Letters, digits and hyphens.
  static func tag(_ reader: inout OptionReader) throws(StoreError) -> String? {
    guard let tag = try reader.string("tag") else { return nil }
    let isPlain = tag.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
    guard isPlain, tag.utf8.count <= 100 else {
      throw StoreError(
        .invalid, "The option \"tag\" must be letters, digits and hyphens, 100 at the most.")
    }
    return tag
  }

  private static func backend(
    _ appKey: String, _ connections: Int, _ reader: inout OptionReader
  ) throws(StoreError) -> KinveyConfiguration? {
    let host = try reader.stringOrNull("host")
    let secret = try reader.string("appSecret")
    var configuration = KinveyConfiguration(
      host: host ?? nil, instanceId: try reader.string("instanceId"),
      authHost: try reader.string("authHost"), appKey: appKey,
      appSecret: secret ?? "", masterSecret: try reader.string("masterSecret"),
      apiVersion: try reader.integer("apiVersion", 5...6) ?? 5, connections: connections,
      version: Version.text)
    if let most = try reader.integer("maxResponseBytes", 1...Int(Int32.max)) {
      configuration.mostBytes = most
    }
    configuration.sendsOriginalForms = try reader.bool("originalForms") ?? false
    if case .some(nil) = host { return nil }
    guard secret != nil else {
      throw StoreError(
        .invalid,
        "The option \"appSecret\" is missing; only a client whose host is null needs none.")
    }
    return configuration
  }

  /// `$XDG_DATA_HOME/kvstore`, else `~/.local/share/kvstore`.
  private static func defaultDirectory() throws(StoreError) -> String {
    if let base = environment("XDG_DATA_HOME") { return "\(base)/kvstore" }
    if let home = environment("HOME") { return "\(home)/.local/share/kvstore" }
    throw StoreError(.invalid, "There is no home directory: set the option \"dataDirectory\".")
  }

  private static func environment(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.hasPrefix("/") ? text : nil
  }
}
