internal import KVJSON
internal import KVQuery

/// Finding other users.
extension Service {
  /// What users are found by, and what is shown of them.
  private static let searchable = ["_id", "username", "first_name", "last_name", "email"]
  private static let maxFound: Int = 1000

  func lookup(_ call: Call) throws(ServerError) -> Response {
    _ = try call.isAdministrator ? "" : call.user()
    var filter = try Self.object(call.body)
    guard !filter.isEmpty else { throw ServerError(.missingQuery, "nobody can list all users") }
    for member in filter.members {
      guard Self.searchable.contains(member.name), member.value.stringValue != nil else {
        throw ServerError(
          .invalidQuerySyntax,
          "users are found by the text of \(Self.searchable.joined(separator: ", "))")
      }
    }
    filter["_kmd.status.val"] = ["$ne": "disabled"]
    var query: Query
    do { query = try Query(filter: filter.text) } catch { throw ServerError(error) }
    query.limit = Self.maxFound
    let found = try accounts.discover(query, of: call.app.number, within: call.budget)
    return Answer.json(
      200,
      .array(
        found.map { user in
          .object(
            JSONObject(
              Self.searchable.compactMap { name in user[name].map { .init(name, $0) } }))
        }))
  }

  func usernameExists(_ call: Call) throws(ServerError) -> Response {
    guard let name = try Self.object(call.body)["username"]?.stringValue else {
      throw ServerError(.incompleteRequestBody, "username is required")
    }
    let exists = try accounts.find(name: name, of: call.app.number) != nil
    return Answer.json(200, ["usernameExists": .bool(exists)])
  }
}
