internal import KVBase
internal import KVSQLite

/// One collection of one app: its tables, its statements, and what the administrator set. There is one
/// object for each, so that what is set holds at once for everybody.
final class EntityCollection: Sendable {
  /// The settings, which may change while the server runs.
  struct State: Sendable {
    var permissions: Permissions
    /// Days to keep the history; nil: as the server's default says; 0: none.
    var wantedDays: Int?
    var history = History.off
    /// The read rule that was in force until now, and since when; nil: nobody knows.
    var knownRule: Permissions.Rule?
    var ruleSince = Timestamp.distantPast
  }

  /// Whether deletions are recorded, so that clients can ask for changes.
  enum History: Sendable, Equatable {
    case off
    /// They are recorded, but not yet for certain from a known time on.
    case starting
    /// All changes since then are known.
    case on(since: Timestamp, days: Int)
  }

  let number: Int64
  /// The number of its app, and what clients call it.
  let app: Int64
  let name: String
  let table: String
  /// The table with the entities that were deleted, as they were last.
  let tombstones: String
  /// The table with the access lists that entities had before these were changed.
  let formerAccess: String
  let state: Monitor<State>
  private let statements = Monitor([Shape: SQL]())

  init(number: Int64, app: Int64, name: String, state: State) {
    self.number = number
    self.app = app
    self.name = name
    table = "e\(number)"
    tombstones = "d\(number)"
    formerAccess = "a\(number)"
    self.state = Monitor(state)
  }

  var permissions: Permissions { state.withLock { $0.permissions } }
  var history: History { state.withLock { $0.history } }
  var ruleSince: Timestamp { state.withLock { $0.ruleSince } }

  /// What a statement does; each is made once.
  enum Shape: Hashable {
    case get(Permissions.Rule)
    case look(Permissions.Rule)
    case insert, update
    /// Replaces the body alone.
    case rewrite
    case deleteRow
    /// The n, the body and the id of what matches.
    case scan(RowCondition)
    /// The id and the body of what matches, in the order of ids after one, perhaps up to another.
    case walk(RowCondition, isBounded: Bool)
    /// The n of what matches, in the order of a sort key.
    case order(RowCondition)
    case count(RowCondition)
    /// The n and the time of what matches.
    case versions(RowCondition)
    /// The time of a row.
    case modified
    case body(RowCondition)
    /// The id and the access lists of a row.
    case access
    /// Copies a row that is about to be deleted to the tombstones.
    case addTombstone
    /// Keeps the access lists of a row that are about to be replaced, if they differ from the new ones.
    case recordAccess
    /// The n and the size of what has changed since.
    case changed(RowCondition)
    /// The ids of what was deleted since and matched at the end.
    case deleted(RowCondition)
    /// The ids of what could be read at some time since, and cannot any more or is gone; without those of `deleted`.
    case closed(RowCondition)
    /// The ids of what may have been what the selection asks for at some time since, and is not now; of those of
    /// `deleted` only what was made again.
    case left(RowCondition)
  }

  /// Which rows: what the rule lets through of what the filter matches. Parameters: 1 the user,
  /// 2 the filter's function, 3 a JSON array of the ids that the filter names.
  struct RowCondition: Hashable {
    var rule: Permissions.Rule
    /// Whether rows are selected for writing: then only writers' lists count.
    var writing = false
    var isFiltered = false
    var isByIds = false

    /// Whether the condition names the user.
    var needsUser: Bool { rule != .always && rule != .never }

    /// What the rule lets through.
    func access(_ app: Int64) -> String {
      writing ? rule.writeCondition(app) : rule.readCondition(app)
    }

    /// Whether the filter leaves anything out.
    var hasFilter: Bool { isByIds || isFiltered }

    /// What the rule lets through of what the filter matches. `app`: whose groups count.
    func condition(_ app: Int64) -> String {
      let access = access(app)
      guard isFiltered else { return isByIds ? "\(access) AND \(byIDs)" : access }
      return isByIds ? "\(byIDs) AND \(guarded(match, by: access))" : guarded(match, by: access)
    }

    /// What the rule lets through and the filter does not match.
    func unmatched(_ app: Int64) -> String {
      let access = access(app)
      guard isFiltered else { return isByIds ? "\(access) AND NOT (\(byIDs))" : "0" }
      return guarded(isByIds ? "NOT (\(byIDs) AND \(match))" : "NOT \(match)", by: access)
    }

    private var byIDs: String { "id IN (SELECT value FROM json_each(?3))" }
    private var match: String { "kv_match(body, ?2)" }

    /// A filter, asked about what the rule lets through and nothing else. `AND` would leave it to SQLite what comes
    /// first, and how long a filter takes, or that it gives up, would tell of entities that the user may not read.
    private func guarded(_ filter: String, by access: String) -> String {
      access == "1" ? filter : "CASE WHEN \(access) THEN \(filter) ELSE 0 END"
    }
  }

  func sql(_ shape: Shape) -> SQL {
    statements.withLock { statements in
      if let found = statements[shape] { return found }
      let made = SQL(text(of: shape))
      statements[shape] = made
      return made
    }
  }

  private func text(of shape: Shape) -> String {
    switch shape {
    case .get(let rule): "SELECT \(rule.readCondition(app)), lmt, body FROM \(table) WHERE id = ?2"
    case .look(let rule):
      "SELECT \(rule.writeCondition(app)), n, creator, ect, lmt, body FROM \(table) WHERE id = ?2"
    case .insert:
      """
      INSERT INTO \(table) (id, creator, gr, gw, readers, writers, ect, lmt, body)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO NOTHING
      """
    case .update:
      """
      UPDATE \(table) SET creator = ?2, gr = ?3, gw = ?4, readers = ?5, writers = ?6, ect = ?7,
        lmt = ?8, body = ?9 WHERE n = ?1
      """
    case .rewrite: "UPDATE \(table) SET body = ?9 WHERE n = ?1"
    case .deleteRow: "DELETE FROM \(table) WHERE n = ?1"
    case .scan(let which):
      """
      SELECT n, body, id FROM \(table) WHERE n > ?4 AND \(which.condition(app))
      ORDER BY n LIMIT ?5 OFFSET ?6
      """
    case .walk(let which, let isBounded):
      """
      SELECT id, body FROM \(table) WHERE id > ?4\(isBounded ? " AND id <= ?7" : "") AND \(which.condition(app))
      ORDER BY id LIMIT ?5 OFFSET ?6
      """
    case .order(let which):
      """
      SELECT n FROM \(table) WHERE \(which.condition(app))
      ORDER BY kv_sort_key(body, ?4), id LIMIT ?5 OFFSET ?6
      """
    case .count(let which): "SELECT count(*) FROM \(table) WHERE \(which.condition(app))"
    case .versions(let which): "SELECT n, lmt FROM \(table) WHERE \(which.condition(app))"
    case .modified: "SELECT lmt FROM \(table) WHERE n = ?1"
    case .body(let which): "SELECT body, id FROM \(table) WHERE n = ?4 AND \(which.condition(app))"
    case .access:
      "SELECT id, creator, gr, gw, readers, writers FROM \(table) WHERE n = ?1"
    case .addTombstone:
      """
      INSERT INTO \(tombstones) (at, id, creator, gr, gw, readers, writers, body)
      SELECT ?2, id, creator, gr, gw, readers, writers, body FROM \(table) WHERE n = ?1
      """
    case .recordAccess:
      """
      INSERT INTO \(formerAccess) (at, id, creator, gr, gw, readers, writers)
      SELECT ?8, id, creator, gr, gw, readers, writers FROM \(table) WHERE n = ?1
        AND NOT (creator = ?2 AND gr IS ?3 AND gw IS ?4 AND readers IS ?5 AND writers IS ?6)
      """
    case .changed(let which):
      """
      SELECT n, length(CAST(body AS BLOB)) FROM \(table) INDEXED BY \(table)_lmt
      WHERE lmt >= ?4 AND \(which.condition(app)) ORDER BY lmt, n LIMIT ?5
      """
    case .deleted(let which): "\(deleted(which)) LIMIT ?5"
    case .closed(let which): "\(closed(to: which)) EXCEPT \(deleted(which)) LIMIT ?5"
    case .left(let which): "\(left(which)) LIMIT ?5"
    }
  }

  private func deleted(_ which: RowCondition) -> String {
    """
    SELECT DISTINCT id FROM \(tombstones) INDEXED BY \(tombstones)_at WHERE at >= ?4 AND \(which.condition(app))
    """
  }

  private func closed(to which: RowCondition) -> String {
    """
    SELECT DISTINCT id FROM \(formerAccess) AS was INDEXED BY \(formerAccess)_at
    WHERE at >= ?4 AND \(which.access(app)) AND \(isUnreadable(which))
    """
  }

  private func left(_ which: RowCondition) -> String {
    guard which.hasFilter else { return "\(closed(to: which)) EXCEPT \(deleted(which))" }
    // Read from left to right.
    return """
      \(closed(to: which))
      UNION SELECT id FROM \(tombstones) AS was INDEXED BY \(tombstones)_at
        WHERE at >= ?4 AND \(which.unmatched(app)) AND \(isUnreadable(which))
      EXCEPT \(deleted(which))
      UNION SELECT id FROM \(table) INDEXED BY \(table)_lmt
        WHERE lmt >= ?4 AND \(which.unmatched(app))
      """
  }

  /// SQL that tells whether the id of the row `was` has no entity that may be read.
  private func isUnreadable(_ which: RowCondition) -> String {
    "NOT EXISTS (SELECT 1 FROM \(table) AS now WHERE now.id = was.id AND \(which.access(app)))"
  }
}

extension Permissions.Rule {
  /// SQL that tells whether user ?1 may read a row.
  fileprivate func readCondition(_ app: Int64) -> String {
    let named = """
      creator = ?1 OR gr = 1 OR gw = 1
      OR \(Self.names("readers", app)) OR \(Self.names("writers", app))
      """
    return switch self {
    case .always: "1"
    case .never: "0"
    case .creator: "creator = ?1"
    case .acl: "(\(named))"
    case .shared: "(gr IS NOT 0 OR \(named))"
    }
  }

  /// SQL that tells whether user ?1 may change or delete a row.
  fileprivate func writeCondition(_ app: Int64) -> String {
    switch self {
    case .always: "1"
    case .never: "0"
    case .creator: "creator = ?1"
    case .acl, .shared: "(creator = ?1 OR gw = 1 OR \(Self.names("writers", app)))"
    }
  }

  /// SQL that tells whether a list of ids, and of groups behind a mark, names user ?1.
  private static func names(_ list: String, _ app: Int64) -> String {
    """
    (\(list) NOT NULL AND EXISTS (SELECT 1 FROM json_each(\(list)) WHERE value = ?1 OR value IN
      (SELECT char(1) || grp FROM group_member WHERE app = \(app) AND user = ?1)))
    """
  }
}
