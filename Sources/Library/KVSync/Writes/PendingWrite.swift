package import KVBase
package import KVJSON

/// A change that the backend has not confirmed. At most one for each entity: the last change counts.
package struct PendingWrite: Sendable, Equatable {
  package enum Operation: String, Sendable {
    /// Made here: sent by POST.
    case create
    /// Changed here, or created under an id that the application chose: sent by PUT.
    case update
    /// Sent by DELETE; an answer of 404 is a success.
    case delete

    /// What it does to the backend's data, as far as is known here. The first save under an id that the application has
    /// chosen creates an entity, although it is sent like an update.
    package func effect(isNewThere: Bool) -> Operation {
      self == .update && isNewThere ? .create : self
    }
  }

  /// Whether it is sent by the next push.
  package enum State: String, Sendable {
    case waiting
    /// Set aside: the backend refused it, and would do so again.
    case refused
    /// Set aside: the backend has another version than the one that it changes.
    case conflict
    /// Set aside: the backend had confirmed it, and has gone back to an older copy of its data.
    case backendWentBack
  }

  package var collection: String
  package var id: String
  package var operation: Operation
  /// Changes with each local change of the entity. A success removes the row only if this is still
  /// the revision that was sent (promise 3).
  package var revision: Int64
  /// The position in the queue: oldest first. It stays when the entity is changed again.
  package var order: Int64
  package var createdAt: Timestamp
  package var changedAt: Timestamp
  /// How often it was sent. Counted before sending, so that it survives a crash in mid-flight.
  package var attempts: Int
  /// The last failure as JSON, as `kv_error_json` shows it.
  package var lastError: String?
  package var state = State.waiting
  /// Whether it was sent, and has not been changed since it was sent for the first time.
  package var isAsFirstSent = false
  /// Whether nothing is known of a version of the backend's that it changes: as far as one knows, it is new there.
  package var isNewThere = false
  /// Whether it was saved or removed on a condition: then the backend must have the version that it started from, or
  /// nothing if there was none, whatever is done about other conflicts.
  package var isConditional = false
  /// The filter that the backend's entity has to match as well, as JSON.
  package var condition: String?
  /// Whether operators are kept with it: they are sent in place of the entity, where the backend carries them out.
  package var hasOperators = false
  /// Whether the backend had confirmed what it sends, or what that was made of, and went back.
  package var wasConfirmed = false
  /// The version that it sends again, or of a deletion the one that was deleted; nil: it was changed since, or is no such write.
  package var lostVersion: RecordVersion?
  /// Whether it changes what was confirmed when the backend had other data.
  package var changesOtherData = false

  package init(
    collection: String, id: String, operation: Operation, revision: Int64, order: Int64,
    createdAt: Timestamp, changedAt: Timestamp, attempts: Int, lastError: String?
  ) {
    self.collection = collection
    self.id = id
    self.operation = operation
    self.revision = revision
    self.order = order
    self.createdAt = createdAt
    self.changedAt = changedAt
    self.attempts = attempts
    self.lastError = lastError
  }
}

extension PendingWrite {
  /// The JSON form that `kv_store_pending` documents.
  package var jsonObject: JSONObject {
    let error = lastError.flatMap { try? JSONValue(parsing: $0) } ?? .null
    var object = JSONObject([
      .init("id", .string(id)), .init("operation", .string(effect.rawValue)),
      .init("createdAt", .string(createdAt.description)),
      .init("changedAt", .string(changedAt.description)),
      .init("attempts", .int(Int64(attempts))), .init("state", .string(state.rawValue)),
      .init("lastError", error),
    ])
    object["if"] = condition.flatMap { try? JSONValue(parsing: $0) }
    return object
  }

  /// What it does to the backend's data, as programs are told.
  package var effect: Operation { operation.effect(isNewThere: isNewThere) }

  /// The last failure; nil: none, or it cannot be read.
  package var error: StoreError? {
    guard let lastError, let json = try? JSONValue(parsing: lastError) else { return nil }
    return json.objectValue.flatMap(StoreError.init)
  }
}
