internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVServerCore

/// A user as conditions name it: by the id, and by the groups of an app.
private struct ListedUser: SQLUser {
  let user: String
  let app: Int64

  var id: SQLFragment { "\(bind: user)" }

  /// In a list are ids, and groups with a mark in front.
  func isNamed(in column: String) -> SQLFragment {
    """
    (\(sql: column) NOT NULL AND EXISTS (SELECT 1 FROM json_each(\(sql: column))
      WHERE value = \(bind: user) OR value IN
        (SELECT char(1) || grp FROM group_member WHERE app = \(bind: app) AND user = \(bind: user))))
    """
  }
}

extension RowAccess {
  /// Tells whether a row may be read or written. `app`: whose groups count.
  func condition(_ app: Int64, of table: String = "") -> SQLFragment {
    condition(for: ListedUser(user: user, app: app), of: table)
  }
}

/// The rows of a collection that a viewer may see or change and that a filter matches.
struct RowSelection: Sendable {
  let access: RowAccess
  /// Access that is needed besides; nil: none.
  private let readAccess: RowAccess?
  /// The ids that the filter names.
  private var ids: [String]?
  private let matcher: Matcher?
  let query: Query
  /// How the collection's indexes answer the query; nil: not at all, or `planned` has not been asked.
  var use: IndexUse?
  /// Whether the rows have the checksum of their body.
  private var hasChecksums = true
  /// The time that looking for them may take.
  let budget: WorkBudget

  init(
    _ query: Query, for viewer: Viewer, operation: Permissions.Action,
    within budget: WorkBudget
  ) throws(ServerError) {
    self.budget = budget
    self.query = query
    let named = query.namedIDs
    ids = named?.ids
    matcher = named?.isExact == true ? nil : query.matcher(within: budget)
    access = RowAccess(
      rule: try viewer.rule(for: operation), isWriting: operation != .read, user: viewer.user)
    readAccess = try viewer.readAccess(toDelete: operation == .delete, byMembers: matcher != nil)
  }

  /// Tells whether a row may be read or written.
  private func accessCondition(_ app: Int64, of table: String = "") -> SQLFragment {
    let access = access.condition(app, of: table)
    guard let read = readAccess?.condition(app, of: table) else { return access }
    return "(\(access) AND \(read))"
  }

  /// The same for rows that it has selected before, one by one: they still have the ids that they had.
  var ofKnownRows: RowSelection {
    var known = self
    known.ids = nil
    known.use = nil
    return known
  }

  /// The same for the bodies of what was deleted, which have no checksums.
  var ofTombstones: RowSelection {
    var tombstones = self
    tombstones.hasChecksums = false
    return tombstones
  }

  /// Whether the filter leaves anything out.
  var hasFilter: Bool { ids != nil || matcher != nil }

  /// Tells whether a row is selected: what the rule lets through of what the filter matches. `app`: whose groups count.
  func condition(_ app: Int64) -> SQLFragment {
    let access = accessCondition(app)
    let isFound: SQLFragment? = IndexUse.isFound(by: use, or: ids)
    let condition = guardedFilter(by: access)
    return isFound.map { "\($0) AND \(condition)" } ?? condition
  }

  /// Tells whether a row of what ids or indexes find is selected.
  private func guardedFilter(by access: SQLFragment) -> SQLFragment {
    guard use?.isExact != true, let matches else { return access }
    return Self.guarded(matches, by: access)
  }

  /// Tells whether a row is what the rule lets through and the filter does not match.
  func unmatched(_ app: Int64) -> SQLFragment {
    let access = accessCondition(app)
    switch (isNamed, matches) {
    case (nil, nil): return "0"
    case (let isNamed?, nil): return "\(access) AND NOT (\(isNamed))"
    case (nil, let matches?): return Self.guarded("NOT \(matches)", by: access)
    case (let isNamed?, let matches?):
      return Self.guarded("NOT (\(isNamed) AND \(matches))", by: access)
    }
  }

  /// Tells the same of the rows that `walk` finds.
  func walkCondition(_ app: Int64) -> SQLFragment {
    guardedFilter(by: accessCondition(app, of: "e."))
  }

  private var isNamed: SQLFragment? {
    ids.map { SQLFragment.isAny("id", of: $0) }
  }

  /// It cannot be told whether a damaged body matches. A read selects it, and the answer then names it or leaves it out; it must
  /// not be deleted for what it says now.
  private var matches: SQLFragment? {
    guard let matcher else { return nil }
    guard hasChecksums else { return "kv_match(body, \(bind: matcher))" }
    return access.isWriting
      ? "(ifnull(checksum = kv_checksum(body), 1) AND kv_match(body, \(bind: matcher)))"
      : "kv_match(body, \(bind: matcher), checksum)"
  }

  /// A filter, asked about what the rule lets through and nothing else. `AND` would leave it to SQLite what comes
  /// first, and how long a filter takes, or that it gives up, would tell of entities that the user may not read.
  private static func guarded(_ filter: SQLFragment, by access: SQLFragment) -> SQLFragment {
    access.text == "true" ? filter : "CASE WHEN \(access) THEN \(filter) ELSE 0 END"
  }
}
