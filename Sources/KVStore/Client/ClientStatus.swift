internal import KVClient
internal import KVSync

/// How a client stands, and what it does: `KVStoreClient.status` gives it.
///
///     let status = try await client.status()
///     print(status.isSignedIn ? "signed in" : "nobody", status.pending, "waiting")
///     for activity in status.activities { print(activity.operation.name) }
public struct ClientStatus: Sendable, Equatable {
  /// A collection that was ever written to, of a tag that the client has opened stores of.
  public struct Collection: Sendable, Equatable {
    public let name: String
    public let tag: String
    /// Writes that the backend has not confirmed, including quarantined ones.
    public let pending: Int
    public let quarantined: Int
    /// When it was last read from the backend; nil: never.
    public let lastSynced: Timestamp?
  }

  /// A push, pull or sync that runs, and how far it is.
  public struct Activity: Sendable, Equatable {
    public let operation: SyncEvent.Operation
    public let progress: SyncEvent.Progress
  }

  /// Nil before anything was asked of the backend.
  public let isOnline: Bool?
  public let isSignedIn: Bool
  /// Of all collections.
  public let pending: Int
  public let quarantined: Int
  public let collections: [Collection]
  public let activities: [Activity]
  public let follows: [FollowStatus]

  init(_ status: KVClient.ClientStatus) {
    isOnline = status.isOnline
    isSignedIn = status.isSignedIn
    pending = status.pending
    quarantined = status.quarantined
    collections = status.collections.map {
      Collection(
        name: $0.name, tag: $0.tag, pending: $0.pending, quarantined: $0.quarantined,
        lastSynced: $0.lastSynced.map(Timestamp.init))
    }
    activities = status.activities.map {
      Activity(operation: .init($0.task), progress: .init($0.progress))
    }
    follows = status.follows.map(FollowStatus.init)
  }
}

extension KVStoreClient {
  /// How the client stands and what it does, without a request.
  public func status() async throws(KVStoreError) -> ClientStatus {
    try await perform(isLocal: true) { [core] (_) throws(StoreError) in
      ClientStatus(try core.status())
    }
  }

  /// The status as it is now, and after each change: four times a second at the most, and the last one in any case.
  ///
  ///     for try await status in try client.statuses() {
  ///       print(status.pending, "waiting,", status.quarantined, "quarantined")
  ///     }
  public func statuses() throws(KVStoreError) -> States<ClientStatus> {
    let signals = EventBuffer<Void>.signals()
    let observer = try KVStoreError.mapping { () throws(StoreError) in
      try core.observeStatus(signals.signal)
    }
    let source = SignalledSource(signals, of: self) { [core] () throws(StoreError) in
      ClientStatus(try core.status())
    } end: {
      observer.end()
    }
    return States(source)
  }
}
