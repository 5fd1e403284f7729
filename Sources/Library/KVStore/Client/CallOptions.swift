internal import KVClient
internal import KVJSON
internal import KVSync

/// The options of a call. Each can be set for the client, for a store and for one call. The most specific value
/// applies.
///
///     var options = CallOptions()
///     options.timeout = 5
///     try await people.sync(options: options)
public struct CallOptions: Sendable, Equatable {
  /// Where a read gets its answer from.
  public enum ReadPolicy: String, Sendable {
    /// The local answer.
    case forceLocal
    /// The backend's answer.
    case forceNetwork
    /// The local answer first, for callers that want it, and then the backend's.
    case both
    /// The backend's answer, or the local one if the backend did not answer.
    case networkOtherwiseLocal
  }

  /// Where a write goes.
  public enum WritePolicy: String, Sendable {
    /// The write is saved and queued.
    case forceLocal
    /// The write is saved, queued and sent. If the device is offline, the call succeeds.
    case silentLocalThenNetwork
    /// The write is saved, queued and sent. If the device is offline, the call fails, and the write stays in the queue.
    case localThenNetwork
    /// The write is only sent.
    case forceNetwork
  }

  /// How a conflict is resolved.
  public enum Conflicts: String, Sendable {
    /// The local version replaces the backend's.
    case clientWins
    /// The backend's version replaces the local one.
    case serverWins
    /// The changes of both versions are merged, if they concern different members.
    case merge
    /// The same, without leaving anything open: lists are joined, and the backend has what both have changed.
    case automerge
    /// The conflict is left open, and the write is quarantined.
    case optimistic
  }

  /// How a list is merged that both versions have changed.
  public enum MergeRule: String, Sendable {
    /// As a set: an element that both have added is there once.
    case union
    /// As a log: what each has added is there.
    case append
  }

  /// Where a read gets its answer from.
  public var readPolicy: ReadPolicy?
  /// Where a write goes.
  public var writePolicy: WritePolicy?
  /// The time limit of the whole call in seconds.
  public var timeout: Double?
  /// The number of times that a failed request is sent again, where that is safe.
  public var retries: Int?
  /// The seconds after which local reads ignore an entity that was stored locally.
  public var ttl: Double?
  /// How a conflict is resolved.
  public var conflicts: Conflicts?
  /// How `.merge` and `.automerge` treat lists, by their members: `["tags": .union]`.
  public var mergeRules: [String: MergeRule]?
  /// Whether a local change that a strategy would discard stays as an open conflict instead.
  public var keepsDiscarded: Bool?
  /// Whether a push sends quarantined writes as well.
  public var retriesQuarantined: Bool?
  /// Whether a pull fetches only the delta since the last one, if the backend supports that.
  public var deltaSet: Bool?
  /// Whether a pull reads page by page.
  public var autoPagination: Bool?
  /// All other options of a call in `docs/options.md`, as a JSON object.
  public var otherOptions: String?

  /// Creates options in which nothing is set.
  public init() {}

  /// The options in the form of the C interface, which checks them.
  var object: JSONObject {
    get throws(KVStoreError) {
      var options = try JSONObject(options: otherOptions)
      options.set("readPolicy", readPolicy?.rawValue)
      options.set("writePolicy", writePolicy?.rawValue)
      options.set("conflicts", conflicts?.rawValue)
      if let mergeRules {
        options["mergeRules"] = .object(
          JSONObject(mergeRules.map { JSONObject.Member($0.key, .string($0.value.rawValue)) }))
      }
      if let keepsDiscarded { options["keepDiscarded"] = .bool(keepsDiscarded) }
      if let timeout { options["timeout"] = .double(timeout) }
      if let retries { options["retries"] = .int(Int64(retries)) }
      if let ttl { options["ttl"] = .double(ttl) }
      if let retriesQuarantined { options["retryQuarantined"] = .bool(retriesQuarantined) }
      if let deltaSet { options["deltaSet"] = .bool(deltaSet) }
      if let autoPagination { options["autoPagination"] = .bool(autoPagination) }
      return options
    }
  }

  /// The parsed options. Nil if none is set, as in most calls.
  var options: Options? {
    get throws(KVStoreError) {
      guard self != CallOptions() else { return nil }
      let object = try object
      return try KVStoreError.mapping { () throws(StoreError) in try Options(object) }
    }
  }
}
