internal import KVClient
internal import KVJSON
internal import KVSync

/// An event of a client's synchronisation: see `KVStoreClient.syncEvents`.
///
///     for await event in client.syncEvents() {
///       switch event {
///       case .progress(let operation, let progress): print(operation.name, progress.entitiesDone)
///       case .quarantined(let collection, let id, _): print("refused:", collection, id)
///       default: break
///       }
///     }
public enum SyncEvent: Sendable {
  /// One push, pull or sync. `number` identifies it within the client.
  public struct Operation: Sendable, Equatable {
    /// The number of the operation, unique within the client.
    public let number: Int
    /// The name of the operation, such as `push`.
    public let name: String
    /// The name of the collection.
    public let collection: String
    /// Whether the client's `pushesAutomatically` started it.
    public let isAutomatic: Bool
  }

  /// The progress of an operation. A total of 0 means that it is unknown.
  public struct Progress: Sendable, Equatable {
    /// The number of entities so far.
    public let entitiesDone: Int
    /// The number of entities in all.
    public let entitiesTotal: Int
    /// The number of bytes so far.
    public let bytesDone: Int
    /// The number of bytes in all.
    public let bytesTotal: Int
  }

  /// The result of an operation.
  public struct Counts: Sendable, Equatable {
    /// The number of writes that the backend accepted.
    public let pushed: Int
    /// The number of entities that were stored.
    public let pulled: Int
    /// The number of entities that were removed from the local data.
    public let removed: Int
  }

  /// An operation has started.
  case started(Operation)
  /// An operation has made progress.
  case progress(Operation, Progress)
  /// An operation has succeeded.
  case finished(Operation, Counts)
  /// An operation has failed.
  case failed(Operation, KVStoreError)
  /// The backend can no longer be reached.
  case offline
  /// The backend can be reached again.
  case online
  /// The session has ended by a logout, or because the backend refused it, with its error.
  case loggedOut(KVStoreError?)
  /// A write was quarantined. It is not sent again until the program decides so.
  case quarantined(collection: String, id: String, KVStoreError?)
  /// A write has replaced a version of the backend that was unknown to this device. `remote` is that version as JSON;
  /// nil: the entity was deleted there. Only some backends report this.
  case overwritten(collection: String, id: String, remote: [UInt8]?)
  /// A local change was given up for what the backend has, as a whole or in part. `local` is what was to be saved and
  /// `remote` what the backend had, as JSON; nil: a deletion.
  case discarded(collection: String, id: String, local: [UInt8]?, remote: [UInt8]?)
  /// A write on a condition was discarded, because the condition does not hold on the backend: the local entity is the
  /// backend's now. `local` is what was to be saved, as JSON; nil: a deletion.
  case conditionFailed(collection: String, id: String, local: [UInt8]?)
  /// The backend went back to an older copy of its data. What it had confirmed of these entities is kept: see
  /// `Configuration.onBackendReset`.
  /// `isResent`: they are queued, to be sent again; else they wait for a decision.
  case backendWentBack(collection: String, [LostVersion], isResent: Bool)
  /// An event of the synchronisation in the background: see `KVStoreClient.startSync`.
  case background(BackgroundEvent)
  /// Events were dropped because they were not read in time.
  case missed

  init(_ event: KVClient.SyncEvent) {
    switch event {
    case .started(let task): self = .started(Operation(task))
    case .progress(let task, let now):
      self = .progress(Operation(task), Progress(now))
    case .finished(let task, let result):
      func count(_ name: String) -> Int { Int(clamping: result[name]?.intValue ?? 0) }
      self = .finished(
        Operation(task),
        Counts(pushed: count("pushed"), pulled: count("pulled"), removed: count("removed")))
    case .failed(let task, let error): self = .failed(Operation(task), KVStoreError(error))
    case .offline: self = .offline
    case .online: self = .online
    case .loggedOut(let error): self = .loggedOut(error.map(KVStoreError.init))
    case .quarantined(let collection, let id, let error):
      self = .quarantined(collection: collection, id: id, error.map(KVStoreError.init))
    case .background(let event): self = .background(BackgroundEvent(event))
    case .overwritten(let collection, let id, let theirs):
      self = .overwritten(collection: collection, id: id, remote: theirs)
    case .discarded(let collection, let id, let ours, let theirs):
      self = .discarded(collection: collection, id: id, local: ours, remote: theirs)
    case .backendWentBack(let collection, let lost, let isQueued):
      self = .backendWentBack(
        collection: collection, lost.map(LostVersion.init), isResent: isQueued)
    case .conditionFailed(let collection, let id, let ours):
      self = .conditionFailed(collection: collection, id: id, local: ours)
    }
  }
}

extension SyncEvent {
  /// A change that the backend had confirmed before it went back.
  public struct LostVersion: Sendable, Equatable {
    /// The id of the entity.
    public let id: String
    /// Whether the change is a deletion: the backend has the entity again.
    public let isDeletion: Bool
    /// The version that was confirmed; of a deletion, the one that it removed.
    public let version: String
    /// The version that the backend has now. Nil: it has none.
    public let remoteVersion: String?

    init(_ lost: KVSync.LostVersion) {
      (id, isDeletion) = (lost.id, lost.isDeletion)
      (version, remoteVersion) = (lost.version.text, lost.remoteVersion?.text)
    }
  }
}

extension SyncEvent.Operation {
  init(_ task: KVClient.SyncEvent.Task) {
    self.init(
      number: task.number, name: task.operation, collection: task.collection,
      isAutomatic: task.isAutomatic)
  }
}

extension SyncEvent.Progress {
  init(_ now: KVSync.Progress.Snapshot) {
    self.init(
      entitiesDone: Int(clamping: now.entitiesDone),
      entitiesTotal: Int(clamping: now.entitiesTotal), bytesDone: Int(clamping: now.bytesDone),
      bytesTotal: Int(clamping: now.bytesTotal))
  }
}
