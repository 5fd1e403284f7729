internal import KVBase
internal import KVJSON
internal import KVQuery

/// `_deltaset`, and the switch for it.
extension Service {
  func delta(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    _ = try earlyViewer(call, name)?.rule(for: .read)
    return try fetch(call, in: name, changedSince: call["since"] ?? "", reading: Self.reading) {
      (call) throws(ServerError) in try delta(call, in: name)
    }
  }

  private func delta(
    _ call: AuthenticatedRequest, in name: String
  ) throws(ServerError) -> Response {
    let query = try QueryParameters.read(call)
    let withLeft = call["left"] == "true"
    let changes = try store.entities.changes(
      of: query.selection, since: try since(call, name), withLeft: withLeft,
      in: call.collection(name), for: call.claim, within: call.budget)
    var answer = JSONObjectWriter()
    let head = answer.splitArray("changed")
    answer.add("deleted", Self.list(changes.deleted))
    if withLeft { answer.add("left", Self.list(changes.left)) }
    var response = try stream(
      EntityList(
        changes.changed, call.afterFetch == nil ? query.projection : nil, head: head,
        tail: answer.bytes, transform: call.transform(query.projection),
        reportDamage: reportDamage(in: name)), for: call.asker)
    response.headers += moment(changes.start)
    return response
  }

  private func since(
    _ call: AuthenticatedRequest, _ name: String
  ) throws(ServerError) -> Timestamp {
    guard let text = call["since"] else {
      throw ServerError(.missingRequestParameter, "since is required")
    }
    guard let since = Timestamp(text) else {
      guard try store.collections.historyStart(of: call.collection(name)) != nil else {
        throw ServerError(.missingConfiguration, "the collection keeps no history")
      }
      throw ServerError(
        .parameterValueOutOfRange, "since must be a time like 2024-03-12T21:00:01.120Z")
    }
    return since
  }

  /// Each id once.
  private static func list(_ ids: [String]) -> JSONValue {
    var seen: Set<RecordID> = []
    let once = ids.filter { seen.insert(RecordID($0)).inserted }
    return .array(once.map { ["_id": .string($0)] })
  }

  /// `{"enabled":…,"days":…,"since":…}`: whether deletions are known, and how long.
  func history(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    try call.requireMaster()
    if call.request.method == .put {
      let days = try Self.historyDays(try Self.object(call.body))
      try store.collections.set(historyDays: days, of: call.collection(name))
    }
    var answer: JSONObject = ["enabled": false]
    if let history = try store.collections.history(of: call.collection(name)) {
      answer = [
        "enabled": true, "days": .int(Int64(history.days)),
        "since": .string(history.since.description),
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
    guard let value = object["days"] else { return HistoryDays.usual }
    guard let days = value.intValue, (1...Int64(HistoryDays.max)).contains(days) else {
      throw ServerError(
        .parameterValueOutOfRange, "days must be a number from 1 to \(HistoryDays.max)")
    }
    return Int(days)
  }
}
