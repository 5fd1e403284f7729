internal import KVSync

/// An event of a collection on the backend: see `DataStore.live`.
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
  /// What a save was, as far as the backend tells.
  public enum Cause: String, Sendable { case create, update, save }

  /// From now on every change comes.
  case ready
  case saved(Entity, Cause)
  case deleted(id: String)
  /// It was saved, and is too large for a message: fetch it.
  case tooLarge(id: String)
  /// Something may have been missed: pull, or read the collection anew.
  case missed
  case connection(LiveConnection)
  /// Something went wrong, such as an entity that does not fit its type; more may follow.
  case failed(KVStoreError)

  /// Nil: nothing that a collection tells.
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
