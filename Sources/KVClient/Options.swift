package import KVJSON
package import KVSync

/// What a call may choose. Each may be set for the client, for a store and for one call; the most
/// specific one counts.
package struct Options: Sendable, Equatable {
  package var readPolicy: ReadPolicy?
  package var writePolicy: WritePolicy?
  /// Seconds for the whole call.
  package var timeout: Double?
  /// Seconds after which local reads ignore what was written locally.
  package var ttl: Double?
  package var clientAppVersion: String?
  /// A JSON object as text.
  package var customRequestProperties: String?
  /// Whether a pull reads page by page.
  package var autoPagination: Bool?
  /// The size of these pages.
  package var maxSizePerResultSet: Int?
  /// Whether a read asks only for what has changed since the last time.
  package var deltaSet: Bool?
  /// Whether a read fetches only what differs from here, where the backend has no history.
  package var deltaSetCaching: Bool?
  /// What happens when an entity was changed here and on the backend.
  package var conflicts: ConflictStrategy?
  /// How often a request that failed is sent again, where that is safe.
  package var retries: Int?
  /// The members that the application's entities have: a save keeps the others of what is stored.
  package var knownMembers: KnownMembers?

  /// Whether a push sends what was set aside as well.
  package var retriesQuarantined: Bool?

  package init() {}

  init(from reader: inout OptionReader) throws(StoreError) {
    readPolicy = try reader.choice("readPolicy", ReadPolicy.self)
    writePolicy = try reader.choice("writePolicy", WritePolicy.self)
    timeout = try reader.seconds("timeout")
    ttl = try reader.seconds("ttl")
    clientAppVersion = try reader.string("clientAppVersion")
    customRequestProperties = try reader.object("customRequestProperties")
    if let properties = customRequestProperties, properties.utf8.count >= 2000 {
      throw StoreError(
        .invalid, "The option \"customRequestProperties\" must be under 2,000 bytes as JSON.")
    }
    autoPagination = try reader.bool("autoPagination")
    maxSizePerResultSet = try reader.integer("maxSizePerResultSet", 1...10_000)
    deltaSet = try reader.bool("deltaSet")
    deltaSetCaching = try reader.bool("deltaSetCaching")
    conflicts = try reader.choice("conflicts", ConflictStrategy.self)
    retries = try reader.integer("retries", 0...100)
    knownMembers = try reader.knownMembers("knownMembers")
    retriesQuarantined = try reader.bool("retryQuarantined")
  }

  /// The options of one call.
  package init(_ object: JSONObject) throws(StoreError) {
    var reader = OptionReader(object)
    self = try Options(from: &reader)
    try reader.finish()
  }

  /// The options of a call that writes entities by their ids, and the condition among them.
  package static func ofWrite(
    _ object: JSONObject
  ) throws(StoreError) -> (options: Options, condition: WriteCondition) {
    var reader = OptionReader(object)
    let condition = try reader.condition("if") ?? .none
    let options = try Options(from: &reader)
    try reader.finish()
    return (options, condition)
  }

  /// These, and what they leave open from `base`.
  package func over(_ base: Options) -> Options {
    var merged = base
    merged.readPolicy = readPolicy ?? base.readPolicy
    merged.writePolicy = writePolicy ?? base.writePolicy
    merged.timeout = timeout ?? base.timeout
    merged.ttl = ttl ?? base.ttl
    merged.clientAppVersion = clientAppVersion ?? base.clientAppVersion
    merged.customRequestProperties = customRequestProperties ?? base.customRequestProperties
    merged.autoPagination = autoPagination ?? base.autoPagination
    merged.maxSizePerResultSet = maxSizePerResultSet ?? base.maxSizePerResultSet
    merged.deltaSet = deltaSet ?? base.deltaSet
    merged.deltaSetCaching = deltaSetCaching ?? base.deltaSetCaching
    merged.conflicts = conflicts ?? base.conflicts
    merged.retries = retries ?? base.retries
    merged.knownMembers = knownMembers ?? base.knownMembers
    merged.retriesQuarantined = retriesQuarantined ?? base.retriesQuarantined
    return merged
  }

  var refreshing: CollectionEngine.Refreshing {
    CollectionEngine.Refreshing(
      paging: autoPagination == true ? .pages(of: maxSizePerResultSet ?? 10_000, ranges: 3) : .off,
      usesChanges: deltaSet == true, comparesVersions: deltaSetCaching == true)
  }
}
