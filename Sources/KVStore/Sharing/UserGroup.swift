internal import KVJSON

/// A group of users, which the access list of an entity can name: `KVStoreClient.groups` makes and finds them.
///
///     let team = try await client.groups.create(name: "team", members: ["ann", "bob"])
///     try await people.share(id: "cy", with: Sharing(readers: team.members))
///
/// It is its creator's: others see and change it only if its own access list says so.
public struct UserGroup: Sendable, Equatable {
  /// What an access list names it by.
  public let id: String
  public let name: String?
  /// The ids of the users who are in it.
  public let members: [String]

  init(_ json: JSONValue) throws(KVStoreError) {
    guard let id = json["_id"]?.stringValue else {
      throw KVStoreError(.unexpectedAnswer, "The backend's answer is no group.")
    }
    self.id = id
    name = json["name"]?.stringValue
    members = json["members"]?.arrayValue?.compactMap(\.stringValue) ?? []
  }
}
