internal import KVJSON
package import KVQuery

/// What must be true of the local entity for a write to happen; else the write fails with `.conflict`, and
/// nothing is changed.
package enum WriteCondition: Sendable {
  case none
  /// There is none of this id: the write inserts, and never overwrites.
  case isMissing
  /// It has this local version.
  case version(Int64)
  /// It is there, and matches.
  case matches(Query)
}

/// What an update came to.
package struct UpdateResult: Sendable, Equatable {
  /// How many entities matched.
  package var matched: Int
  /// Those of them that were changed; the others were as the update wants them already.
  package var modified: [String]

  package init(matched: Int = 0, modified: [String] = []) {
    self.matched = matched
    self.modified = modified
  }

  /// `{"matched":…,"modified":…}`, as counts.
  package var json: [UInt8] {
    JSONObject([
      .init("matched", .int(Int64(matched))), .init("modified", .int(Int64(modified.count))),
    ])
    .text.utf8.map { $0 }
  }
}

extension StoreError {
  /// An entity is not what a write was to find.
  package static func conditionFailed(_ id: String, _ reason: String) -> StoreError {
    var error = StoreError(.conflict, "The entity \"\(id)\" \(reason).")
    error.id = id
    return error
  }
}
