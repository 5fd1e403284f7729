internal import KVJSON

/// A group of users, which the access list of an entity can name: see `KVStoreClient.groups`.
///
///     let team = try await client.groups.create(name: "team", members: ["ann", "bob"])
///     try await people.share(id: "cy", with: Sharing(readers: team.members))
///
/// A group belongs to the user who created it. Other users may see or change it only if its own access list allows
/// that.
public struct UserGroup: Sendable, Equatable {
  /// The id of the group, which access lists use.
  public let id: String
  /// The name of the group.
  public let name: String?
  /// The ids of the users in the group.
  public let members: [String]

  init(_ json: JSONValue) throws(KVStoreError) {
    guard let id = json["_id"]?.stringValue else {
      throw KVStoreError(.unexpectedAnswer, "The backend's answer is not a group.")
    }
    self.id = id
    name = json["name"]?.stringValue
    members = json["members"]?.arrayValue?.compactMap(\.stringValue) ?? []
  }
}
