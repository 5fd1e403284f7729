internal import KVBase
internal import KVJSON

/// `/group`: groups of users, which access lists can name.
extension Service {
  func userGroups(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    let viewer = groupViewer(call)
    guard call.request.method == .post else {
      return try find(call, in: try groups.collection(of: call.app.number)) { viewer }
    }
    _ = try viewer.rule(for: .create)
    let object = try Self.object(call.body)
    // An id that was chosen may be one that access lists name already.
    if object["_id"] != nil { try call.requireMaster() }
    let draft = try Self.draft(call.body)
    let written = try groups.perform(
      .create(draft), members: try Self.members(object), for: viewer, app: call.app.number)
    var response = Response.json(201, written?.body ?? [])
    response.headers.append(("Location", location(call, "group", draft.id)))
    return response
  }

  func userGroup(_ call: AuthenticatedRequest, _ id: String) throws(ServerError) -> Response {
    let viewer = groupViewer(call)
    let app = call.app.number
    switch call.request.method {
    case .put:
      _ = try viewer.rule(for: .update)
      let members = try Self.members(try Self.object(call.body))
      let draft = try Self.draft(call.body, id: id)
      let written = try groups.perform(
        .put(draft, if: call.isAdministrator ? .none : .exists), members: members, for: viewer,
        app: app)
      return Response.json(written?.isNew == true ? 201 : 200, written?.body ?? [])
    case .delete:
      _ = try viewer.rule(for: .delete)
      _ = try groups.perform(.delete(id: id, if: .none), members: [], for: viewer, app: app)
      return Response(204)
    default:
      let found = try entities.get(id, in: try groups.collection(of: app), for: viewer)
      return Response.json(200, found.body)
    }
  }

  private func groupViewer(_ call: AuthenticatedRequest) -> Viewer {
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
    guard let ids, ids.count == list.arrayValue?.count, ids.count <= UserGroups.maxMembers else {
      throw ServerError(
        .inputValidationFailed,
        "users.list must be an array of at most \(UserGroups.maxMembers) users")
    }
    return ids
  }
}
