internal import KVJSON
internal import KVQuery

/// `_group`.
extension Service {
  func group(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    _ = try earlyViewer(call, name)?.rule(for: .read)
    return try fetch(call, in: name) { (call) throws(ServerError) in try group(call, in: name) }
  }

  private func group(
    _ call: AuthenticatedRequest, in name: String
  ) throws(ServerError) -> Response {
    let object = try Self.object(call.body)
    // Some versions of the JavaScript SDK send the function by its other name, some by both.
    let reduce = object["reduce"] ?? object["reduceFn"]
    guard let initial = object["initial"]?.objectValue, let source = reduce?.stringValue
    else { throw ServerError(.incompleteRequestBody, "initial and reduce are required") }
    guard let function = ReduceFunction(source) else {
      throw ServerError(
        .featureUnavailable, "reduce must compute a count, sum, average, minimum or maximum")
    }
    let query: Query
    do throws(QueryError) {
      query = try Query(
        filter: call.filter ?? object["condition"].flatMap { $0.isNull ? nil : $0.text })
    } catch {
      throw ServerError(error)
    }
    var groups = GroupReader(
      keys: try Self.keys(object["key"]), initial: initial, function: function)
    try store.entities.group(
      query, in: call.collection(name), for: call.claim, within: call.budget, into: &groups)
    try groups.check()
    return Response.json(200, groups.answer)
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
