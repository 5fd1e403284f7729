internal import KVClient
internal import KVSync

/// An event of the synchronisation in the background: see `KVStoreClient.startSync`.
///
///     for await event in client.syncEvents() {
///       if case .background(.ready) = event { print("up to date") }
///     }
public enum BackgroundEvent: Sendable {
  /// What reading a collection has changed here.
  public struct Counts: Sendable, Equatable {
    /// Whether only what has changed was read.
    public let isDelta: Bool
    /// How many entities are new here.
    public let added: Int
    /// How many entities were replaced.
    public let updated: Int
    /// How many entities have left the local data.
    public let deleted: Int
    /// Whether nothing was left out.
    public let isComplete: Bool
    /// Whether the option `maxRecords` ended the read.
    public let isCapped: Bool
  }

  /// A pending write.
  public struct Write: Sendable, Equatable {
    /// The name of the collection.
    public let collection: String
    /// The id of the entity.
    public let id: String
    /// What the write does: `create`, `update` or `delete`.
    public let operation: String
  }

  /// Whether the backend answers.
  case networkStatus(isActive: Bool)
  /// Each collection is subscribed to, or was refused and is polled.
  case subscriptionsEstablished
  /// These collections are read, in this order.
  case queriesStarted(collections: [String])
  /// A collection was read.
  case modelSynced(collection: String, Counts)
  /// A collection could not be read. It is tried again after a pause.
  case modelFailed(collection: String, KVStoreError)
  /// Each collection was read, or has failed.
  case queriesReady
  /// Writes are sent from now on.
  case started
  /// The first reads after a start have ended.
  case ready
  /// Whether no write waits.
  case outboxStatus(isEmpty: Bool)
  /// A write was added to the queue.
  case enqueued(Write)
  /// The backend has accepted a write. `entity` is what it has now, as JSON.
  case processed(Write, entity: [UInt8]?)
  /// A write was quarantined. It is not sent again until the program decides so.
  case failed(Write, KVStoreError)
  /// Entities of these ids came from the backend.
  case received(collection: String, ids: [String])

  init(_ event: KVClient.BackgroundEvent) {
    switch event {
    case .networkStatus(let isActive): self = .networkStatus(isActive: isActive)
    case .subscriptionsEstablished: self = .subscriptionsEstablished
    case .queriesStarted(let names): self = .queriesStarted(collections: names)
    case .modelSynced(let name, let counts): self = .modelSynced(collection: name, Counts(counts))
    case .modelFailed(let name, let error):
      self = .modelFailed(collection: name, KVStoreError(error))
    case .queriesReady: self = .queriesReady
    case .started: self = .started
    case .ready: self = .ready
    case .outboxStatus(let isEmpty): self = .outboxStatus(isEmpty: isEmpty)
    case .enqueued(let write): self = .enqueued(Write(write))
    case .processed(let write, let stored): self = .processed(Write(write), entity: stored)
    case .failed(let write, let error): self = .failed(Write(write), KVStoreError(error))
    case .received(let name, let records):
      self = .received(collection: name, ids: records.map(\.id))
    }
  }
}

extension BackgroundEvent.Counts {
  init(_ counts: SyncedCounts) {
    self.init(
      isDelta: counts.isDelta, added: counts.added, updated: counts.updated,
      deleted: counts.deleted, isComplete: counts.isComplete, isCapped: counts.isCapped)
  }
}

extension BackgroundEvent.Write {
  init(_ write: KVSync.PendingWrite) {
    self.init(collection: write.collection, id: write.id, operation: write.effect.rawValue)
  }
}
