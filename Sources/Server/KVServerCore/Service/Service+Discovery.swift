internal import KVJSON
internal import KVQuery

/// Finding other users.
extension Service {
  private static let maxFound: Int = 1000

  func lookup(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    _ = try call.isAdministrator ? "" : call.user()
    var query = try discoveryQuery(try Self.object(call.body))
    query.limit = Self.maxFound
    // The users that match, no matter who asks: the answer shows little of them.
    let found = try store.entities.find(
      query, in: .users(of: call.app.number), for: .principal(.master), within: call.budget)
    var shown = Query()
    shown.fields = settings.discovery.shown.map { Path($0) }
    return try stream(
      EntityList(
        found.cursor, shown.contentProjection, limit: query.limit,
        transform: { [shown = settings.discovery.shown] (users) throws(ServerError) in
          try Self.small(users, showing: shown)
        },
        reportDamage: reportDamage(in: "users")), for: call.asker)
  }

  /// More is not shown of one user: everybody can sign up, and choose names as long as a body may be.
  private static let maxShownBytes = 4 << 10

  /// The users that are small enough to be shown, with their members in the order in which they are listed.
  private static func small(
    _ users: Payload, showing names: [String]
  ) throws(ServerError) -> [UInt8] {
    guard users.count > 0 else { return [] }
    let bytes = users.withBytes { Array($0) }
    let list = Payload([UInt8(ascii: "[")] + bytes + [UInt8(ascii: "]")])
    let all = try elements(list, limit: .max) { (user) throws(ServerError) in Array(user) }
    let small = all.compactMap { try? $0.get() }.filter { $0.count <= maxShownBytes }
    let shown = small.compactMap { (bytes) -> [UInt8]? in
      guard let user = try? JSONValue(parsing: bytes) else { return nil }
      let members = JSONObject(names.compactMap { name in user[name].map { .init(name, $0) } })
      return JSONValue.object(members).bytes
    }
    return Array(shown.joined(separator: [UInt8(ascii: ",")]))
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
