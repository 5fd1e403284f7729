internal import KVClient
internal import KVJSON
internal import KVSync

/// What a call may choose. Each may be set for the client, for a store and for one call; the most specific one counts.
///
///     var options = CallOptions()
///     options.timeout = 5
///     try await people.sync(options: options)
public struct CallOptions: Sendable, Equatable {
  /// Where a read gets its answer.
  public enum ReadPolicy: String, Sendable {
    case forceLocal, forceNetwork
    /// The local one for whoever wants it early, then the backend's.
    case both
    /// The backend's; the local one if no answer came at all.
    case networkOtherwiseLocal
  }

  /// Where a write goes.
  public enum WritePolicy: String, Sendable {
    /// Saved and queued.
    case forceLocal
    /// Saved and queued, then sent; being offline is a success.
    case silentLocalThenNetwork
    /// Saved and queued, then sent; being offline is an error, and the write stays queued.
    case localThenNetwork
    /// Sent only.
    case forceNetwork
  }

  /// What happens when an entity was changed here and on the backend.
  public enum Conflicts: String, Sendable {
    case clientWins, serverWins, merge, optimistic
  }

  public var readPolicy: ReadPolicy?
  public var writePolicy: WritePolicy?
  /// Seconds for the whole call.
  public var timeout: Double?
  /// How often a request that failed is sent again, where that is safe.
  public var retries: Int?
  /// Seconds after which local reads ignore what was written locally.
  public var ttl: Double?
  public var conflicts: Conflicts?
  /// Whether a push sends quarantined writes as well.
  public var retriesQuarantined: Bool?
  /// Whether a pull asks only for what has changed since the last one, where the backend can tell.
  public var deltaSet: Bool?
  /// Whether a pull reads page by page.
  public var autoPagination: Bool?
  /// All other options of a call in `docs/options.md`, by their names there, as a JSON object.
  public var otherOptions: String?

  public init() {}

  /// As the C interface has it: what is checked there is checked there alone.
  var object: JSONObject {
    get throws(KVStoreError) {
      var options = try JSONObject(options: otherOptions)
      options.set("readPolicy", readPolicy?.rawValue)
      options.set("writePolicy", writePolicy?.rawValue)
      options.set("conflicts", conflicts?.rawValue)
      if let timeout { options["timeout"] = .double(timeout) }
      if let retries { options["retries"] = .int(Int64(retries)) }
      if let ttl { options["ttl"] = .double(ttl) }
      if let retriesQuarantined { options["retryQuarantined"] = .bool(retriesQuarantined) }
      if let deltaSet { options["deltaSet"] = .bool(deltaSet) }
      if let autoPagination { options["autoPagination"] = .bool(autoPagination) }
      return options
    }
  }

  /// Nil if nothing was chosen, as for most calls.
  var options: Options? {
    get throws(KVStoreError) {
      guard self != CallOptions() else { return nil }
      let object = try object
      return try KVStoreError.mapping { () throws(StoreError) in try Options(object) }
    }
  }
}
