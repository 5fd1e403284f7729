package import KVJSON
package import KVSync
internal import KVTransport

/// Kinvey's user operations.
package final class KinveyUsers: Accounts {
  private let service: KinveyService

  package init(_ service: KinveyService) { self.service = service }

  /// `{"version":…,"kinvey":…,…}`.
  package func ping(_ call: Call) throws(StoreError) -> [UInt8] {
    let url = service.endpoint.url(.data, [])
    let answer = try service.exchange("GET", url, as: service.appCredentials, call: call)
    _ = try answer.object(with: "kinvey")
    return answer.body
  }

  /// Creates a user and logs it in. `user` is a JSON object; `{}` makes an implicit user.
  ///
  /// From version 6 of the protocol on a new user has no session yet: then a login follows.
  package func signup(_ user: [UInt8], _ call: Call) throws(StoreError) -> Account {
    let url = service.endpoint.url(.users, [])
    let answer = try service.exchange(
      "POST", url, body: .once(user), as: service.appCredentials, for: .user, call: call)
    var created = try Account(answer)
    if let credentials = try Self.credentials(in: user) {
      // Some backends repeat the password. Who gave it knows it, and it is not to be kept.
      try created.removePassword()
      return created.token == nil ? try login(credentials, call) : created
    }
    guard created.token == nil, let credentials = try Self.credentials(in: created.json) else {
      return created
    }
    // The password that the backend made up is told this once.
    var user = try login(credentials, call)
    user.json = created.json
    return user
  }

  /// `credentials` is `{"username":…,"password":…}` or `{"_socialIdentity":…}`. Fails with `unauthorized`.
  package func login(_ credentials: [UInt8], _ call: Call) throws(StoreError) -> Account {
    let url = service.endpoint.url(.users, ["login"])
    let answer = try service.exchange(
      "POST", url, body: .bytes(credentials), as: service.appCredentials, for: .user, call: call)
    let user = try Account(answer)
    guard user.token != nil else {
      throw KinveyErrors.unusable(answer.head, "The backend's answer has no session token.")
    }
    return user
  }

  /// Ends the session of this token, which need not be the active one any more.
  package func logout(token: String, _ call: Call) throws(StoreError) {
    let url = service.endpoint.url(.users, ["_logout"])
    try service.exchange("POST", url, body: .bytes([]), as: .session(token: token), call: call)
      .acknowledged()
  }

  /// The active user as the backend has it. It brings no token that is of use.
  package func me(_ call: Call) throws(StoreError) -> Account {
    let url = service.endpoint.url(.users, ["_me"])
    var user = try Account(
      try service.exchange("GET", url, as: try service.userCredentials(), for: .user, call: call))
    user.token = nil
    return user
  }

  /// The backend replaces a user as a whole: what is not changed is sent as it was. A new password may bring a new
  /// token.
  package func update(
    _ user: Account, _ changes: JSONObject, call: Call
  ) throws(StoreError) -> Account {
    var members = try JSONValue.ifValid(user.json)?.objectValue ?? JSONObject()
    members["_kmd"] = nil
    members.merge(changes)
    let body = HTTPBody.bytes(JSONValue.object(members).bytes)
    let url = try service.endpoint.url(.users, id: user.id)
    return try Account(
      try service.exchange(
        "PUT", url, body: body, as: try service.userCredentials(), for: .user, call: call))
  }

  /// Disables a user, or deletes it for good.
  package func delete(id: String, isHard: Bool, call: Call) throws(StoreError) {
    let items = isHard ? [KinveyEndpoint.QueryItem("hard", "true")] : []
    let url = try service.endpoint.url(.users, id: id, query: items)
    try service.exchange("DELETE", url, as: try service.userCredentials(), call: call)
      .acknowledged()
  }

  /// Whether a user name is taken.
  package func exists(_ username: String, _ call: Call) throws(StoreError) -> Bool {
    let url = service.endpoint.url(.functions, ["check-username-exists"])
    let body = JSONValue.object(["username": .string(username)]).bytes
    let answer = try service.exchange(
      "POST", url, body: .bytes(body), as: service.appCredentials, call: call)
    guard let exists = try answer.json()["usernameExists"]?.boolValue else {
      throw KinveyErrors.unusable(
        answer.head, "The backend's answer does not say whether the user exists.")
    }
    return exists
  }

  /// The users who have all of these members. None of them comes with a token.
  package func lookup(_ members: JSONObject, _ call: Call) throws(StoreError) -> [JSONObject] {
    let url = service.endpoint.url(.users, ["_lookup"])
    let answer = try service.exchange(
      "POST", url, body: .bytes(JSONValue.object(members).bytes),
      as: try service.userCredentials(), for: .list, call: call)
    return try answer.entities().map { user in
      var user = user
      if var metadata = user["_kmd"]?.objectValue {
        metadata["authtoken"] = nil
        user["_kmd"] = .object(metadata)
      }
      return user
    }
  }

  private static func credentials(in user: [UInt8]) throws(StoreError) -> [UInt8]? {
    guard let object = try JSONValue.ifValid(user)?.objectValue,
      let name = object["username"], let password = object["password"]
    else { return nil }
    return JSONValue.object(["username": name, "password": password]).bytes
  }
}
