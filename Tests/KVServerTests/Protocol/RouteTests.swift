import Testing

@testable import KVServer

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
    #expect(Route(["rpc", "k", "ana", "user-email-verification-initiate"]) == .mail(app: "k"))
  }

  @Test(
    "end elsewhere",
    arguments: [
      [], ["x"], ["appdata"], ["appdata", ""], ["appdata", "k", "c", "1", "2"], ["user"],
      ["user", "k", "u", "x"], ["rpc", "k"], ["rpc", "k", "x"], ["appdata", "k", "", "1"],
      ["healthz", "x"],
    ])
  func unknown(path: [String]) { #expect(Route(path) == nil) }
}

@Suite("Errors") struct ServerErrorTests {
  @Test("have the statuses of the protocol's table")
  func statuses() {
    let table: [Int: [ServerError.Code]] = [
      401: [.invalidCredentials, .insufficientCredentials],
      403: [.writesToCollectionDisallowed, .missingConfiguration],
      404: [.entityNotFound, .appNotFound, .userNotFound, .routeNotFound],
      405: [.methodNotAllowed], 409: [.userAlreadyExists, .staleRequest], 413: [.payloadTooLarge],
      500: [.internalErrorRetry, .internalErrorStop], 501: [.apiVersionNotImplemented],
      503: [.stopping],
    ]
    for code in ServerError.Code.allCases {
      let status = table.first { $0.value.contains(code) }?.key ?? 400
      #expect(code.status == status)
      #expect(!code.description.isEmpty)
    }
  }
}
