internal import KVJSON
internal import KVQuery

/// `_group`.
extension Service {
  func group(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    _ = try earlyViewer(call, name)?.rule(for: .read)
    let wanted = try GroupRequest(try Self.object(call.body))
    let reading = Reading(
      query: try Self.query(wanted.condition), paths: wanted.paths, counts: true)
    return try fetch(call, in: name, filter: wanted.condition, reading: { _ in reading }) {
      (call) throws(ServerError) in
      let query = try call.filter.map { (filter) throws(ServerError) in try Self.query(filter) }
      var groups = GroupReader(wanted.grouping, initial: wanted.initial, within: groupMemory)
      try store.entities.group(
        query ?? reading.query, in: call.collection(name), for: call.claim, within: call.budget,
        into: &groups)
      try groups.check()
      let answer = groups.answer.bytes
      // Until it is sent the answer counts, however slowly the client reads.
      let body = Payload(expecting: answer.count, within: groupMemory)
      body.append(answer)
      guard body.isComplete else { throw GroupReader.outOfMemory }
      return Response.json(200, body)
    }
  }

  private static func query(_ filter: String?) throws(ServerError) -> Query {
    do throws(QueryError) { return try Query(filter: filter) } catch { throw ServerError(error) }
  }
}

/// What the body of a `_group` asks for.
private struct GroupRequest {
  let grouping: Grouping
  let initial: JSONObject
  /// The filter; nil: there is none.
  let condition: String?

  /// The members that groups are made by, and whose numbers they have.
  var paths: [Path] { grouping.keys + grouping.members.compactMap(\.aggregate.path) }

  init(_ object: JSONObject) throws(ServerError) {
    // Some versions of the JavaScript SDK send the function by its other name, some by both.
    let reduce = object["reduce"] ?? object["reduceFn"]
    guard let initial = object["initial"]?.objectValue, let source = reduce?.stringValue
    else { throw ServerError(.incompleteRequestBody, "initial and reduce are required") }
    guard let function = ReduceFunction(source) else {
      throw ServerError(
        .featureUnavailable, "reduce must compute a count, sum, average, minimum or maximum")
    }
    self.initial = initial
    condition = object["condition"].flatMap { $0.isNull ? nil : $0.text }
    let keys = try Self.keys(object["key"])
    let grouping = Grouping(keys: keys.map { Path($0) }, members: function.members)
    self.grouping = try Self.collated(grouping, by: object["collation"])
  }

  /// A collation of the keys, as queries have it; the protocol's own clients send none.
  private static func collated(
    _ grouping: Grouping, by collation: JSONValue?
  ) throws(ServerError) -> Grouping {
    guard let collation, !collation.isNull else { return grouping }
    do throws(QueryError) { return try grouping.collated(by: collation) } catch {
      throw ServerError(error)
    }
  }

  /// An array of names, or an object whose members are true.
  private static func keys(_ value: JSONValue?) throws(ServerError) -> [String] {
    switch value {
    case nil, .null?: return []
    case .array(let values)?:
      let names = values.compactMap(\.stringValue)
      if names.count == values.count, !names.contains("") { return names }
    case .object(let object)?:
      let wanted = object.members.filter { $0.value.boolValue ?? ($0.value.intValue == 1) }
      if wanted.count == object.count { return wanted.map(\.name) }
    default: break
    }
    throw ServerError(
      .badRequest, "key must be an array of names or an object like {\"name\":true}")
  }
}
