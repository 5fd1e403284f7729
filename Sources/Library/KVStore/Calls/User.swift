internal import KVJSON

/// A user of the application, as the backend describes it.
///
///     let user = try await client.login(username: "ann", password: "a password")
///     print(user.username ?? user.id)
public struct User: Sendable, Equatable {
  /// The id of the user.
  public let id: String
  /// The user name, if the backend reports one.
  public let username: String?
  private let json: JSONValue

  init(_ json: JSONValue) throws(KVStoreError) {
    guard let id = json["_id"]?.stringValue else {
      throw KVStoreError(.unexpectedAnswer, "The backend's answer is not a user.")
    }
    self.id = id
    username = json["username"]?.stringValue
    self.json = json
  }

  /// Decodes everything that is known about the user:
  ///
  ///     struct Profile: Codable { var email: String?; var city: String? }
  ///     let profile = try user.decoded(as: Profile.self)
  public func decoded<Profile: Decodable>(as type: Profile.Type) throws(KVStoreError) -> Profile {
    try JSONDecoding.decode(type, from: json)
  }
}
