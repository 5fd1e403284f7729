internal import KVJSON
internal import KVSync
internal import KVTransport

extension Account {
  /// Takes the password out. Throws `.storage` only.
  mutating func removePassword() throws(StoreError) {
    guard var user = try JSONValue.ifValid(json)?.objectValue, user["password"] != nil else {
      return
    }
    user["password"] = nil
    json = JSONValue.object(user).bytes
  }

  /// Reads `{…,"_kmd":{"authtoken":…}}` or, from version 6 of the protocol, `{"user":{…},"authToken":…}`.
  init(_ response: HTTPResponse) throws(StoreError) {
    let answer = try response.json()
    if answer["mfaRequired"]?.boolValue == true {
      throw StoreError(.unsupported, "The user needs a second factor, which is not supported.")
    }
    let wrapped = answer["user"]?.objectValue
    guard var user = wrapped ?? answer.objectValue, let id = user["_id"]?.stringValue, !id.isEmpty
    else { throw KinveyErrors.unusable(response.head, "The backend's answer is not a user.") }
    var token = wrapped == nil ? nil : answer["authToken"]?.stringValue
    if var metadata = user["_kmd"]?.objectValue {
      token = token ?? metadata["authtoken"]?.stringValue
      metadata["authtoken"] = nil
      user["_kmd"] = .object(metadata)
    }
    if token?.isEmpty == true { token = nil }
    guard token.map(Provenance.isToken) != false else {
      throw KinveyErrors.unusable(response.head, "The backend's answer has a malformed token.")
    }
    self.init(id: id, token: token, json: JSONValue.object(user).bytes)
  }
}
