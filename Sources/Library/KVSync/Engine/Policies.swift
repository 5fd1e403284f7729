internal import KVBase

/// How a store meets an interrupted network: what it does when a call names no policy of its own.
package enum StoreType: String, Sendable, CaseIterable {
  case sync, synced, auto, cache, network

  package var readPolicy: ReadPolicy {
    switch self {
    case .sync, .synced: .forceLocal
    case .auto: .networkOtherwiseLocal
    case .cache: .both
    case .network: .forceNetwork
    }
  }

  package var writePolicy: WritePolicy {
    switch self {
    case .sync, .synced: .forceLocal
    case .auto: .silentLocalThenNetwork
    case .cache: .localThenNetwork
    case .network: .forceNetwork
    }
  }

  /// Whether it has a queue and local data.
  package var isLocal: Bool { self != .network }
}

/// The side that answers a read.
package enum ReadPolicy: String, Sendable, CaseIterable {
  case forceLocal
  case forceNetwork
  /// Two answers: the local one, then the backend's.
  case both
  /// The backend's; the local one if no answer came at all.
  case networkOtherwiseLocal
}

/// The side that a write goes to.
package enum WritePolicy: String, Sendable, CaseIterable {
  /// Saved locally, and queued for the next push.
  case forceLocal
  /// Saved and queued, then sent; being offline is a success.
  case silentLocalThenNetwork
  /// Saved and queued (first answer), then sent (second answer, which may be a failure).
  case localThenNetwork
  /// Sent to the backend; nothing is queued.
  case forceNetwork
}

/// What one call asked for, once all defaults are known.
package struct CallOptions: Sendable {
  package var readPolicy: ReadPolicy
  package var writePolicy: WritePolicy
  package var call: Call
  /// Local reads ignore what was written locally longer ago than so many seconds; nil: never.
  package var ttl: Double?
  /// How a find on the network brings the local store up to date.
  package var refreshing: CollectionEngine.Refreshing

  package init(
    readPolicy: ReadPolicy, writePolicy: WritePolicy, call: Call, ttl: Double? = nil,
    refreshing: CollectionEngine.Refreshing = .init()
  ) {
    self.readPolicy = readPolicy
    self.writePolicy = writePolicy
    self.call = call
    self.ttl = ttl
    self.refreshing = refreshing
  }

  /// The same for what has something local to fall back to: it does not wait for a silent network.
  var impatient: CallOptions {
    var options = self
    options.call.retry.afterSilence = false
    return options
  }

  /// The same for the local answer in place of the backend's: what the network has used of the time does not count.
  var untimed: CallOptions {
    var options = self
    options.call.deadline = .never
    return options
  }
}
