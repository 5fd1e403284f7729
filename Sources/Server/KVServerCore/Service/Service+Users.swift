internal import KVBase
internal import KVJSON

/// `/user`.
extension Service {
  func users(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    if call.request.method == .post { return try signUp(call) }
    return try find(call, in: .users(of: call.app.number))
  }

  func user(_ call: AuthenticatedRequest, _ id: String) throws(ServerError) -> Response {
    switch call.request.method {
    case .put: return try update(call, id)
    case .delete: return try delete(call, id)
    default: return try show(call, id)
    }
  }

  func me(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    try show(call, try call.user())
  }

  // MARK: Users

  private func signUp(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    // Without a body the user is an implicit one: name and password are made up.
    if !call.isAdministrator { try use.signUp(call) }
    let sent = call.body.isBlank ? Payload(Array("{}".utf8)) : call.body
    let object = try Self.object(sent)
    let name = try Self.text("username", object) ?? Identifier.request()
    let password = try Self.text("password", object) ?? hexText(randomBytes(16))
    if object["_socialIdentity"] != nil {
      throw ServerError(.featureUnavailable, "users can only sign up with a name and a password")
    }
    try checkMaySignUp(object, call)
    let draft = try Self.draft(
      sent, id: try Self.id(ofNew: object, call),
      replacing: [
        ("username", JSONValue.string(name).bytes), ("password", nil), ("_invitation", nil),
      ])
    call.note?.subject = draft.id
    if try store.accounts.find(name: name, of: call.app.number) != nil {
      throw ServerError(.userAlreadyExists)
    }
    let session =
      call.apiVersion <= APIVersion.lastWithTokenAtSignup
      ? try newSession(for: call.request) : nil
    var body = try store.accounts.create(
      draft, name: name, password: try hash(password), session: session, of: call.app.number)
    if let session { body = Self.adding(session.token, to: body) }
    var response = Response.json(201, Self.prefixing("password", password, to: body))
    response.headers.append(("Location", location(call, "user", path: draft.id)))
    return response
  }

  private func checkMaySignUp(
    _ user: JSONObject, _ call: AuthenticatedRequest
  ) throws(ServerError) {
    guard !call.isAdministrator else { return }
    switch settings.signUp.rule(of: call.app.key) {
    case .open: return
    case .closed:
      throw ServerError(.insufficientCredentials, "only the master secret makes users of this app")
    case .invite:
      let name = user["username"]?.stringValue ?? ""
      guard let text = user["_invitation"]?.stringValue,
        let invitation = Self.invitations(of: call.app).lazy.compactMap({
          $0.open("invitation", text, at: Timestamp.now().milliseconds / 1000)
        }).first,
        invitation["username"]?.stringValue?.hasSameBytes(as: name) == true
      else {
        throw ServerError(
          .insufficientCredentials, "signing up takes an _invitation for this username")
      }
    }
  }

  /// Takes `{"username":…,"days":…}`: the name that the invitation is for, so that it is good for one user, and for how many days.
  func invite(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    try call.requireMaster()
    let object = try Self.object(call.body)
    guard let name = try Self.text("username", object) else {
      throw ServerError(.incompleteRequestBody, "username is required")
    }
    let days = object["days"].map { $0.intValue } ?? 7
    guard let days, (1...365).contains(days) else {
      throw ServerError(.inputValidationFailed, "days must be a number from 1 to 365")
    }
    call.note?.subject = name
    let end = Timestamp.now().milliseconds / 1000 + days * 86_400
    guard let seal = Self.invitations(of: call.app).first else {
      throw ServerError(
        .featureUnavailable,
        "what the server seals invitations with is not known here: ask the server, or name its configuration"
      )
    }
    let text = seal.seal("invitation", ["username": .string(name)], until: end)
    return Response.json(
      201,
      [
        "_invitation": .string(text), "username": .string(name),
        "expires": .string(Timestamp(milliseconds: end * 1000).description),
      ])
  }

  /// What invitations are sealed with, and what those may be sealed with that are still good: secrets of the server or of the
  /// administrator. Others make them void.
  private static func invitations(of app: App) -> [Seal] {
    app.seals.map { Seal(secret: $0, app: app.key) }
  }

  /// Only the administrator chooses the id of a user: a chosen id could be one that rights were given to.
  private static func id(ofNew user: JSONObject, _ call: AuthenticatedRequest) throws(ServerError)
    -> String
  {
    guard let wanted = user["_id"] else { return Identifier.object() }
    guard call.isAdministrator else {
      throw ServerError(
        .insufficientCredentials, "only the master secret can name the _id of a user")
    }
    guard let id = wanted.stringValue else {
      throw ServerError(.inputValidationFailed, "_id must be a string")
    }
    try EntityID.check(user: id)
    return id
  }

  private func show(_ call: AuthenticatedRequest, _ id: String) throws(ServerError) -> Response {
    do throws(ServerError) {
      let found = try store.entities.get(
        id, in: .users(of: call.app.number), for: call.claim)
      var response = Response.json(200, found.body)
      response.headers += moment(found.start)
      return response
    } catch {
      throw error.code == .entityNotFound ? ServerError(.userNotFound) : error
    }
  }

  /// The member of a user's update that has the old password. It is never stored.
  private static let oldPassword = "oldPassword"

  /// Throws unless a user who changes their password has said the old one. Guesses count as failed logins.
  private func checkOldPassword(
    _ object: JSONObject, of account: Account, _ call: AuthenticatedRequest
  ) throws(ServerError) {
    guard settings.asksOldPassword, !call.isAdministrator else { return }
    guard let old = object[Self.oldPassword]?.stringValue else {
      throw ServerError(
        .insufficientCredentials, "a new password needs the old one, in \(Self.oldPassword)")
    }
    let attempt = LoginThrottle.Attempt(
      app: call.app.number, name: account.name, from: ClientAddress(call.request.client))
    if let seconds = throttle.wait(for: attempt) { throw ServerError.tooManyFailures(seconds) }
    guard PasswordHasher.matches(old, account.password) else {
      throttle.failed(attempt)
      throw ServerError(.insufficientCredentials, "\(Self.oldPassword) is wrong")
    }
    throttle.succeeded(attempt)
  }

  private func update(_ call: AuthenticatedRequest, _ id: String) throws(ServerError) -> Response {
    _ = try Viewer(principal: try call.principal(), permissions: .sharedByACL).rule(for: .update)
    let object = try Self.object(call.body)
    let name = try Self.text("username", object)
    let password = try Self.text("password", object)
    if password != nil { call.note?.action = .changePassword }
    var hashed: String?
    let body = try retrying { () throws(ServerError) in
      guard let account = try store.accounts.find(id: id, of: call.app.number), !account.isDisabled
      else {
        throw ServerError(.userNotFound)
      }
      // Others who may write to a user's entity cannot change how that user logs in.
      if password != nil || name?.hasSameBytes(as: account.name) == false {
        try call.requireUserOrMaster(id, to: "change a username or a password")
      }
      if let password, hashed == nil {
        try checkOldPassword(object, of: account, call)
        hashed = try hash(password)
      }
      let draft = try Self.draft(
        call.body, id: id,
        replacing: [
          ("username", JSONValue.string(name ?? account.name).bytes), ("password", nil),
          (Self.oldPassword, nil),
        ])
      let change = AccountChange(
        name: name ?? account.name, password: hashed, keptToken: call.token)
      return try store.accounts.update(
        draft, of: account, change: change, for: try call.principal(), app: call.app.number)
    }
    // Sessions that were opened with the old password end, except the one that changed it.
    if password != nil {
      try endListening(of: id, app: call.app.number, in: .allBut(call.token))
    }
    // A client that updates its own user keeps the answer as its session.
    guard let token = call.token, call.isUser(id) else { return Response.json(200, body) }
    return Response.json(200, Self.adding(token, to: body))
  }

  private func delete(_ call: AuthenticatedRequest, _ id: String) throws(ServerError) -> Response {
    let isForGood = call["hard"]?.lowercased() == "true"
    if isForGood { call.note?.action = .deleteUser }
    try call.requireUserOrMaster(id, to: "delete a user")
    try remove(user: id, permanently: isForGood, call: call)
    return Response(204)
  }

  func remove(user id: String, permanently: Bool, call: AuthenticatedRequest) throws(ServerError) {
    try store.accounts.delete(
      id, permanently: permanently, for: try call.principal(), of: call.app.number)
    try forgetListener(id, app: call.app.number)
  }

  // MARK: Parts

  /// Repeats what gives nil because the account has changed since it was read.
  func retrying<R>(_ body: () throws(ServerError) -> R?) throws(ServerError) -> R {
    for _ in 0..<10 {
      if let result = try body() { return result }
    }
    throw ServerError(.internalErrorRetry)
  }

  func hash(_ password: String) throws(ServerError) -> String {
    guard password.unicodeScalars.count >= settings.passwordLength else {
      throw ServerError(
        .inputValidationFailed,
        "a password must have at least \(settings.passwordLength) characters")
    }
    guard !password.isEmpty, let hash = hasher.hash(password) else {
      throw ServerError(.inputValidationFailed, "a password must have 1 to 511 bytes and no NUL")
    }
    return hash
  }

  /// A member that is a text that is not empty, or missing.
  private static func text(_ name: String, _ object: JSONObject) throws(ServerError) -> String? {
    guard let value = object[name], !value.isNull else { return nil }
    guard let text = value.stringValue, !text.isEmpty, text.utf8.count <= 255 else {
      throw ServerError(.inputValidationFailed, "\(name) must be a string of 1 to 255 bytes")
    }
    return text
  }

  /// A stored user with a token in `_kmd`, which is the last member of every stored entity.
  static func adding(_ token: String, to body: [UInt8]) -> [UInt8] {
    guard body.suffix(2).elementsEqual("}}".utf8) else { return body }
    var metadata = JSONObjectWriter(continuing: Array(body.dropLast(2)), reservingCapacity: 96)
    metadata.add("authtoken", .string(token))
    return metadata.bytes + [UInt8(ascii: "}")]
  }

  private static func prefixing(_ name: String, _ text: String, to body: [UInt8]) -> [UInt8] {
    var object = JSONObjectWriter(reservingCapacity: body.count + 64)
    object.add(name, .string(text))
    object.add(membersOf: body)
    return object.finish()
  }
}
