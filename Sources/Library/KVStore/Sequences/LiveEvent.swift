internal import KVSync

/// A live event of a collection on the backend: see `DataStore.live`.
///
///     for await event in try people.live() {
///       switch event {
///       case .saved(let person, _): print("saved:", person.name)
///       case .deleted(let id): print("deleted:", id)
///       case .missed, .tooLarge: try await people.pull()
///       case .failed(let error): print(error)
///       case .ready, .connection: break
///       }
///     }
public enum LiveEvent<Entity: Codable & Sendable>: Sendable {
  /// The kind of a save, as far as the backend reports it.
  public enum Cause: String, Sendable {
    /// The entity was new.
    case create
    /// The entity was changed.
    case update
    /// The entity was new or changed: the backend does not say which.
    case save
  }

  /// The connection is ready. Every change from now on is received.
  case ready
  /// An entity was saved.
  case saved(Entity, Cause)
  /// An entity was deleted.
  case deleted(id: String)
  /// An entity was saved that is too large for a message. Fetch it.
  case tooLarge(id: String)
  /// Changes may have been missed. Pull, or read the collection again.
  case missed
  /// The state of the connection has changed.
  case connection(LiveConnection)
  /// An error, such as an entity that does not fit its type. Further events may follow.
  case failed(KVStoreError)

  /// Nil if a collection does not have this kind of event.
  init?(_ event: KVSync.LiveEvent) {
    switch event {
    case .ready: self = .ready
    case .missed: self = .missed
    case .failure(let error): self = .failed(KVStoreError(error))
    case .status(let status): self = .connection(LiveConnection(status))
    case .changed(.deleted(let id, _)): self = .deleted(id: id)
    case .changed(.tooLarge(let id, _)): self = .tooLarge(id: id)
    case .changed(.said): return nil
    case .changed(.saved(let entity, _, let cause)):
      do throws(KVStoreError) {
        self = .saved(try JSONDecoding.decode(Entity.self, from: entity), Cause(cause))
      } catch {
        self = .failed(error)
      }
    }
  }

  var isLast: Bool { if case .connection(.disconnected) = self { true } else { false } }
}

extension LiveEvent.Cause {
  init(_ cause: LiveChange.Cause) {
    self =
      switch cause {
      case .create: .create
      case .update: .update
      case .save: .save
      }
  }
}
