package import KVJSON

/// A value, and where it is from.
package struct Answered<Value: Sendable>: Sendable {
  package var value: Value
  package var isLocal: Bool
  package init(_ value: Value, isLocal: Bool) {
    self.value = value
    self.isLocal = isLocal
  }
}

/// The result of saving many: `entities[i]` is nil exactly if an error has the index `i`.
package struct SaveManyResult: Sendable {
  package var entities: [[UInt8]?]
  package var errors: [StoreError]
  package init(entities: [[UInt8]?], errors: [StoreError]) {
    self.entities = entities
    self.errors = errors
  }

  /// `{"entities":[…],"errors":[…]}`.
  package var json: [UInt8] {
    var object = JSONObjectWriter()
    object.add("entities", json: entities.map { $0 ?? JSONValue.null.bytes }.jsonArray)
    object.add("errors", json: errors.jsonText.utf8)
    return object.bytes
  }
}

/// The result of a push.
package struct PushResult: Sendable, Equatable {
  /// How many pending writes the backend accepted.
  package var pushed: Int
  /// The others, each with the `id` of its entity and the `index` of its position in the queue.
  package var errors: [StoreError]
  /// How many writes of the collection are set aside now, those of earlier pushes included.
  package var quarantined: Int
  /// How many accepted writes have replaced a version that was not seen here, as far as the backend lets it be known.
  package var overwritten: Int
  /// How many writes were given up for what the backend has, as a whole or in part.
  package var discarded: Int
  package init(
    pushed: Int = 0, errors: [StoreError] = [], quarantined: Int = 0, overwritten: Int = 0,
    discarded: Int = 0
  ) {
    self.pushed = pushed
    self.errors = errors
    self.quarantined = quarantined
    self.overwritten = overwritten
    self.discarded = discarded
  }

  /// `{"pushed":n,"errors":[…],"quarantined":n,"overwritten":n,"discarded":n}`.
  package var jsonObject: JSONObject {
    JSONObject([
      .init("pushed", .int(Int64(pushed))),
      .init("errors", .array(errors.map { .object($0.jsonObject) })),
      .init("quarantined", .int(Int64(quarantined))),
      .init("overwritten", .int(Int64(overwritten))),
      .init("discarded", .int(Int64(discarded))),
    ])
  }
}

/// The result of a pull.
package struct PullResult: Sendable, Equatable {
  /// Entities that the backend sent and that were stored.
  package var pulled: Int
  /// Entities that the backend no longer has, and that left the local store.
  package var removed: Int
  package init(pulled: Int = 0, removed: Int = 0) {
    self.pulled = pulled
    self.removed = removed
  }

  /// `{"pulled":n,"removed":m}`.
  package var jsonObject: JSONObject {
    JSONObject([.init("pulled", .int(Int64(pulled))), .init("removed", .int(Int64(removed)))])
  }
}

/// The result of a sync; `pull` is nil if the push has left writes that wait.
package struct SyncResult: Sendable, Equatable {
  package var push: PushResult
  package var pull: PullResult?
  package init(push: PushResult, pull: PullResult?) {
    self.push = push
    self.pull = pull
  }

  /// `{"pushed":n,"errors":[…],"quarantined":n,"overwritten":n,"discarded":n,"pulled":n,"removed":m}`.
  package var jsonObject: JSONObject {
    var object = push.jsonObject
    let pull = self.pull ?? PullResult()
    object["pulled"] = .int(Int64(pull.pulled))
    object["removed"] = .int(Int64(pull.removed))
    return object
  }
}

extension [StoreError] {
  /// A JSON array of what `kv_error_json` would show.
  package var jsonText: String { JSONValue.array(map { .object($0.jsonObject) }).text }
}
