internal import KVJSON
package import KVSync

/// What happens while a client synchronises in the background: see kv_client_start_sync.
package enum BackgroundEvent: Sendable {
  case networkStatus(isActive: Bool)
  case subscriptionsEstablished
  case queriesStarted([String])
  case modelSynced(String, SyncedCounts)
  case modelFailed(String, StoreError)
  case queriesReady
  case started
  case ready
  case outboxStatus(isEmpty: Bool)
  case enqueued(PendingWrite)
  /// `stored`: what the backend has now, if it says so.
  case processed(PendingWrite, stored: [UInt8]?)
  /// A write will not be sent any more unless the application decides so.
  case failed(PendingWrite, StoreError)
  case received(String, [ReceivedRecord])

  var json: JSONObject {
    switch self {
    case .networkStatus(let isActive): ["event": "networkStatus", "active": .bool(isActive)]
    case .subscriptionsEstablished: ["event": "subscriptionsEstablished"]
    case .queriesStarted(let models):
      ["event": "syncQueriesStarted", "collections": .array(models.map { .string($0) })]
    case .modelSynced(let model, let counts): counts.jsonObject(of: model)
    case .modelFailed(let model, let error):
      ["event": "modelFailed", "collection": .string(model), "error": .object(error.jsonObject)]
    case .queriesReady: ["event": "syncQueriesReady"]
    case .started: ["event": "syncStarted"]
    case .ready: ["event": "ready"]
    case .outboxStatus(let isEmpty): ["event": "outboxStatus", "isEmpty": .bool(isEmpty)]
    case .enqueued(let write): write.event("outboxMutationEnqueued")
    case .processed(let write, let stored):
      write.event(
        "outboxMutationProcessed", "entity", is: stored.flatMap { try? JSONValue(parsing: $0) })
    case .failed(let write, let error):
      write.event("outboxMutationFailed", "error", is: .object(error.jsonObject))
    case .received(let model, let records):
      [
        "event": "syncReceived", "collection": .string(model),
        "changes": .array(
          records.map { ["id": .string($0.id), "change": .string($0.change.rawValue)] }),
      ]
    }
  }
}

extension SyncedCounts {
  fileprivate func jsonObject(of model: String) -> JSONObject {
    [
      "event": "modelSynced", "collection": .string(model), "isFullSync": .bool(!isDelta),
      "isDeltaSync": .bool(isDelta), "added": .int(Int64(added)), "updated": .int(Int64(updated)),
      "deleted": .int(Int64(deleted)), "isComplete": .bool(isComplete),
      "isCapped": .bool(isCapped),
    ]
  }
}

extension PendingWrite {
  fileprivate func event(
    _ name: String, _ member: String = "", is value: JSONValue? = nil
  ) -> JSONObject {
    var object: JSONObject = [
      "event": .string(name), "collection": .string(collection), "id": .string(id),
      "operation": .string(effect.rawValue),
    ]
    if let value { object[member] = value }
    return object
  }
}
