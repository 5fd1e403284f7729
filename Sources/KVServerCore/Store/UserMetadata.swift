package import KVJSON

/// What `_kmd` says of a user besides the times of his entity: his state, his last login, what is known of his
/// address.
package struct UserMetadata: Sendable {
  private var members: JSONObject

  /// Reads a stored user.
  package init(of body: [UInt8]) {
    members = (try? JSONValue(parsing: body))?["_kmd"]?.objectValue ?? JSONObject()
    members["ect"] = nil
    members["lmt"] = nil
  }

  package subscript(_ name: String) -> JSONValue? {
    get { members[name] }
    set { members[name] = newValue }
  }

  /// The members as JSON, each with a comma before it.
  package var text: String {
    members.members.map { ",\(JSONValue.string($0.name).text):\($0.value.text)" }.joined()
  }
}
