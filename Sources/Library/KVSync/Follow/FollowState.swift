package import KVBase
package import KVJSON

/// How a followed query and the backend stand to each other.
package enum FollowState: Sendable, Equatable {
  /// Nothing has been read yet.
  case starting
  /// The local data is what the backend has, as far as live data, or the last poll, tells.
  case current
  /// The store is not up to date, and is being read; or the error says why it cannot be.
  case behind(StoreError?)
  /// The backend does not answer, for this reason.
  case offline(StoreError)
  /// Closed: nothing happens any more.
  case closed

  package var name: String {
    switch self {
    case .starting: "starting"
    case .current: "current"
    case .behind: "behind"
    case .offline: "offline"
    case .closed: "closed"
    }
  }

  package var error: StoreError? {
    switch self {
    case .starting, .current, .closed: nil
    case .behind(let error): error
    case .offline(let error): error
    }
  }
}

/// What a follow says of itself.
package struct FollowStatus: Sendable, Equatable {
  package var collection: String
  /// The filter as JSON; `{}` for everything.
  package var filter: String
  package var state: FollowState
  /// Whether changes come by live data; else they are polled for.
  package var isLive: Bool
  /// When it was last read in full.
  package var lastSynced: Timestamp?

  package init(
    collection: String, filter: String, state: FollowState, isLive: Bool, lastSynced: Timestamp?
  ) {
    self.collection = collection
    self.filter = filter
    self.state = state
    self.isLive = isLive
    self.lastSynced = lastSynced
  }

  /// `{"collection":…,"filter":{…},"state":…,"live":…,"lastSynced":…,"error":{…}}`; what is not known is left out.
  package var jsonObject: JSONObject {
    var object: JSONObject = [
      "collection": .string(collection),
      "filter": (try? JSONValue(parsing: filter)) ?? .object([:]),
      "state": .string(state.name), "live": .bool(isLive),
    ]
    object["lastSynced"] = lastSynced.map { .string($0.description) }
    object["error"] = state.error.map { .object($0.jsonObject) }
    return object
  }
}
