internal import KVJSON
internal import KVQuery

/// Finding other users.
extension Service {
  private static let maxFound: Int = 1000

  func lookup(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    _ = try call.isAdministrator ? "" : call.user()
    var query = try discoveryQuery(try Self.object(call.body))
    query.limit = Self.maxFound
    let found = try discover(query, call)
    let shown = settings.discovery.shown
    let users = found.map { user in
      JSONValue.object(JSONObject(shown.compactMap { name in user[name].map { .init(name, $0) } }))
    }
    return Response.json(200, .array(users))
  }

  /// The users that match, whoever asks: the answer shows little of them.
  private func discover(
    _ query: Query, _ call: AuthenticatedRequest
  ) throws(ServerError) -> [JSONValue] {
    let found = try store.entities.find(
      query, in: .users(of: call.app.number), for: .principal(.master), within: call.budget)
    let list = EntityList(
      found.cursor, query.projection, limit: query.limit, pieceBytes: .max)
    guard let piece = try list.nextPiece() else { return [] }
    do throws(JSONError) {
      return try piece.withBytes { (bytes) throws(JSONError) in
        try JSONValue(parsing: bytes).arrayValue ?? []
      }
    } catch {
      throw ServerError(.internalErrorStop, cause: "a stored user is not JSON: \(error.message)")
    }
  }

  private func discoveryQuery(_ filter: JSONObject) throws(ServerError) -> Query {
    let searchable = settings.discovery.searchable
    guard !searchable.isEmpty else {
      throw ServerError(.featureUnavailable, "the lookup of users is switched off")
    }
    guard !filter.isEmpty else {
      throw ServerError(.missingQuery, "listing all users is not possible")
    }
    for member in filter.members {
      guard searchable.contains(member.name), member.value.stringValue != nil else {
        throw ServerError(
          .invalidQuerySyntax,
          "users can be looked up by a string in \(searchable.joined(separator: ", "))")
      }
    }
    var filter = filter
    filter["_kmd.status.val"] = ["$ne": "disabled"]
    do { return try Query(filter: filter.text) } catch { throw ServerError(error) }
  }

  func usernameExists(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    guard let name = try Self.object(call.body)["username"]?.stringValue else {
      throw ServerError(.incompleteRequestBody, "username is required")
    }
    let exists = try store.accounts.find(name: name, of: call.app.number) != nil
    return Response.json(200, ["usernameExists": .bool(exists)])
  }
}
