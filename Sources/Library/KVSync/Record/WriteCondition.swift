internal import KVJSON
package import KVQuery

/// What must be true of the local entity for a write to happen; else the write fails with `.conflict`, and
/// nothing is changed.
package enum WriteCondition: Sendable {
  case none
  /// No entity has this id: the write inserts, and never overwrites.
  case isMissing
  /// The entity has this local version.
  case version(Int64)
  /// The entity is there, and matches.
  case matches(Query)

  /// Whether the write happens whatever is there.
  package var isNone: Bool { if case .none = self { true } else { false } }

  /// Why the write must not happen; nil: the condition holds. `id` nil: it is an entity that gets its id now. `stored`:
  /// what is there; nil: nothing.
  package func failure(
    of id: String?, _ stored: (version: Int64, body: [UInt8])?
  ) -> StoreError? {
    guard let id else { return failureOfNew }
    switch (self, stored) {
    case (.none, _), (.isMissing, nil): return nil
    case (.isMissing, _?): return .conditionFailed(id, "exists already")
    case (.version, nil), (.matches, nil): return .conditionFailed(id, "does not exist")
    case (.version(let wanted), let stored?):
      guard stored.version != wanted else { return nil }
      return .conditionFailed(id, "has the version \(stored.version), not \(wanted)")
    case (.matches(let query), let stored?):
      do throws(QueryError) {
        guard try query.matcher?.matches(stored.body) ?? true else {
          return .conditionFailed(id, "does not match the condition")
        }
        return nil
      } catch {
        return StoreError(error)
      }
    }
  }

  /// The same for a deletion, which cannot demand that there is nothing.
  package func ofDeletion() throws(StoreError) -> WriteCondition {
    if case .isMissing = self { throw .removesNothing }
    return self
  }

  /// Throws for what an insert can never meet.
  func checkForInserts() throws(StoreError) {
    switch self {
    case .none, .isMissing: return
    case .version, .matches:
      throw StoreError(
        .unsupported,
        "A save of several entities that goes only to the backend cannot have a condition.")
    }
  }

  private var failureOfNew: StoreError? {
    switch self {
    case .none, .isMissing: nil
    case .version, .matches:
      StoreError(.invalid, "A condition on the stored entity needs an entity with an _id.")
    }
  }
}

/// The result of an update.
package struct UpdateResult: Sendable, Equatable {
  /// How many entities matched.
  package var matched: Int
  /// The ids of the matching entities that were changed; the others were as the update wants them already.
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
  static var removesNothing: StoreError {
    StoreError(.invalid, "A removal cannot have the condition that the entity does not exist.")
  }

  /// An entity is not what a write was to find.
  package static func conditionFailed(_ id: String, _ reason: String) -> StoreError {
    var error = StoreError(.conflict, "The entity \"\(id)\" \(reason).")
    error.id = id
    return error
  }
}
