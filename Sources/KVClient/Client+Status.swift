internal import KVBase
package import KVJSON
internal import KVStorage
package import KVSync

extension Client {
  /// How the client stands and what it does: see kv_client_status.
  package func status() throws(StoreError) -> JSONObject {
    var collections: [JSONValue] = []
    var (pending, quarantined) = (0, 0)
    for (tag, storage) in openStorages {
      for status in try storage.collectionStatuses() {
        collections.append(.object(Self.json(status, tag)))
        pending += status.pending
        quarantined += status.quarantined
      }
    }
    return [
      "online": connectivity.isOnline.map { .bool($0) } ?? .null,
      "signedIn": .bool((try? session?.current()) != nil),
      "pending": .int(Int64(pending)), "quarantined": .int(Int64(quarantined)),
      "collections": .array(collections),
      "activity": .array(events.running.map { .object(Self.json($0.task, $0.progress)) }),
      "follows": .array(follows.statuses.map { .object($0.jsonObject) }),
    ]
  }

  private static func json(_ status: CollectionStatus, _ tag: String) -> JSONObject {
    var object: JSONObject = [
      "collection": .string(status.name), "tag": .string(tag),
      "pending": .int(Int64(status.pending)), "quarantined": .int(Int64(status.quarantined)),
    ]
    object["lastSynced"] = status.lastSynced.map { .string($0.description) }
    return object
  }

  private static func json(_ task: SyncEvent.Task, _ progress: Progress.Snapshot) -> JSONObject {
    [
      "operation": .string(task.operation), "collection": .string(task.collection),
      "automatic": .bool(task.isAutomatic),
      "entitiesDone": .int(Int64(clamping: progress.entitiesDone)),
      "entitiesTotal": .int(Int64(clamping: progress.entitiesTotal)),
      "bytesDone": .int(Int64(clamping: progress.bytesDone)),
      "bytesTotal": .int(Int64(clamping: progress.bytesTotal)),
    ]
  }
}
