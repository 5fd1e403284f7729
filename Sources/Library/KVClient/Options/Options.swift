// Made by scripts/generate_abi.py from docs/options.md: do not edit.

package import KVJSON
package import KVSync

/// What a call may choose. Each may be set for the client, for a store and for one call; the most
/// specific one counts.
package struct Options: Sendable, Equatable {
  /// In seconds: how long a call may go on without progress, in a local search as well: each
  /// request that succeeds, and each 16 KiB that are sent or received, let the time begin anew; a
  /// cursor may be read for longer; default: 60.
  package var timeout: Double?
  /// How often a failed request is sent again, where that is safe and within the timeout; 0: never;
  /// default: 3.
  package var retries: Int?
  /// `X-Kinvey-Client-App-Version`.
  package var clientAppVersion: String?
  /// `X-Kinvey-Custom-Request-Properties`.
  package var customRequestProperties: String?
  /// Where a read gets its answer; default: by the store's type.
  package var readPolicy: ReadPolicy?
  /// Where a write goes; default: by the store's type.
  package var writePolicy: WritePolicy?
  /// In seconds: local reads ignore entities that were stored longer ago than this, and so do
  /// updates and removals by a query; what a pull finds unchanged on the backend counts as stored
  /// by it.
  package var ttl: Double?
  /// A pull reads page by page, for collections beyond the backend's limit of one answer.
  package var autoPagination: Bool?
  /// The size of these pages; default: 10,000.
  package var maxSizePerResultSet: Int?
  /// For backends without a history: a pull lists ids and versions, and fetches only entities that
  /// differ from the local ones.
  package var deltaSetCaching: Bool?
  /// The members that your entities have; default: all.
  package var knownMembers: KnownMembers?
  /// What happens when an entity was changed here and on the backend: see sync.md; default:
  /// `"clientWins"`, with AppSync `"automerge"`; `"handler"` if the store has one.
  package var conflicts: ConflictStrategy?
  /// How `merge` and `automerge` treat lists that both sides have changed, by their members: see
  /// conflicts.md.
  package var mergeRules: MergeRules?
  /// A local change that `serverWins` or `automerge` would discard, as a whole or in part, stays as
  /// an open conflict instead: see conflicts.md.
  package var keepDiscarded: Bool?
  /// A push, or the push of a sync, sends quarantined writes as well.
  package var retryQuarantined: Bool?
  /// A pull, and a find on the network, fetches only the changes since the same query was last
  /// read, if the backend supports that; default: false, with AppSync true.
  package var deltaSet: Bool?

  package init() {}

  init(from reader: inout OptionReader) throws(StoreError) {
    timeout = try reader.seconds("timeout")
    retries = try reader.integer("retries", 0...100)
    clientAppVersion = try reader.string("clientAppVersion")
    customRequestProperties = try reader.requestProperties("customRequestProperties")
    readPolicy = try reader.choice("readPolicy", ReadPolicy.self)
    writePolicy = try reader.choice("writePolicy", WritePolicy.self)
    ttl = try reader.seconds("ttl")
    autoPagination = try reader.bool("autoPagination")
    maxSizePerResultSet = try reader.integer("maxSizePerResultSet", 1...10_000)
    deltaSetCaching = try reader.bool("deltaSetCaching")
    knownMembers = try reader.knownMembers("knownMembers")
    conflicts = try reader.choice("conflicts", ConflictStrategy.self)
    mergeRules = try reader.mergeRules("mergeRules")
    keepDiscarded = try reader.bool("keepDiscarded")
    retryQuarantined = try reader.bool("retryQuarantined")
    deltaSet = try reader.bool("deltaSet")
  }

  /// Returns these options, with the missing ones from `base`.
  package func over(_ base: Options) -> Options {
    var merged = base
    merged.timeout = timeout ?? base.timeout
    merged.retries = retries ?? base.retries
    merged.clientAppVersion = clientAppVersion ?? base.clientAppVersion
    merged.customRequestProperties = customRequestProperties ?? base.customRequestProperties
    merged.readPolicy = readPolicy ?? base.readPolicy
    merged.writePolicy = writePolicy ?? base.writePolicy
    merged.ttl = ttl ?? base.ttl
    merged.autoPagination = autoPagination ?? base.autoPagination
    merged.maxSizePerResultSet = maxSizePerResultSet ?? base.maxSizePerResultSet
    merged.deltaSetCaching = deltaSetCaching ?? base.deltaSetCaching
    merged.knownMembers = knownMembers ?? base.knownMembers
    merged.conflicts = conflicts ?? base.conflicts
    merged.mergeRules = mergeRules ?? base.mergeRules
    merged.keepDiscarded = keepDiscarded ?? base.keepDiscarded
    merged.retryQuarantined = retryQuarantined ?? base.retryQuarantined
    merged.deltaSet = deltaSet ?? base.deltaSet
    return merged
  }
}
