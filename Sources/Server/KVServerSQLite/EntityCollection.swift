internal import KVBase
internal import KVServerCore

/// One collection of one app: its tables, and what the administrator set. There is one
/// object for each, so that what is set holds at once for everybody.
final class EntityCollection: Sendable {
  /// The settings, which may change while the server runs.
  struct State: Sendable {
    var permissions: Permissions
    /// Days to keep the history; nil: as the server's default says; 0: none.
    var wantedDays: Int?
    var history = History.off
    /// The read rule that was in force until now, and since when; nil: not known.
    var knownRule: Permissions.Rule?
    var ruleSince = Timestamp.distantPast
  }

  /// Whether deletions are recorded, so that clients can ask for changes.
  enum History: Sendable, Equatable {
    case off
    /// Deletions are recorded, but not yet completely from a known time on.
    case starting
    /// They are not recorded for the moment, because the disk is full: the history begins again after each.
    case interrupted
    /// All changes since then are known.
    case on(since: Timestamp, days: Int)

    /// The same without what was known before a moment.
    func restarted(at since: Timestamp) -> History {
      if case .on(_, let days) = self { .on(since: since, days: days) } else { self }
    }
  }

  let number: Int64
  let key: CollectionKey
  let table: String
  /// The table with the entities that were deleted, as they were last.
  let tombstones: String
  /// The table with the access lists that entities had before these were changed.
  let formerAccess: String
  let state: Monitor<State>

  convenience init(number: Int64, _ key: CollectionKey, state: State) {
    self.init(number: number, key, sharing: Monitor(state))
  }

  private init(number: Int64, _ key: CollectionKey, sharing state: Monitor<State>) {
    self.number = number
    self.key = key
    table = Self.table(number)
    tombstones = Self.tombstones(number)
    formerAccess = Self.formerAccess(number)
    self.state = state
  }

  /// The same collection under another name.
  func named(_ name: String) -> EntityCollection {
    EntityCollection(number: number, CollectionKey(app: app, name: name), sharing: state)
  }

  /// The table of the collection of a number.
  static func table(_ number: Int64) -> String { "e\(number)" }
  static func tombstones(_ number: Int64) -> String { "d\(number)" }
  static func formerAccess(_ number: Int64) -> String { "a\(number)" }

  /// The number of its app, and what clients call it.
  var app: Int64 { key.app }
  var name: String { key.name }
  var permissions: Permissions { state.withLock { $0.permissions } }
  var history: History { state.withLock { $0.history } }

  /// Changes the history if it is what it is thought to be.
  func setHistory(from old: History, to new: History) {
    state.withLock { if $0.history == old { $0.history = new } }
  }
  var ruleSince: Timestamp { state.withLock { $0.ruleSince } }
}
