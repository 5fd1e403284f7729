internal import KVBase
internal import KVQuery
internal import KVSQLite

/// Who reads or writes a collection, and the permissions of that collection.
struct Viewer: Sendable {
  let principal: Principal
  let permissions: Permissions

  /// The id that rows are compared with; empty for the administrator, whom no rule restricts.
  var user: String {
    if case .user(let id) = principal { id } else { "" }
  }

  /// The id that is recorded as the creator of what this viewer creates.
  var owner: String {
    if case .user(let id) = principal { id } else { EntityID.administrator }
  }

  /// The rule for an operation. Throws if nothing of this kind is possible at all.
  func rule(for action: Permissions.Action) throws(ServerError) -> Permissions.Rule {
    switch principal {
    case .master: return .always
    case .app:
      throw ServerError(.insufficientCredentials, "this needs a user's session")
    case .user:
      let rule = permissions[action]
      if rule == .never {
        throw ServerError(
          .insufficientCredentials, "the collection's permissions allow nobody to \(action)")
      }
      return rule
    }
  }
}

/// The rows of a collection that a viewer may see or change and that a filter matches.
struct RowSelection: Sendable {
  private(set) var shape: EntityCollection.RowCondition
  private let user: String
  /// The ids that the filter names, as a JSON array.
  private var ids: String?
  private let matcher: Matcher?
  /// The time that looking for them may take.
  let budget: WorkBudget

  init(
    _ query: Query, for viewer: Viewer, operation: Permissions.Action,
    within budget: WorkBudget
  ) throws(ServerError) {
    self.budget = budget
    user = viewer.user
    let named = query.namedIDs
    ids = named.map { ACL.list($0.ids) }
    matcher = named?.isExact == true ? nil : query.matcher(within: budget)
    shape = EntityCollection.RowCondition(
      rule: try viewer.rule(for: operation), writing: operation != .read,
      isFiltered: matcher != nil, isByIds: ids != nil)
  }

  /// The same for rows that it has selected before, one by one: they still have the ids that they had.
  var ofKnownRows: RowSelection {
    var known = self
    known.ids = nil
    known.shape.isByIds = false
    return known
  }

  /// Gives a statement of this shape its parameters.
  func bind(to statement: borrowing Statement) throws(SQLiteError) {
    // SQLite refuses parameters that the statement does not have.
    if shape.needsUser { try statement.bind(user, at: 1) }
    if let matcher { try statement.bind(.matcher(matcher), at: 2) }
    if let ids { try statement.bind(ids, at: 3) }
  }
}
