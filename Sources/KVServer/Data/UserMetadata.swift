internal import KVJSON

/// What `_kmd` says of a user besides the times of his entity: his state, his last login, what is known of his
/// address.
struct UserMetadata: Sendable {
  private var members: JSONObject

  /// Reads a stored user.
  init(of body: [UInt8]) {
    let stored = try? body.withUnsafeBytes { bytes -> JSONValue? in
      guard let range = try EntityScanner.outline(of: bytes).kmd else { return nil }
      return try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
    members = stored?.objectValue ?? JSONObject()
    members["ect"] = nil
    members["lmt"] = nil
  }

  subscript(_ name: String) -> JSONValue? {
    get { members[name] }
    set { members[name] = newValue }
  }

  /// As JSON, each member with a comma before it.
  var text: String {
    members.members.map { ",\(JSONValue.string($0.name).text):\($0.value.text)" }.joined()
  }
}
