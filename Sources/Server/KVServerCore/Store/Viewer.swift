/// The principal that reads or writes a collection, and the collection's permissions.
package struct Viewer: Sendable {
  package let principal: Principal
  package let permissions: Permissions

  package init(principal: Principal, permissions: Permissions) {
    self.principal = principal
    self.permissions = permissions
  }

  /// The id that rows are compared with; empty for the administrator, whom no rule restricts.
  package var user: String {
    if case .user(let id) = principal { id } else { "" }
  }

  /// The id that is recorded as the creator of what this viewer creates.
  package var owner: String {
    if case .user(let id) = principal { id } else { EntityID.administrator }
  }

  /// Throws unless the viewer may create an entity whose id the request chooses.
  package func requireChoiceOfID() throws(ServerError) {
    guard principal == .master || permissions.letsUsersChooseIDs else {
      throw ServerError(.insufficientCredentials, "only the master secret can choose an _id here")
    }
  }

  /// The permission to read that a deletion by a query needs besides its own: how many entities a filter deletes tells of their members
  /// as a read does. Nil: none, since nothing but ids selects them, or everything may be read. Throws if nothing can be read.
  package func readAccess(
    toDelete deletes: Bool, byMembers: Bool
  ) throws(ServerError) -> RowAccess? {
    guard deletes, byMembers else { return nil }
    let rule = try rule(for: .read)
    return rule == .always ? nil : RowAccess(rule: rule, user: user)
  }

  /// The rule for an operation. Throws if nothing of this kind is possible at all.
  package func rule(for action: Permissions.Action) throws(ServerError) -> Permissions.Rule {
    switch principal {
    case .master: return .always
    case .app:
      throw ServerError(.insufficientCredentials, "this needs a user's session")
    case .user:
      let rule = permissions[action]
      if rule == .never {
        throw ServerError(
          .insufficientCredentials, "the collection's permissions do not allow anybody to \(action)"
        )
      }
      return rule
    }
  }
}
