internal import KVBase
internal import KVJSON
internal import KVQuery

/// `_indexes`, and how queries are answered.
extension Service {
  /// Lists, adds or removes the indexes of a collection.
  func indexes(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    try call.requireMaster()
    let key = call.collection(name)
    switch call.request.method {
    case .put: return try addIndex(call, key)
    case .delete: return try removeIndex(call, key)
    default:
      let list = try store.indexes.indexes(of: key).map { JSONValue.object($0.json) }
      return Response.json(200, .array(list))
    }
  }

  /// Answers 200 when the index is ready, and 202 if filling it takes longer than a request may.
  private func addIndex(
    _ call: AuthenticatedRequest, _ key: CollectionKey
  ) throws(ServerError) -> Response {
    let spec = try Self.index(call.body)
    call.note?.subject = "\(key.name)/\(spec.name)"
    try store.indexes.add(spec, to: key)
    indexBuilder.work(within: call.budget)
    let added = try store.indexes.indexes(of: key).first {
      $0.spec.name.hasSameBytes(as: spec.name)
    }
    guard let added else { throw ServerError(.entityNotFound, "the index was removed meanwhile") }
    return Response.json(added.state == .building ? 202 : 200, .object(added.json))
  }

  private func removeIndex(
    _ call: AuthenticatedRequest, _ key: CollectionKey
  ) throws(ServerError) -> Response {
    guard let name = call["name"] else {
      throw ServerError(.missingRequestParameter, "name is required")
    }
    call.note?.subject = "\(key.name)/\(name)"
    guard try store.indexes.remove(name, from: key) else {
      throw ServerError(.entityNotFound, "there is no index of that name")
    }
    store.automaticIndexes?.refuse(name, in: key)
    indexBuilder.work(within: call.budget)
    return Response.json(200, ["count": 1])
  }

  private static func index(_ body: Payload) throws(ServerError) -> IndexSpec {
    let text = JSONValue.object(try object(body)).text
    let spec: IndexSpec
    do throws(QueryError) { spec = try IndexSpec(parsing: text) } catch {
      throw ServerError(.inputValidationFailed, error.message)
    }
    guard case .ordered = spec.kind, !spec.hasTotals else {
      throw ServerError(
        .featureUnavailable, "the keys of an index here are 1 or -1, and it has no totals")
    }
    return spec
  }

  /// The header that says how a query was answered, if the administrator asks for it: it names indexes, and with them members that
  /// users may know nothing of.
  func explanation(
    _ call: AuthenticatedRequest, _ query: Query, in key: CollectionKey
  ) throws(ServerError) -> [(name: String, value: String)] {
    guard call.isAdministrator, call.explains else { return [] }
    let plan = QueryPlan(query, try store.indexes.use(for: query.walk?.query ?? query, in: key))
    return [(Header.explain.name.description, JSONValue.object(plan.json).text)]
  }
}

extension CollectionIndex {
  /// The index as it was asked for, or why it was added without that, and `state`.
  fileprivate var json: JSONObject {
    var object = spec.json
    object["state"] = .string(state.rawValue)
    return object
  }
}
