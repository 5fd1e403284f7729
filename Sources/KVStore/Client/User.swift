internal import KVJSON

/// A user of the application, as the backend has it.
///
///     let user = try await client.login(username: "ann", password: "a password")
///     print(user.username ?? user.id)
public struct User: Sendable, Equatable {
  public let id: String
  public let username: String?
  private let json: JSONValue

  init(_ json: JSONValue) throws(KVStoreError) {
    guard let id = json["_id"]?.stringValue else {
      throw KVStoreError(.unexpectedAnswer, "The backend's answer is no user.")
    }
    self.id = id
    username = json["username"]?.stringValue
    self.json = json
  }

  /// All that is known of the user, as a type of yours:
  ///
  ///     struct Profile: Codable { var email: String?; var city: String? }
  ///     let profile = try user.decoded(as: Profile.self)
  public func decoded<Profile: Decodable>(as type: Profile.Type) throws(KVStoreError) -> Profile {
    try JSONDecoding.decode(type, from: json)
  }
}
