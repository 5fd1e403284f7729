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
