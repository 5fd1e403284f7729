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
    call.note?.subject = draft.id
    let written = try store.groups.perform(
      .create(draft), members: try Self.members(object), for: try call.principal(),
      app: call.app.number)
    var response = try answer(written)
    response.headers.append(("Location", location(call, "group", path: draft.id)))
    return response
  }

  func userGroup(_ call: AuthenticatedRequest, _ id: String) throws(ServerError) -> Response {
    let viewer = try Self.groupViewer(call)
    let app = call.app.number
    switch call.request.method {
    case .put:
      _ = try viewer.rule(for: .update)
      let members = try Self.members(try Self.object(call.body))
      let draft = try Self.draft(call.body, id: id)
      var condition = try Self.precondition(call)
      if condition == .none && !call.isAdministrator { condition = .exists }
      return try answer(
        store.groups.perform(
          .put(draft, if: condition), members: members, for: try call.principal(), app: app))
    case .delete:
      _ = try viewer.rule(for: .delete)
      let condition = try Self.precondition(call)
      _ = try store.groups.perform(
        .delete(id: id, if: condition), members: [], for: try call.principal(), app: app)
      return Response(204)
    default:
      let found = try store.entities.get(id, in: .groups(of: app), for: call.claim)
      var response = Response.json(200, found.body)
      response.headers.append(Self.revision(found.modified))
      return response
    }
  }

  private static func groupViewer(
    _ call: AuthenticatedRequest
  ) throws(ServerError) -> Viewer {
    Viewer(principal: try call.principal(), permissions: .sharedByACL)
  }

  /// A written group with the revision that `If-Match` takes.
  private func answer(_ written: WrittenEntity?) throws(ServerError) -> Response {
    guard let written else { throw ServerError(.internalErrorRetry) }
    var response = Response.json(written.isNew ? 201 : 200, written.body)
    response.headers.append(Self.revision(written.modified))
    return response
  }

  /// The members that `{"users":{"list":[…]}}` names. Whatever else could be meant by it is refused: a group with
  /// other members than its owner believes opens what it must not.
  private static func members(_ group: JSONObject) throws(ServerError) -> [String] {
    if let groups = group["groups"], !groups.isNull, groups.arrayValue?.isEmpty != true {
      throw ServerError(.featureUnavailable, "a group can only contain users")
    }
    guard let users = group["users"], !users.isNull else { return [] }
    guard let users = users.objectValue else { throw invalid("users must be an object") }
    var ids: [String] = []
    for member in users.members where !member.value.isNull {
      switch member.name {
      case "all": try checkNotEverybody(member.value)
      case "list": ids = try list(member.value)
      default: throw invalid("users has no member \"\(member.name)\"")
      }
    }
    return ids
  }

  private static func checkNotEverybody(_ all: JSONValue) throws(ServerError) {
    if all == true || all == "true" {
      throw ServerError(
        .featureUnavailable, "a group of all users is not supported; an _acl has gr and gw for that"
      )
    }
    guard all == false || all == "false" else { throw invalid("users.all must be a boolean") }
  }

  private static func list(_ value: JSONValue) throws(ServerError) -> [String] {
    guard let elements = value.arrayValue, elements.count <= maxMembers else {
      throw invalid("users.list must be an array of at most \(maxMembers) users")
    }
    let ids = elements.compactMap { memberID($0) }
    guard ids.count == elements.count else {
      throw invalid("users.list must contain ids or references to users only")
    }
    return ids
  }

  /// The id of a member: a text, or `{"_type":"KinveyRef","_collection":"user","_id":"…"}`, of which the first two may
  /// be left out.
  private static func memberID(_ value: JSONValue) -> String? {
    let id = value.stringValue ?? value["_id"]?.stringValue
    guard let id, !id.isEmpty, value["_type"] ?? "KinveyRef" == "KinveyRef",
      value["_collection"] ?? "user" == "user"
    else { return nil }
    return id
  }

  private static func invalid(_ text: String) -> ServerError {
    ServerError(.inputValidationFailed, text)
  }
}
