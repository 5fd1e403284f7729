package import KVJSON
package import KVQuery

/// An index of a collection, as the store has it.
package struct StoredIndex: Sendable, Equatable {
  package var spec: IndexSpec
  package var shape: IndexShape
  /// Whether all entities are in it. One that is not used for anything.
  package var isReady: Bool

  package init(spec: IndexSpec, shape: IndexShape, isReady: Bool) {
    self.spec = spec
    self.shape = shape
    self.isReady = isReady
  }

  /// `{"name":…,"keys":{…},"state":"ready","arrays":false}`; see kv_store_indexes.
  package var json: JSONValue {
    var object = spec.json
    let isBuilding = !isReady || spec.isOutdated || shape == .outdated
    let state = isBuilding ? "building" : shape == .unusable ? "unusable" : "ready"
    object["state"] = .string(state)
    object["arrays"] = .bool(shape == .multiple)
    return .object(object)
  }
}

/// How a find is carried out, and what it looked at.
package struct Explanation: Sendable, Equatable {
  package enum Access: String, Sendable {
    /// By the ids that the query names.
    case ids
    case index
    /// Every entity is looked at.
    case scan
  }

  package var access: Access
  package var indexes: [String]
  /// Whether the index alone says what is selected; else each entity found by it is looked at.
  package var isExact: Bool
  /// Whether a count needs nothing but the index.
  package var isCovering: Bool
  package var sql: String
  /// What SQLite makes of it, step by step.
  package var steps: [String]
  /// How many entities were looked at, and how many were given.
  package var examined: Int
  package var returned: Int

  package init(
    access: Access, indexes: [String], isExact: Bool, isCovering: Bool, sql: String,
    steps: [String], examined: Int, returned: Int
  ) {
    self.access = access
    self.indexes = indexes
    self.isExact = isExact
    self.isCovering = isCovering
    self.sql = sql
    self.steps = steps
    self.examined = examined
    self.returned = returned
  }

  package var json: JSONValue {
    [
      "access": .string(access.rawValue), "indexes": .array(indexes.map { .string($0) }),
      "exact": .bool(isExact), "covering": .bool(isCovering), "sql": .string(sql),
      "steps": .array(steps.map { .string($0) }), "examined": .int(Int64(examined)),
      "returned": .int(Int64(returned)),
    ]
  }
}
