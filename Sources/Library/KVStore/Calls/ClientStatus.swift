internal import KVClient
internal import KVSync

/// The status of a client: see `KVStoreClient.status`.
///
///     let status = try await client.status()
///     print(status.isSignedIn ? "signed in" : "signed out", status.waiting, "waiting")
///     for activity in status.activities { print(activity.operation.name) }
public struct ClientStatus: Sendable, Equatable {
  /// A collection that was written to, of a tag that the client has opened stores of.
  public struct Collection: Sendable, Equatable {
    /// The name of the collection.
    public let name: String
    /// The tag of the local data.
    public let tag: String
    /// The number of writes that the backend has not confirmed: those that wait and those that are quarantined.
    public let pending: Int
    /// The number of writes that the next push sends.
    public let waiting: Int
    /// The number of quarantined writes.
    public let quarantined: Int
    /// The time of the last successful read from the backend; nil: never.
    public let lastSynced: Timestamp?
  }

  /// A running push, pull or sync and its progress.
  public struct Activity: Sendable, Equatable {
    /// The operation.
    public let operation: SyncEvent.Operation
    /// Its progress.
    public let progress: SyncEvent.Progress
  }

  /// Whether the backend can be reached. Nil before the first request.
  public let isOnline: Bool?
  /// Whether a user is logged in.
  public let isSignedIn: Bool
  /// The number of pending writes in all collections.
  public let pending: Int
  /// The number of writes that the next push of each collection sends.
  public let waiting: Int
  /// The number of quarantined writes in all collections.
  public let quarantined: Int
  /// The collections with local data.
  public let collections: [Collection]
  /// The operations that are running.
  public let activities: [Activity]
  /// The open follows.
  public let follows: [FollowStatus]

  init(_ status: KVClient.ClientStatus) {
    isOnline = status.isOnline
    isSignedIn = status.isSignedIn
    pending = status.pending
    waiting = status.waiting
    quarantined = status.quarantined
    collections = status.collections.map {
      Collection(
        name: $0.name, tag: $0.tag, pending: $0.pending, waiting: $0.waiting,
        quarantined: $0.quarantined,
        lastSynced: $0.lastSynced.map(Timestamp.init))
    }
    activities = status.activities.map {
      Activity(operation: .init($0.task), progress: .init($0.progress))
    }
    follows = status.follows.map(FollowStatus.init)
  }
}

extension KVStoreClient {
  /// Returns the status of the client, without a request.
  public func status() async throws(KVStoreError) -> ClientStatus {
    try await perform(isLocal: true) { [core] (_) throws(StoreError) in
      ClientStatus(try core.status())
    }
  }

  /// Returns a sequence of the current status and the status after each change. There are at most four in a second, and
  /// the last one is always delivered.
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
