internal import KVBase
internal import KVJSON

/// What administrators do besides reading and writing: extensions, which need the master secret.
extension Service {
  /// The most sessions in one answer.
  private static let maxSessions = 1000

  /// `[{"name":…,"count":…,"bytes":…}]`.
  func collections(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    try call.requireMaster()
    let all = try store.collections.list(app: call.app.number, within: call.budget)
    let list = all.map { summary in
      JSONValue.object([
        "name": .string(summary.name), "count": .int(Int64(summary.count)),
        "bytes": .int(Int64(summary.bytes)),
      ])
    }
    return Response.json(200, .array(list))
  }

  /// Takes `{"name":…}`, the collection's new name.
  func rename(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try call.requireMaster()
    try Self.check(collection: name)
    guard let wanted = try Self.object(call.body)["name"]?.stringValue else {
      throw ServerError(.incompleteRequestBody, "name is required")
    }
    try Self.check(collection: wanted)
    guard !wanted.hasSameBytes(as: CollectionName.accounts) else {
      throw ServerError(.invalidIdentifier, "\(wanted) stands for the accounts")
    }
    if !name.hasSameBytes(as: wanted) {
      try store.collections.rename(call.collection(name), to: wanted)
    } else if try !store.collections.exists(call.collection(name)) {
      throw ServerError(.collectionNotFound)
    }
    return Response.json(200, ["name": .string(wanted)])
  }

  /// `[{"_id":…,"user":…,"expires":…,"began":…,"used":…,"device":…,"address":…}]`, of the user who asks or, for the administrator, of all; the next page is after the last `_id`.
  /// The session of the request itself has `"isCurrent":true`.
  func sessions(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    let user = try Self.userOfSessions(call)
    let wanted = call["limit"].map { Int($0) } ?? Self.maxSessions
    guard let limit = wanted, limit > 0 else {
      throw ServerError(.parameterValueOutOfRange, "limit must be a positive number")
    }
    let found = try store.sessions.list(
      app: call.app.number, user: user, after: call["after"],
      limit: min(limit, Self.maxSessions))
    let own = call.token.map(SessionToken.hash)
    let list = found.map { session in
      func time(_ milliseconds: Int64?) -> JSONValue {
        milliseconds.map { .string(Timestamp(milliseconds: $0).description) } ?? .null
      }
      var object: JSONObject = [
        "_id": .string(session.name), "user": .string(session.user),
        "expires": time(session.expires), "began": time(session.began), "used": time(session.used),
        "device": session.device.map { .string($0) } ?? .null,
        "address": session.address.map { .string($0) } ?? .null,
      ]
      if session.name == own { object["isCurrent"] = true }
      return JSONValue.object(object)
    }
    return Response.json(200, .array(list))
  }

  /// Ends one session: any with the master secret, those of the user who asks otherwise.
  func endSession(_ call: AuthenticatedRequest, _ id: String) throws(ServerError) -> Response {
    let owner = try Self.userOfSessions(call)
    let app = call.app.number
    call.note?.subject = owner
    guard let user = try store.sessions.end(named: id, of: owner, app: app) else {
      throw ServerError(.entityNotFound, "there is no such session")
    }
    call.note?.subject = user
    try endListening(of: user, app: app, in: .named(id))
    return Response(204)
  }

  /// The user whose sessions a request is about; nil: the administrator asks for all of them.
  private static func userOfSessions(
    _ call: AuthenticatedRequest
  ) throws(ServerError) -> String? {
    if call.isAdministrator { return call["user"] }
    let own = try call.user()
    guard call["user"]?.hasSameBytes(as: own) != false else { try call.requireMaster(); return nil }
    return own
  }

  func restore(_ call: AuthenticatedRequest, _ id: String) throws(ServerError) -> Response {
    try call.requireMaster()
    try store.accounts.restore(id, for: call.principal(), of: call.app.number)
    return Response(204)
  }

  /// Takes `{"password":…}`; the sessions of the user end.
  func setPassword(_ call: AuthenticatedRequest, of id: String) throws(ServerError) -> Response {
    try call.requireMaster()
    guard let password = try Self.object(call.body)["password"]?.stringValue else {
      throw ServerError(.incompleteRequestBody, "password is required")
    }
    let hashed = try hash(password)
    guard try store.accounts.setPassword(hashed, of: id, app: call.app.number) else {
      throw ServerError(.userNotFound)
    }
    try endListening(of: id, app: call.app.number, in: .allBut(nil))
    return Response(204)
  }
}
