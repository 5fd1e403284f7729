package import KVBase
package import KVJSON
internal import KVStorage
package import KVSync

/// How a client stands and what it does: see kv_client_status.
package struct ClientStatus: Sendable {
  /// A collection that was ever written to, or that a store is open of, in a tag that the application has opened stores of.
  package struct Collection: Sendable {
    package var name: String
    package var tag: String
    package var pending: Int
    package var quarantined: Int
    package var lastSynced: Timestamp?

    /// How many the next push sends.
    package var waiting: Int { pending - quarantined }

    init(_ status: CollectionStatus, _ tag: String) {
      (name, self.tag) = (status.name, tag)
      (pending, quarantined) = (status.pending, status.quarantined)
      lastSynced = status.lastSynced
    }
  }

  /// A push, pull or sync that runs.
  package struct Activity: Sendable {
    package var task: SyncEvent.Task
    package var progress: Progress.Snapshot
  }

  /// Nil: nothing was asked of the backend yet.
  package var isOnline: Bool?
  package var isSignedIn: Bool
  package var collections: [Collection]
  package var activities: [Activity]
  package var follows: [FollowStatus]

  package var pending: Int { collections.reduce(0) { $0 + $1.pending } }
  package var waiting: Int { pending - quarantined }
  package var quarantined: Int { collections.reduce(0) { $0 + $1.quarantined } }

  package var jsonObject: JSONObject {
    [
      "online": isOnline.map { .bool($0) } ?? .null, "signedIn": .bool(isSignedIn),
      "pending": .int(Int64(pending)), "waiting": .int(Int64(waiting)),
      "quarantined": .int(Int64(quarantined)),
      "collections": .array(collections.map { .object($0.jsonObject) }),
      "activity": .array(activities.map { .object($0.jsonObject) }),
      "follows": .array(follows.map { .object($0.jsonObject) }),
    ]
  }
}

extension ClientStatus.Collection {
  fileprivate var jsonObject: JSONObject {
    var object: JSONObject = [
      "collection": .string(name), "tag": .string(tag), "pending": .int(Int64(pending)),
      "waiting": .int(Int64(waiting)), "quarantined": .int(Int64(quarantined)),
    ]
    object["lastSynced"] = lastSynced.map { .string($0.description) }
    return object
  }
}

extension ClientStatus.Activity {
  fileprivate var jsonObject: JSONObject {
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
