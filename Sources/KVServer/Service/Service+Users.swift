internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite

/// `/user` and `/rpc`.
extension Service {
  func users(_ call: Call) throws(ServerError) -> Response {
    if call.request.method == .post { return try signUp(call) }
    return try find(call, in: try accounts.users(of: call.app.number), for: userViewer(call))
  }

  func user(_ call: Call, _ id: String) throws(ServerError) -> Response {
    switch call.request.method {
    case .put: return try update(call, id)
    case .delete: return try delete(call, id)
    default: return try show(call, id)
    }
  }

  func me(_ call: Call) throws(ServerError) -> Response { try show(call, try call.user()) }

  // MARK: Sessions

  func login(_ call: Call) throws(ServerError) -> Response {
    let object = try Self.object(call.body)
    if object["_socialIdentity"] != nil {
      throw ServerError(.featureUnavailable, "users log in with a name and a password here")
    }
    guard let name = object["username"]?.stringValue,
      let password = object["password"]?.stringValue
    else { throw ServerError(.incompleteRequestBody, "username and password are required") }
    let account = try accounts.find(name: name, of: call.app.number)
    let matches = PasswordHasher.matches(password, account?.password ?? nobodysHash)
    guard let account, matches, !account.isDisabled else { throw ServerError(.invalidCredentials) }
    let body = try body(of: account.id, call)
    let token = try sessions.start(app: call.app.number, user: account.id)
    return Answer.json(200, Self.adding(token, to: body))
  }

  func logout(_ call: Call) throws(ServerError) -> Response {
    _ = try call.user()
    if let token = call.token {
      try sessions.end(token)
      live.broker(of: call.app.number)?.refuse(session: token)
    }
    return Response(204)
  }

  /// Ends all sessions of a user: his own, or any with the master secret.
  func endSessions(_ call: Call, of id: String) throws(ServerError) -> Response {
    if call.principal != .master, try call.user() != id {
      throw ServerError(.insufficientCredentials)
    }
    guard try accounts.find(id: id, of: call.app.number) != nil else {
      throw ServerError(.userNotFound)
    }
    try sessions.endAll(app: call.app.number, user: id)
    endPolls(of: id, app: call.app.number)
    return Response(204)
  }

  // MARK: Users

  private func signUp(_ call: Call) throws(ServerError) -> Response {
    let object = try Self.object(call.body)
    let name = try Self.text("username", object) ?? Identifier.request()
    let given = try Self.text("password", object)
    let password = given ?? hexText(randomBytes(16))
    if object["_socialIdentity"] != nil {
      throw ServerError(.featureUnavailable, "users sign up with a name and a password here")
    }
    let draft = try Self.draft(
      call.body, id: try Self.id(ofNew: object, call),
      replacing: [("username", JSONValue.string(name).bytes), ("password", nil)])
    if try accounts.find(name: name, of: call.app.number) != nil {
      throw ServerError(.userAlreadyExists)
    }
    var body = try accounts.create(
      draft, name: name, password: try hash(password), of: call.app.number)
    if call.apiVersion <= APIVersion.lastWithTokenAtSignup {
      body = Self.adding(try sessions.start(app: call.app.number, user: draft.id), to: body)
    }
    // Nobody else knows a password that we made.
    if given == nil { body = Self.prefixing("password", password, to: body) }
    return Answer.json(201, body)
  }

  /// Only the administrator names the id of a user: whoever may choose it can choose one that rights were given to.
  private static func id(ofNew user: JSONObject, _ call: Call) throws(ServerError) -> String {
    guard let wanted = user["_id"] else { return Identifier.object() }
    guard call.principal == .master else {
      throw ServerError(
        .insufficientCredentials, "only the master secret can name the _id of a user")
    }
    guard let id = wanted.stringValue else {
      throw ServerError(.inputValidationFailed, "_id must be a text")
    }
    try EntityID.check(user: id)
    return id
  }

  private func show(_ call: Call, _ id: String) throws(ServerError) -> Response {
    let start = entities.clock.readStart()
    var response = Answer.json(
      200,
      try entities.get(id, in: try accounts.users(of: call.app.number), for: userViewer(call)).body)
    response.headers.append(Self.requestStart(start))
    return response
  }

  private func update(_ call: Call, _ id: String) throws(ServerError) -> Response {
    let viewer = userViewer(call)
    _ = try viewer.rule(for: .update)
    let object = try Self.object(call.body)
    guard let account = try accounts.find(id: id, of: call.app.number), !account.isDisabled else {
      throw ServerError(.userNotFound)
    }
    let name = try Self.text("username", object) ?? account.name
    let password = try Self.text("password", object)
    let draft = try Self.draft(
      call.body, id: id,
      replacing: [("username", JSONValue.string(name).bytes), ("password", nil)])
    var hashed: String?
    if let password { hashed = try hash(password) }
    let body = try accounts.update(
      draft, name: name, password: hashed, for: viewer, of: call.app.number)
    // Whoever knew the old password is out; who changed it stays.
    if password != nil {
      try sessions.endAll(app: call.app.number, user: id, but: call.token)
      endPolls(of: id, app: call.app.number, but: call.token)
    }
    return Answer.json(200, body)
  }

  private func delete(_ call: Call, _ id: String) throws(ServerError) -> Response {
    try accounts.delete(
      id, permanently: call["hard"]?.lowercased() == "true", for: userViewer(call),
      of: call.app.number)
    try sessions.endAll(app: call.app.number, user: id)
    try forgetListener(id, app: call.app.number)
    return Response(204)
  }

  // MARK: Discovery

  private static let searchable = ["_id", "username", "first_name", "last_name", "email"]
  private static let shown = ["_id", "username", "first_name", "last_name"]
  private static let mostDiscovered: Int = 1000

  func lookup(_ call: Call) throws(ServerError) -> Response {
    _ = try call.principal == .master ? "" : call.user()
    var filter = try Self.object(call.body)
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
    query.limit = Self.mostDiscovered
    let found = try accounts.discover(query, of: call.app.number)
    return Answer.json(
      200,
      .array(
        found.map { user in
          .object(
            JSONObject(
              Self.shown.compactMap { name in user[name].map { .init(name, $0) } }))
        }))
  }

  func usernameExists(_ call: Call) throws(ServerError) -> Response {
    guard let name = try Self.object(call.body)["username"]?.stringValue else {
      throw ServerError(.incompleteRequestBody, "username is required")
    }
    let exists = try accounts.find(name: name, of: call.app.number) != nil
    return Answer.json(200, ["usernameExists": .bool(exists)])
  }

  // MARK: Parts

  private func userViewer(_ call: Call) -> Viewer {
    Viewer(principal: call.principal, permissions: Accounts.permissions)
  }

  private func body(of id: String, _ call: Call) throws(ServerError) -> [UInt8] {
    let viewer = Viewer(principal: .master, permissions: Accounts.permissions)
    return try entities.get(id, in: try accounts.users(of: call.app.number), for: viewer)
      .body.withBytes { Array($0) }
  }

  private func hash(_ password: String) throws(ServerError) -> String {
    guard !password.isEmpty, let hash = hasher.hash(password) else {
      throw ServerError(.inputValidationFailed, "a password has 1 to 511 bytes and no NUL")
    }
    return hash
  }

  /// A member that is a text that is not empty, or missing.
  private static func text(_ name: String, _ object: JSONObject) throws(ServerError) -> String? {
    guard let value = object[name], !value.isNull else { return nil }
    guard let text = value.stringValue, !text.isEmpty, text.utf8.count <= 255 else {
      throw ServerError(.inputValidationFailed, "\(name) must be a text of 1 to 255 bytes")
    }
    return text
  }

  /// A stored user with a token in his `_kmd`, which is the last member of every stored entity.
  private static func adding(_ token: String, to body: [UInt8]) -> [UInt8] {
    guard body.suffix(2).elementsEqual("}}".utf8) else { return body }
    return body.dropLast(2) + Array(",\"authtoken\":\"\(token)\"}}".utf8)
  }

  private static func prefixing(_ name: String, _ text: String, to body: [UInt8]) -> [UInt8] {
    Array("{\"\(name)\":".utf8) + JSONValue.string(text).bytes + Array(",".utf8) + body.dropFirst()
  }
}
