internal import KVClient
internal import KVJSON
internal import KVSync

/// What happens while a client synchronises: see `KVStoreClient.syncEvents`.
///
///     for await event in client.syncEvents() {
///       switch event {
///       case .progress(let operation, let progress): print(operation.name, progress.entitiesDone)
///       case .quarantined(let collection, let id, _): print("refused:", collection, id)
///       default: break
///       }
///     }
public enum SyncEvent: Sendable {
  /// One push, pull or sync. Its `number` tells it from others of the client.
  public struct Operation: Sendable, Equatable {
    public let number: Int
    /// Such as `push`.
    public let name: String
    public let collection: String
    /// Whether nobody asked for it but the client's `pushesAutomatically`.
    public let isAutomatic: Bool
  }

  /// How far an operation is. A total of 0 is not known.
  public struct Progress: Sendable, Equatable {
    public let entitiesDone: Int
    public let entitiesTotal: Int
    public let bytesDone: Int
    public let bytesTotal: Int
  }

  /// What an operation came to.
  public struct Counts: Sendable, Equatable {
    public let pushed: Int
    public let pulled: Int
    public let removed: Int
  }

  case started(Operation)
  case progress(Operation, Progress)
  case finished(Operation, Counts)
  case failed(Operation, KVStoreError)
  case offline
  case online
  /// The session has ended: by a logout, or because the backend refused it, then with its error.
  case loggedOut(KVStoreError?)
  /// A write will not be sent any more unless the program decides so.
  case quarantined(collection: String, id: String, KVStoreError?)
  /// A write has replaced a version of the backend's that was not seen here: `remote`, as JSON; nil: it was deleted there.
  /// Only some backends let that be known.
  case overwritten(collection: String, id: String, remote: [UInt8]?)
  /// Events were dropped, because nobody read them.
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
    case .overwritten(let collection, let id, let theirs):
      self = .overwritten(collection: collection, id: id, remote: theirs)
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
