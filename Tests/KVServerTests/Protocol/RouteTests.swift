import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Routes") struct RouteTests {
  @Test("lead to what the protocol says")
  func known() {
    #expect(Route(["healthz"]) == .health)
    #expect(Route(["appdata", "k"]) == .ping(app: "k"))
    #expect(Route(["appdata", "k", "c"]) == .collection(app: "k", "c"))
    #expect(Route(["appdata", "k", "c", "1"]) == .entity(app: "k", collection: "c", id: "1"))
    #expect(Route(["appdata", "k", "c", "_count"]) == .count(app: "k", collection: "c"))
    #expect(
      Route(["appdata", "k", "c", "_permissions"]) == .permissions(app: "k", collection: "c"))
    #expect(Route(["appdata", "k", "c", "_batch"]) == .batch(app: "k", collection: "c"))
    #expect(Route(["blob", "k"]) == .files(app: "k"))
    #expect(Route(["blob", "k", ""]) == .files(app: "k"))
    #expect(Route(["blob", "k", "1"]) == .file(app: "k", id: "1"))
    #expect(Route(["blob", "k", "_bytes", "t"]) == .fileBytes(key: "k", ticket: "t"))
    #expect(Route(["user", "k"]) == .users(app: "k"))
    #expect(Route(["user", "k", "login"]) == .login(app: "k"))
    #expect(Route(["user", "k", "_logout"]) == .logout(app: "k"))
    #expect(Route(["user", "k", "_me"]) == .me(app: "k"))
    #expect(Route(["user", "k", "_lookup"]) == .lookup(app: "k"))
    #expect(Route(["user", "k", "u"]) == .user(app: "k", id: "u"))
    #expect(Route(["user", "k", "u", "tokens"]) == .tokens(app: "k", user: "u"))
    #expect(Route(["rpc", "k", "check-username-exists"]) == .usernameExists(app: "k"))
    #expect(Route(["rpc", "k", "user-forgot-username"]) == .mail(app: "k"))
    #expect(Route(["rpc", "k", "ana", "user-password-reset-initiate"]) == .mail(app: "k"))
    #expect(
      Route(["rpc", "k", "ana", "user-email-verification-initiate"])
        == .verifyAddress(app: "k", name: "ana"))
    #expect(Route(["rpc", "k", "remove-collection"]) == .removeCollection(app: "k"))
    #expect(Route(["rpc", "k", "custom", "f"]) == .customEndpoint(app: "k", name: "f"))
    #expect(Route(["user", "k", "u", "register-realtime"]) == .register(app: "k", user: "u"))
    #expect(Route(["user", "k", "u", "unregister-realtime"]) == .unregister(app: "k", user: "u"))
    #expect(Route(["appdata", "k", "c", "_subscribe"]) == .subscribe(app: "k", collection: "c"))
    #expect(
      Route(["appdata", "k", "c", "_unsubscribe"]) == .unsubscribe(app: "k", collection: "c"))
    #expect(Route(["v2", "subscribe", "s", ",", "0"]) == .poll(key: "s", channels: ","))
    #expect(
      Route(["v2", "presence", "sub-key", "s", "channel", ",", "leave"])
        == .pubNub(.presence(.leave)))
    #expect(Route(["time", "0"]) == .pubNub(.time))
    #expect(
      Route(["publish", "p", "s", "0", "ch", "0", "{}"])
        == .pubNub(.publish(publishKey: "p", key: "s", channel: "ch", message: "{}")))
    let stream = LiveStream("chat", of: "u")
    #expect(Route(["stream", "k", "chat", "u"]) == .streamACL(app: "k", stream))
    #expect(Route(["stream", "k", "chat", "u", "publish"]) == .streamPublish(app: "k", stream))
    #expect(Route(["stream", "k", "chat", "_substreams"]) == .substreams(app: "k", stream: "chat"))
  }

  @Test(
    "end elsewhere",
    arguments: [
      [], ["x"], ["appdata"], ["appdata", ""], ["appdata", "k", "c", "1", "2"], ["user"],
      ["user", "k", "u", "x"], ["rpc", "k"], ["rpc", "k", "x"], ["appdata", "k", "", "1"],
      ["healthz", "x"], ["v2"], ["time"], ["publish", "p"], ["v2", "subscribe", "s", ","],
    ])
  func unknown(path: [String]) { #expect(Route(path) == nil) }
}

@Suite("Errors") struct ServerErrorTests {
  @Test("have the statuses of the protocol's table")
  func statuses() {
    let table: [Int: [ServerError.Code]] = [
      401: [.invalidCredentials, .insufficientCredentials],
      403: [.writesToCollectionDisallowed, .missingConfiguration],
      404: [
        .entityNotFound, .blobNotFound, .appNotFound, .userNotFound, .collectionNotFound,
        .endpointNotFound, .routeNotFound,
      ],
      405: [.methodNotAllowed], 409: [.userAlreadyExists, .staleRequest],
      410: [.entityGone], 413: [.payloadTooLarge], 415: [.unsupportedMediaType],
      429: [.tooManyRequests],
      500: [.internalErrorRetry, .internalErrorStop], 501: [.apiVersionNotImplemented],
      503: [.stopping], 550: [.logicFailed],
    ]
    for code in ServerError.Code.allCases {
      let status = table.first { $0.value.contains(code) }?.key ?? 400
      #expect(code.status == status)
      #expect(!code.description.isEmpty)
    }
  }
}
