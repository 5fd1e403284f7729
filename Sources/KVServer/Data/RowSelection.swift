internal import KVBase
internal import KVQuery
internal import KVSQLite

/// Whose eyes look at a collection: the user, and what the collection's rules give him.
struct Viewer: Sendable {
  let principal: Principal
  let permissions: Permissions

  /// The id that rows are compared with; empty for the administrator, whom no rule restricts.
  var user: String {
    if case .user(let id) = principal { id } else { "" }
  }

  /// Who is named as the creator of what this viewer creates. The administrator is no user; the app key
  /// would be a stranger's id to any client, so it is a word that no id can be.
  var owner: String {
    if case .user(let id) = principal { id } else { "master" }
  }

  /// The rule for an operation. Throws if nothing of this kind is possible at all.
  func rule(for operation: Permissions.Operation) throws(ServerError) -> Permissions.Rule {
    switch principal {
    case .master: return .always
    case .app:
      throw ServerError(.insufficientCredentials, "this needs a user's session")
    case .user:
      let rule = permissions[operation]
      if rule == .never {
        throw ServerError(
          .insufficientCredentials, "the collection's permissions allow nobody to \(operation)")
      }
      return rule
    }
  }
}

/// The rows of a collection that a viewer may see or change and that a filter matches.
///
/// The filter runs inside SQLite's own loop. Its error, a regular expression that takes too long, cannot
/// come out that way; it is kept and thrown by `check`.
final class RowSelection: Sendable {
  let shape: EntityCollection.Selection
  private let user: String
  private let ids: String?
  private let function: RowFunction?
  private let problem = KeptError()

  init(
    _ query: Query, for viewer: Viewer, _ operation: Permissions.Operation
  ) throws(ServerError) {
    user = viewer.user
    ids = query.ids.map { ACL.list($0) }
    let matcher = ids == nil ? query.matcher : nil
    let problem = self.problem
    function = matcher.map { matcher in
      RowFunction(
        .match { entity in
          do throws(QueryError) { return try matcher.matches(entity) } catch {
            problem.keep(error)
            return false
          }
        })
    }
    shape = EntityCollection.Selection(
      rule: try viewer.rule(for: operation), writing: operation != .read,
      isFiltered: function != nil, isByIds: ids != nil)
  }

  /// Gives a statement of this shape its parameters.
  func bind(to statement: borrowing Statement) throws(SQLiteError) {
    // SQLite refuses parameters that the statement does not have.
    if shape.needsUser { try statement.bind(user, at: 1) }
    if let function { try statement.bind(function, at: 2) }
    if let ids { try statement.bind(ids, at: 3) }
  }

  var hasFailed: Bool { problem.error != nil }

  /// Throws what went wrong in the filter.
  func check() throws(ServerError) {
    guard let error = problem.error else { return }
    throw ServerError(error)
  }
}

/// The first error of a function that cannot throw. Safe from any thread.
private final class KeptError: Sendable {
  private let kept = Monitor<QueryError?>(nil)
  var error: QueryError? { kept.peek { $0 } }
  func keep(_ error: QueryError) { kept.peek { $0 = $0 ?? error } }
}
