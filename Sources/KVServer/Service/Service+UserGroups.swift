internal import KVBase
internal import KVJSON

/// `/group`: groups of users, which access lists can name.
extension Service {
  /// More members of a group than this are refused.
  private static let maxMembers = 10_000

  func userGroups(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    guard call.request.method == .post else {
      return try find(call, in: .groups(of: call.app.number))
    }
    _ = try Self.groupViewer(call).rule(for: .create)
    let object = try Self.object(call.body)
    // An id that was chosen may be one that access lists name already.
    if object["_id"] != nil { try call.requireMaster() }
    let draft = try Self.draft(call.body)
    let written = try store.groups.perform(
      .create(draft), members: try Self.members(object), for: call.principal, app: call.app.number)
    var response = Response.json(201, written?.body ?? [])
    response.headers.append(("Location", location(call, "group", draft.id)))
    return response
  }

  func userGroup(_ call: AuthenticatedRequest, _ id: String) throws(ServerError) -> Response {
    let viewer = Self.groupViewer(call)
    let app = call.app.number
    switch call.request.method {
    case .put:
      _ = try viewer.rule(for: .update)
      let members = try Self.members(try Self.object(call.body))
      let draft = try Self.draft(call.body, id: id)
      let written = try store.groups.perform(
        .put(draft, if: call.isAdministrator ? .none : .exists), members: members,
        for: call.principal, app: app)
      return Response.json(written?.isNew == true ? 201 : 200, written?.body ?? [])
    case .delete:
      _ = try viewer.rule(for: .delete)
      _ = try store.groups.perform(
        .delete(id: id, if: .none), members: [], for: call.principal, app: app)
      return Response(204)
    default:
      let found = try store.entities.get(id, in: .groups(of: app), for: call.principal)
      return Response.json(200, found.body)
    }
  }

  private static func groupViewer(_ call: AuthenticatedRequest) -> Viewer {
    Viewer(principal: call.principal, permissions: .sharedByACL)
  }

  /// The members that `{"users":{"list":[…]}}` names, each by an id or by a reference with `_id`.
  private static func members(_ group: JSONObject) throws(ServerError) -> [String] {
    if group["groups"]?.arrayValue?.isEmpty == false {
      throw ServerError(.featureUnavailable, "the members of a group are users here")
    }
    guard let users = group["users"], !users.isNull else { return [] }
    if let all = users["all"], all == true || all.stringValue == "true" {
      throw ServerError(.featureUnavailable, "for everybody an _acl has gr and gw")
    }
    guard let list = users["list"], !list.isNull else { return [] }
    let ids = list.arrayValue?.compactMap { $0.stringValue ?? $0["_id"]?.stringValue }
    guard let ids, ids.count == list.arrayValue?.count, ids.count <= maxMembers else {
      throw ServerError(
        .inputValidationFailed,
        "users.list must be an array of at most \(maxMembers) users")
    }
    return ids
  }
}
