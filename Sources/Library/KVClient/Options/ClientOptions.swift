internal import Glibc
internal import KVBase
internal import KVCrypto
internal import KVJSON
internal import KVObjects
internal import KVStorage
internal import KVSync

/// What a client is opened with, checked.
struct ClientOptions {
  var appKey: String
  /// Opens the backend; nil: a local database without one.
  var backend: BackendFactory?
  /// The custom store that has the data; nil: it is in the local database.
  var store: CustomStoreOptions?
  /// Where a custom store is to look for its data.
  var location: StoreLocation
  /// Nil: collections have any name, and their records any content.
  var models: ClientModels?
  var dataDirectory: String
  /// Has the key of the local data; nil: it is not encrypted.
  var vault: Vault?
  /// Whether the data may be on a network file system.
  var allowsNetworkFileSystem: Bool
  var tag: String
  var durability: Storage.Durability
  /// Whether indexes are made without being asked for.
  var makesIndexes: Bool
  var calls: Options
  /// Whether all users of the device have one set of data.
  var isSharedDevice: Bool
  /// Whether what waits is pushed without being asked for.
  var pushesAutomatically: Bool
  /// What happens to what the backend has confirmed and has no more.
  var onBackendReset: BackendResetPolicy
  /// Whether follows use live data before the application registers for it.
  var usesLive: Bool
  var synced: SyncedOptions

  /// Where the local data is.
  var directory: DataDirectory {
    DataDirectory(
      root: dataDirectory, appKey: appKey, vault: vault,
      networkType: allowsNetworkFileSystem ? nil : NetworkFileSystem.type)
  }

  private enum DurabilityName: String, CaseIterable { case full, normal }

  init(_ object: JSONObject) throws(StoreError) {
    var reader = OptionReader(object)
    guard let appKey = try reader.string("appKey") else {
      throw StoreError(.invalid, "The option \"appKey\" is missing.")
    }
    self.appKey = appKey
    let chosen = try StoreSelection(&reader)
    let named = chosen.name
    models = try ClientModels.read(&reader)
    let appSync = named == BackendRegistry.appSync ? try AppSyncBackend(&reader) : nil
    if appSync == nil { try Self.checkNoBackend(named, with: models, &reader) }
    let isHosted = named == nil && models == nil && !chosen.isLocal
    let kinvey = isHosted ? try KinveyBackend(appKey, &reader) : nil
    if let directory = try reader.string("dataDirectory") {
      dataDirectory = directory
    } else {
      dataDirectory = try Self.defaultDirectory()
    }
    vault = try reader.value("encryptionKey").map { [dataDirectory] (key) throws(StoreError) in
      try Vault(key, named: "encryptionKey", directory: dataDirectory)
    }
    allowsNetworkFileSystem = try reader.bool("allowNetworkFileSystem") ?? false
    tag = try Self.tag(&reader) ?? "kinvey"
    let durability = try reader.choice("durability", DurabilityName.self)
    self.durability = durability == .normal ? .normal : .full
    makesIndexes = try reader.bool("autoIndex") ?? true
    isSharedDevice = try reader.bool("sharedDevice") ?? false
    pushesAutomatically = try reader.bool("pushAutomatically") ?? false
    onBackendReset = try reader.choice("onBackendReset", BackendResetPolicy.self) ?? .keep
    usesLive = try reader.bool("live") ?? true
    synced = try SyncedOptions(&reader)
    calls = try Options(from: &reader)
    if let appSync {
      guard let models else {
        throw StoreError(.invalid, "The option \"schema\" is missing: the models of the API.")
      }
      backend = appSync.factory(models.schema)
      calls.deltaSet = calls.deltaSet ?? true
    } else {
      backend = try named.map(Self.registered) ?? kinvey?.factory(calls)
    }
    store = named.flatMap(CustomStoreOptions.init)
    location = StoreLocation(
      appKey: appKey, directory: dataDirectory, tag: tag,
      options: chosen.options, timeout: calls.timeout ?? 60)
    try reader.finish()
  }

  /// Throws `.unsupported` for models with another backend than the one that has them: `host` is null, or left out.
  private static func checkNoBackend(
    _ named: String?, with models: ClientModels?, _ reader: inout OptionReader
  ) throws(StoreError) {
    guard models != nil else { return }
    let host = try reader.stringOrNull("host") ?? nil
    guard named == nil, host == nil else {
      throw StoreError(
        .unsupported,
        "The option \"schema\" is for a local database, or for the backend \"\(BackendRegistry.appSync)\"."
      )
    }
  }

  /// Reads the tag: letters, digits and hyphens.
  static func tag(_ reader: inout OptionReader) throws(StoreError) -> String? {
    guard let tag = try reader.string("tag") else { return nil }
    guard tag.hasOnlyLettersDigits(and: "-"), tag.utf8.count <= 100 else {
      throw StoreError(
        .invalid,
        "The option \"tag\" must have letters, digits and hyphens only, and at most 100 of them.")
    }
    return tag
  }

  /// The backend that the application has registered under a name.
  private static func registered(_ name: String) throws(StoreError) -> BackendFactory {
    guard let factory = BackendRegistry.shared.factory(name) else {
      throw StoreError(
        .invalid,
        "The option \"backend\" or \"store\": no backend or store is registered as \"\(name)\".")
    }
    return factory
  }

  /// `$XDG_DATA_HOME/kvstore`, else `~/.local/share/kvstore`.
  private static func defaultDirectory() throws(StoreError) -> String {
    if let base = environment("XDG_DATA_HOME") { return "\(base)/kvstore" }
    if let home = environment("HOME") { return "\(home)/.local/share/kvstore" }
    throw StoreError(.invalid, "The home directory is unknown: set the option \"dataDirectory\".")
  }

  private static func environment(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.hasPrefix("/") ? text : nil
  }
}
