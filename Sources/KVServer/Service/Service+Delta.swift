internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite

/// `_deltaset`, and the switch for it.
extension Service {
  func delta(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    // First: what happens from now on is told the next time, a change of the rule included.
    let start = entities.readStart()
    let viewer = viewer(call, name)
    _ = try viewer.rule(for: .read)
    let query = try QueryParameters.read(call)
    let collection = collections.find(name, of: call.app.number)
    let since = try since(call, in: collection)
    var response = try changes(of: query, since: since, in: collection, call: call, for: viewer)
    response.headers += moment(start)
    return response
  }

  /// A time from which on all changes of a collection are known.
  private func since(
    _ call: AuthenticatedRequest, in collection: EntityCollection?
  ) throws(ServerError) -> Timestamp {
    guard let text = call["since"] else {
      throw ServerError(.missingRequestParameter, "since is required")
    }
    guard let first = histories.start(of: collection) else {
      throw ServerError(.missingConfiguration, "the collection keeps no history")
    }
    guard let since = Timestamp(text) else {
      throw ServerError(.parameterValueOutOfRange, "since is a time like 2024-03-12T21:00:01.120Z")
    }
    guard since >= first else {
      throw ServerError(.parameterValueOutOfRange, "the history starts at \(first)")
    }
    if case .user(let id) = call.principal,
      try groups.rightsChanged(of: id, app: call.app.number) > since
    {
      throw ServerError(.parameterValueOutOfRange, "the user has joined or left a group since")
    }
    guard entities.clock.hasGiven(since) else {
      throw ServerError(.parameterValueOutOfRange, "this data was not read at \(since)")
    }
    return since
  }

  private func changes(
    of query: Query, since: Timestamp, in collection: EntityCollection?, call: AuthenticatedRequest,
    for viewer: Viewer
  ) throws(ServerError) -> Response {
    let withLeft = call["left"] == "true"
    guard let collection else {
      var nothing: JSONObject = ["changed": [], "deleted": []]
      if withLeft { nothing["left"] = [] }
      return Response.json(200, .object(nothing))
    }
    let delta = try Delta(
      query.selection, since: since, withLeft: withLeft, in: collection, of: entities.database,
      for: viewer, within: call.budget)
    return try stream(
      delta.body(query.projection, withLeft: withLeft, in: collection, of: entities.database),
      for: call.asker)
  }

  /// `{"enabled":…,"days":…,"since":…}`: whether deletions are known, and how long.
  func history(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    try call.requireMaster()
    if call.request.method == .put {
      let days = try Self.historyDays(try Self.object(call.body))
      try histories.set(days: days, of: try make(name, call))
    }
    var answer: JSONObject = ["enabled": false]
    if let collection = collections.find(name, of: call.app.number),
      case .on(let since, let days) = collection.history
    {
      answer = [
        "enabled": true, "days": .int(Int64(days)), "since": .string(since.description),
      ]
    }
    return Response.json(200, .object(answer))
  }

  private static func historyDays(_ object: JSONObject) throws(ServerError) -> Int? {
    for member in object.members where member.name != "enabled" && member.name != "days" {
      throw ServerError(.inputValidationFailed, "unknown member \(member.name)")
    }
    guard let isEnabled = object["enabled"]?.boolValue else {
      throw ServerError(.inputValidationFailed, "enabled must be true or false")
    }
    guard isEnabled else { return 0 }
    guard let value = object["days"] else { return Histories.usualDays }
    guard let days = value.intValue, (1...Int64(Histories.maxDays)).contains(days) else {
      throw ServerError(
        .parameterValueOutOfRange, "days must be a number from 1 to \(Histories.maxDays)")
    }
    return Int(days)
  }
}
