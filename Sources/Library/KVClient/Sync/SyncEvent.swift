package import KVJSON
package import KVSync

/// What happens while a client synchronises.
package enum SyncEvent: Sendable {
  /// One push, pull or sync. Its `number` tells it from others of the client.
  package struct Task: Sendable {
    package var number: Int
    package var operation: String
    package var collection: String
    /// Whether it was started by the option `pushAutomatically`.
    package var isAutomatic: Bool
  }

  case started(Task)
  case progress(Task, Progress.Snapshot)
  /// `result`: what the call gives.
  case finished(Task, result: JSONObject)
  case failed(Task, StoreError)
  case offline
  case online
  /// The session has ended: by a logout, or because the backend refused it, then with its error.
  case loggedOut(StoreError?)
  /// A write will not be sent any more unless the application decides so.
  case quarantined(collection: String, id: String, StoreError?)
  /// A write has replaced a version of the backend's that was not seen here; `theirs` nil: it was deleted there.
  case overwritten(collection: String, id: String, theirs: [UInt8]?)
  /// Something of a write was given up for what the backend has; nil: a deletion.
  case discarded(collection: String, id: String, ours: [UInt8]?, theirs: [UInt8]?)
  /// A write was given up, because its condition does not hold on the backend; `ours` nil: a deletion.
  case conditionFailed(collection: String, id: String, ours: [UInt8]?)
  /// The backend went back to an older copy of its data: what it had confirmed of these is kept. `isQueued`: it is sent again.
  case backendWentBack(collection: String, [LostVersion], isQueued: Bool)
  /// Of the synchronisation in the background.
  case background(BackgroundEvent)

  /// See kv_client_observe_sync.
  package var json: JSONObject {
    switch self {
    case .started(let task): return Self.object("started", task)
    case .progress(let task, let now):
      var object = Self.object("progress", task)
      object["entitiesDone"] = .int(Int64(clamping: now.entitiesDone))
      object["entitiesTotal"] = .int(Int64(clamping: now.entitiesTotal))
      object["bytesDone"] = .int(Int64(clamping: now.bytesDone))
      object["bytesTotal"] = .int(Int64(clamping: now.bytesTotal))
      return object
    case .finished(let task, let result):
      var object = Self.object("finished", task)
      object["result"] = .object(result)
      return object
    case .failed(let task, let error):
      var object = Self.object("finished", task)
      object["error"] = .object(error.jsonObject)
      return object
    case .background(let event): return event.json
    case .offline: return ["event": "offline"]
    case .online: return ["event": "online"]
    case .loggedOut(let error):
      var object: JSONObject = ["event": "loggedOut"]
      object["error"] = error.map { .object($0.jsonObject) }
      return object
    case .overwritten(let collection, let id, let theirs):
      return [
        "event": "overwritten", "collection": .string(collection), "id": .string(id),
        "remote": theirs.flatMap { try? JSONValue(parsing: $0) } ?? .null,
      ]
    case .discarded(let collection, let id, let ours, let theirs):
      return [
        "event": "discarded", "collection": .string(collection), "id": .string(id),
        "local": ours.flatMap { try? JSONValue(parsing: $0) } ?? .null,
        "remote": theirs.flatMap { try? JSONValue(parsing: $0) } ?? .null,
      ]
    case .backendWentBack(let collection, let lost, let isQueued):
      return [
        "event": "backendWentBack", "collection": .string(collection),
        "count": .int(Int64(lost.count)), "resent": .bool(isQueued),
        "entities": .array(lost.map { .object($0.jsonObject) }),
      ]
    case .conditionFailed(let collection, let id, let ours):
      return [
        "event": "conditionFailed", "collection": .string(collection), "id": .string(id),
        "local": ours.flatMap { try? JSONValue(parsing: $0) } ?? .null,
      ]
    case .quarantined(let collection, let id, let error):
      var object: JSONObject = [
        "event": "quarantined", "collection": .string(collection), "id": .string(id),
      ]
      object["error"] = error.map { .object($0.jsonObject) }
      return object
    }
  }

  private static func object(_ event: String, _ task: Task) -> JSONObject {
    [
      "event": .string(event), "task": .int(Int64(task.number)),
      "operation": .string(task.operation), "collection": .string(task.collection),
      "automatic": .bool(task.isAutomatic),
    ]
  }
}

extension LostVersion {
  fileprivate var jsonObject: JSONObject {
    [
      "id": .string(id), "operation": isDeletion ? "delete" : "update",
      "version": .string(version.text),
      "remoteVersion": remoteVersion.map { .string($0.text) } ?? .null,
    ]
  }
}
