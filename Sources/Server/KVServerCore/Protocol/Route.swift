/// What a path leads to. Names and ids are decoded.
package enum Route: Sendable, Equatable {
  case health
  case metrics
  case ping(app: String)
  /// The names of all collections, with what is in them: an extension for administrators.
  case collections(app: String)
  case collection(app: String, String)
  case entity(app: String, collection: String, id: String)
  case count(app: String, collection: String)
  case delta(app: String, collection: String)
  case group(app: String, collection: String)
  /// Many writes at once: an extension.
  case batch(app: String, collection: String)
  /// Whether a collection keeps a history for `delta`: an extension for administrators.
  case history(app: String, collection: String)
  case indexes(app: String, collection: String)
  /// Gives a collection another name: an extension for administrators.
  case rename(app: String, collection: String)
  /// Permissions of a collection: an extension for administrators.
  case permissions(app: String, collection: String)
  case users(app: String)
  case user(app: String, id: String)
  /// What is said about files, and their bytes, whose addresses carry their credentials.
  case files(app: String)
  case file(app: String, id: String)
  case fileBytes(key: String, ticket: String)
  case login(app: String)
  case logout(app: String)
  case me(app: String)
  case lookup(app: String)
  case tokens(app: String, user: String)
  /// Who is logged in, for administrators, and the sessions of the user who asks: an extension.
  case sessions(app: String)
  case session(app: String, id: String)
  /// Lets a disabled user log in again.
  case restoreUser(app: String, id: String)
  /// Sets the password of a user: an extension for administrators.
  case password(app: String, user: String)
  /// Links a user with an identity of the app's provider: an extension.
  case identity(app: String, user: String)
  /// The invitations that sign-ups need under the rule `invite`: an extension for administrators.
  case invitations(app: String)
  /// Groups of users, which access lists can name.
  case userGroups(app: String)
  case userGroup(app: String, id: String)
  case usernameExists(app: String)
  /// Mail that this server does not send: forgotten names, reset passwords.
  case mail(app: String)
  case verifyAddress(app: String, name: String)
  case removeCollection(app: String)
  /// Business logic of the operator's.
  case customEndpoint(app: String, name: String)
  case register(app: String, user: String)
  case unregister(app: String, user: String)
  case subscribe(app: String, collection: String)
  case unsubscribe(app: String, collection: String)
  case streamACL(app: String, LiveStream)
  case streamPublish(app: String, LiveStream)
  case streamSubscribe(app: String, LiveStream)
  case streamUnsubscribe(app: String, LiveStream)
  case substreams(app: String, stream: String)
  /// Logins on a provider's page; the app is among the parameters.
  case oauth(OAuthCall)
  /// A long poll of Live Service: it carries its credentials among its parameters.
  case poll(key: String, channels: String)
  case pubNub(PubNubCall)

  package init?(_ path: [String]) {
    guard let first = path.first else { return nil }
    let rest = path.dropFirst()
    switch (first, rest.count) {
    case ("healthz", 0): self = .health
    case ("metrics", 0): self = .metrics
    case ("appdata", _): self.init(data: Array(rest))
    case ("user", _): self.init(user: Array(rest))
    case ("group", 1): self = .userGroups(app: path[1])
    case ("group", 2): self = .userGroup(app: path[1], id: path[2])
    case ("blob", 1): self = .files(app: path[1])
    // The SDKs end the path of a query with a slash.
    case ("blob", 2) where path[2].isEmpty:
      self = .files(app: path[1])
      return
    case ("blob", 2): self = .file(app: path[1], id: path[2])
    case ("blob", 3) where path[2] == "_bytes":
      self = .fileBytes(key: path[1], ticket: path[3])
    case ("stream", _): self.init(stream: Array(rest))
    case ("rpc", _): self.init(rpc: Array(rest))
    case ("v3", 2) where path[1] == "oauth":
      guard let call = OAuthCall(name: path[2]) else { return nil }
      self = .oauth(call)
    case ("v2", _), ("time", _), ("publish", _): self.init(pubNub: path)
    default: return nil
    }
    if path.contains("") { return nil }
  }

  private init?(data path: [String]) {
    switch path.count {
    case 1: self = .ping(app: path[0])
    case 2 where path[1] == "_collections": self = .collections(app: path[0])
    case 2: self = .collection(app: path[0], path[1])
    case 3: self.init(app: path[0], collection: path[1], name: path[2])
    default: return nil
    }
  }

  private init?(app: String, collection: String, name: String) {
    switch name {
    case "_count": self = .count(app: app, collection: collection)
    case "_permissions": self = .permissions(app: app, collection: collection)
    case "_deltaset": self = .delta(app: app, collection: collection)
    case "_history": self = .history(app: app, collection: collection)
    case "_indexes": self = .indexes(app: app, collection: collection)
    case "_rename": self = .rename(app: app, collection: collection)
    case "_batch": self = .batch(app: app, collection: collection)
    case "_group": self = .group(app: app, collection: collection)
    case "_subscribe": self = .subscribe(app: app, collection: collection)
    case "_unsubscribe": self = .unsubscribe(app: app, collection: collection)
    default: self = .entity(app: app, collection: collection, id: name)
    }
  }

  private init?(user path: [String]) {
    switch (path.count, path.last) {
    case (1, _): self = .users(app: path[0])
    case (2, "login"): self = .login(app: path[0])
    case (2, "_logout"): self = .logout(app: path[0])
    case (2, "_me"): self = .me(app: path[0])
    case (2, "_lookup"): self = .lookup(app: path[0])
    case (2, "_sessions"): self = .sessions(app: path[0])
    case (3, _) where path[1] == "_sessions": self = .session(app: path[0], id: path[2])
    case (2, "_invitations"): self = .invitations(app: path[0])
    case (2, _): self = .user(app: path[0], id: path[1])
    case (3, "tokens"): self = .tokens(app: path[0], user: path[1])
    case (3, "_restore"): self = .restoreUser(app: path[0], id: path[1])
    case (3, "_identity"): self = .identity(app: path[0], user: path[1])
    case (3, "_password"): self = .password(app: path[0], user: path[1])
    case (3, "register-realtime"): self = .register(app: path[0], user: path[1])
    case (3, "unregister-realtime"): self = .unregister(app: path[0], user: path[1])
    default: return nil
    }
  }

  private init?(stream path: [String]) {
    switch (path.count, path.last) {
    case (3, "_substreams"): self = .substreams(app: path[0], stream: path[1])
    case (3, _): self = .streamACL(app: path[0], LiveStream(path[1], of: path[2]))
    case (4, "publish"): self = .streamPublish(app: path[0], LiveStream(path[1], of: path[2]))
    case (4, "subscribe"): self = .streamSubscribe(app: path[0], LiveStream(path[1], of: path[2]))
    case (4, "unsubscribe"):
      self = .streamUnsubscribe(app: path[0], LiveStream(path[1], of: path[2]))
    default: return nil
    }
  }

  private init?(rpc path: [String]) {
    switch (path.count, path.last) {
    case (2, "check-username-exists"): self = .usernameExists(app: path[0])
    case (2, "user-forgot-username"), (3, "user-password-reset-initiate"):
      self = .mail(app: path[0])
    case (2, "remove-collection"): self = .removeCollection(app: path[0])
    case (3, "user-email-verification-initiate"):
      self = .verifyAddress(app: path[0], name: path[1])
    case (3, _) where path[1] == "custom": self = .customEndpoint(app: path[0], name: path[2])
    default: return nil
    }
  }

  private init?(pubNub path: [String]) {
    switch (path[0], path.count) {
    case ("time", 2): self = .pubNub(.time)
    case ("publish", 6), ("publish", 7):
      let message = path.count == 7 ? path[6] : nil
      self = .pubNub(
        .publish(publishKey: path[1], key: path[2], channel: path[4], message: message))
    case ("v2", 5) where path[1] == "subscribe": self = .poll(key: path[2], channels: path[3])
    case ("v2", 7) where path[1] == "presence" && path[2] == "sub-key" && path[4] == "channel":
      guard let action = PubNubCall.Presence(rawValue: path[6]) else { return nil }
      self = .pubNub(.presence(action))
    default: return nil
    }
  }

  /// The methods that are allowed here. HEAD is a GET whose answer is sent without its body.
  package var methods: [Request.Method] {
    switch self {
    case .pubNub(.publish(_, _, _, let message)): message == nil ? [.post] : [.get]
    case .oauth(let call): call == .token ? [.post] : [.get]
    case .health, .metrics, .ping, .collections, .count, .delta, .me, .sessions, .poll, .pubNub,
      .substreams:
      [.get]
    case .collection: [.get, .post, .delete]
    case .entity: [.get, .put, .patch, .delete]
    case .fileBytes: [.get, .put]
    case .indexes, .user, .userGroup, .file: [.get, .put, .delete]
    case .permissions, .history, .streamACL: [.get, .put]
    case .users, .userGroups, .files: [.get, .post]
    case .login, .logout, .lookup, .usernameExists, .mail, .verifyAddress, .removeCollection,
      .customEndpoint, .group, .batch, .register, .unregister, .subscribe, .unsubscribe,
      .streamPublish, .streamSubscribe, .streamUnsubscribe, .restoreUser, .rename, .invitations:
      [.post]
    case .password: [.put]
    case .identity: [.put, .delete]
    case .tokens, .session: [.delete]
    }
  }

  /// Whether its bodies are entities, or several of them.
  var takesEntities: Bool {
    switch self {
    case .collection, .entity, .batch: true
    default: false
    }
  }

  /// Whether all that it does is a read or a write of a collection's entities, for which the store finds out who asks.
  var isOfEntities: Bool {
    switch self {
    case .collection, .entity, .count, .delta, .group, .batch: true
    default: false
    }
  }

  /// The app key in the path; nil: the path names none.
  package var app: String? {
    switch self {
    case .health, .metrics, .oauth, .poll, .pubNub, .fileBytes: nil
    case .ping(let app), .collections(let app), .collection(let app, _), .entity(let app, _, id: _),
      .count(let app, _),
      .delta(let app, _), .group(let app, _), .batch(let app, _), .history(let app, _),
      .indexes(let app, _), .rename(let app, _),
      .permissions(let app, _), .users(let app), .user(let app, _), .userGroups(let app),
      .userGroup(let app, _), .files(let app), .file(let app, _), .login(let app),
      .logout(let app), .me(let app), .lookup(let app), .tokens(let app, _),
      .sessions(let app), .session(let app, id: _), .restoreUser(let app, _), .password(let app, _),
      .identity(let app, _), .invitations(let app),
      .usernameExists(let app), .mail(let app), .verifyAddress(let app, _),
      .removeCollection(let app), .customEndpoint(let app, _), .register(let app, _),
      .unregister(let app, _),
      .subscribe(let app, _), .unsubscribe(let app, _), .streamACL(let app, _),
      .streamPublish(let app, _), .streamSubscribe(let app, _), .streamUnsubscribe(let app, _),
      .substreams(let app, _):
      app
    }
  }
}

/// Requests of a login on a page, which Kinvey's SDKs know as Mobile Identity Connect.
package enum OAuthCall: Sendable, Equatable {
  /// A browser that wants to log in, and the same after it has.
  case page, callback
  /// A client that changes a code, or a refresh token, into tokens.
  case token

  init?(name: String) {
    switch name {
    case "auth": self = .page
    case "callback": self = .callback
    case "token": self = .token
    default: return nil
    }
  }
}

/// Calls of PubNub's protocol that are answered at once.
package enum PubNubCall: Sendable, Equatable {
  package enum Presence: String, Sendable { case leave, heartbeat }

  case time
  case presence(Presence)
  /// `message` nil: it is the body.
  case publish(publishKey: String, key: String, channel: String, message: String?)
}
