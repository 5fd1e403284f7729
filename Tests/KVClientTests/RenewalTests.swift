import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// A backend and an authorization server whose sessions run out when a test wants.
private final class AuthorizedBackend: Sendable {
  struct State {
    /// The code, and the refresh token, that are good now; each is good for one time.
    var code: String? = "code1"
    var refreshToken = ""
    var accessToken = ""
    var authtoken = ""
    var granted = 0
    var isKnown = true
    /// Whether refresh tokens are refused.
    var isRevoked = false
    var log: [String] = []
    /// What the next poll is answered with.
    var message: String?
  }

  let state = Monitor(State())
  private let made = Monitor<ScriptedServer?>(nil)

  func start() throws -> ScriptedServer {
    try ScriptedServer(replying: { [self] request in reply(to: request) })
  }

  /// Makes the session run out.
  func expire() { state.withLockNotifyingAll { $0.authtoken = "expired" } }

  private func reply(to request: ScriptedRequest) -> ScriptedReply {
    let path = String(request.target.split(separator: "?")[0])
    if path.hasPrefix("/v2/subscribe/") { return poll(request.target) }
    return state.withLock { state in
      state.log.append("\(request.method) \(path)")
      switch path {
      case "/v3/oauth/token": return Self.grant(request.text, &state)
      case "/user/kid/login": return Self.login(request.text, &state)
      case "/user/kid":
        state.isKnown = true
        return Self.login(request.text, &state)
      default:
        guard request["Authorization"] == "Kinvey \(state.authtoken)" else {
          return ScriptedReply(
            401, #"{"error":"InvalidCredentials","description":"","debug":""}"#)
        }
        if path.hasSuffix("/register-realtime") {
          return ScriptedReply(
            200, #"{"subscribeKey":"s","publishKey":"p","userChannelGroup":"g"}"#)
        }
        if request.method == "PUT" { return ScriptedReply(200, request.text) }
        if path.hasSuffix("subscribe") { return ScriptedReply(200, "{}") }
        return ScriptedReply(200, path.hasSuffix("_count") ? #"{"count":7}"# : "[]")
      }
    }
  }

  /// Holds a poll until there is a message, or its session has run out.
  private func poll(_ target: String) -> ScriptedReply {
    let answer = state.wait(until: .after(seconds: 300)) { state -> ScriptedReply? in
      guard target.hasSuffix("auth=\(state.authtoken)") else {
        return ScriptedReply(
          403, #"{"status":403,"error":true,"payload":{"channel-groups":["g"]}}"#)
      }
      if target.contains("tt=0&") { return ScriptedReply(200, #"{"t":{"t":"1"},"m":[]}"#) }
      defer { state.message = nil }
      return state.message.map { ScriptedReply(200, $0) }
    }
    return answer ?? ScriptedReply(500, "")
  }

  private static func grant(_ form: String, _ state: inout State) -> ScriptedReply {
    let isCode = state.code.map { form.contains("code=\($0)&") } ?? false
    let isRefresh = !state.isRevoked && form.contains("refresh_token=\(state.refreshToken)&")
    guard isCode || isRefresh else {
      return ScriptedReply(400, #"{"error":"invalid_grant","error_description":"Not good."}"#)
    }
    state.granted += 1
    state.code = nil
    state.refreshToken = "refresh\(state.granted)"
    state.accessToken = "access\(state.granted)"
    return ScriptedReply(
      200,
      #"{"access_token":"\#(state.accessToken)","refresh_token":"\#(state.refreshToken)","expires_in":3599}"#
    )
  }

  private static func login(_ body: String, _ state: inout State) -> ScriptedReply {
    guard body.contains(#""access_token":"\#(state.accessToken)""#) else {
      return ScriptedReply(401, #"{"error":"InvalidCredentials","description":"","debug":""}"#)
    }
    guard state.isKnown else {
      return ScriptedReply(404, #"{"error":"UserNotFound","description":"","debug":""}"#)
    }
    state.authtoken = "session\(state.granted)"
    return ScriptedReply(
      200, #"{"_id":"ana","username":"ana","_kmd":{"authtoken":"\#(state.authtoken)"}}"#)
  }
}

@Suite("A session by the authorization server") struct RenewalTests {
  private let backend = AuthorizedBackend()
  private let server: ScriptedServer
  private let directory = TemporaryDirectory()

  init() throws { server = try backend.start() }

  private func client() throws -> Client {
    try Client([
      "appKey": "kid", "appSecret": "s", "host": .string(server.url), "retries": 0,
      "dataDirectory": .string(directory.file("client")), "durability": "normal",
    ])
  }

  private func login(_ client: Client, code: String = "code1") throws -> JSONValue {
    try JSONValue(
      parsing: try client.login(code: code, redirectURI: "app://done", [:], Cancellation()))
  }

  private func count(_ client: Client) throws -> Int {
    try client.store("notes", type: "network", nil).count(Query(), DataStore.Run()).value
  }

  @Test("begins with a page and its code; no token is shown") func login() throws {
    let client = try client()
    defer {
      client.close()
      server.stop()
    }
    let page = try client.loginPage(redirectURI: "app://done?x=1", ["state": "s t"])
    #expect(
      page
        == "\(server.url)/v3/oauth/auth?client_id=kid&redirect_uri=app%3A%2F%2Fdone%3Fx%3D1"
        + "&response_type=code&scope=openid&state=s%20t")
    let user = try login(client)
    #expect(user["_id"] == "ana")
    #expect(!user.text.contains("refresh") && !user.text.contains("session1"))
    #expect(try count(client) == 7)
    #expect(server.requests[0]["Content-Type"] == "application/x-www-form-urlencoded")
    // The code is used up.
    let error = failure { _ = try login(client) }
    #expect(error?.kind == .unauthorized && error?.answer?.error == "invalid_grant")
    #expect(try count(client) == 7)
  }

  @Test("creates a user whom the backend does not know") func unknownUser() throws {
    let client = try client()
    defer {
      client.close()
      server.stop()
    }
    backend.state.withLock { $0.isKnown = false }
    #expect(try login(client)["_id"] == "ana")
    #expect(
      backend.state.withLock { $0.log }.suffix(2) == ["POST /user/kid/login", "POST /user/kid"])
  }

  @Test("is renewed once for all requests that wait, and each is repeated once")
  func renewal() throws {
    let client = try client()
    let again = try Client([
      "appKey": "kid", "appSecret": "s", "host": .string(server.url), "retries": 0,
      "dataDirectory": .string(directory.file("client")), "durability": "normal",
    ])
    defer {
      client.close()
      again.close()
      server.stop()
    }
    _ = try login(client)
    for round in 0..<3 {
      backend.expire()
      let clients = [client, again]
      let counts = concurrentMap(16, threads: 16) { index -> Int? in
        try? clients[index % 2].store("notes", type: "network", nil).count(
          Query(), DataStore.Run()
        ).value
      }
      #expect(counts == Array(repeating: 7, count: 16))
      #expect(backend.state.withLock { $0.granted } == 2 + round)
    }
    // Reads in pieces, pushes, and the user's own requests too.
    let store = try client.store("notes", type: "sync", nil)
    backend.expire()
    #expect(try store.pull(Query(), DataStore.Run()) == PullResult())
    _ = try store.saveMany([["_id": "a"], ["_id": "b"]])
    backend.expire()
    #expect(try store.push(DataStore.Run()).pushed == 2)
  }

  @Test("is renewed for live data: a poll that is held goes on, and a subscription is made")
  func live() throws {
    let client = try client()
    defer {
      backend.expire()
      client.close()
      server.stop()
    }
    _ = try login(client)
    let received = Monitor<[LiveEvent]>([])
    try client.registerLive(options: Options(), cancellation: Cancellation())
    for (round, collection) in ["notes", "others"].enumerated() {
      _ = try client.store(collection, type: "network", nil).listen(DataStore.Listening([:])) {
        event in received.withLockNotifyingAll { $0.append(event) }
      }
      let ready = received.wait(until: .after(seconds: 60)) { $0.count == 2 ? $0 : nil }
      #expect(ready == [.status(.connected), .ready])
      backend.expire()
      backend.state.withLockNotifyingAll {
        $0.message =
          #"{"t":{"t":"2"},"m":[{"c":"kid.c-notes","p":{"t":"\#(round)"},"d":{"_id":"a"}}]}"#
      }
      let last = received.wait(until: .after(seconds: 60)) { $0.count == 3 ? $0.last : nil }
      #expect(last == .changed(.saved(Array(#"{"_id":"a"}"#.utf8), id: "a", .save)))
      #expect(backend.state.withLock { $0.granted } == 2 + round * 2)
      backend.expire()
      received.withLockNotifyingAll { $0 = [] }
    }
  }

  @Test("ends when it cannot be renewed: no user is logged in, and what waits stays") func revoked()
    throws
  {
    let client = try client()
    defer {
      client.close()
      server.stop()
    }
    _ = try login(client)
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.save(["n": 1])
    let ended = Monitor(0)
    let listener = client.events.listen { event in
      if case .loggedOut(let error?) = event, error.kind == .unauthorized {
        ended.withLock { $0 += 1 }
      }
    }
    defer { listener.end() }
    backend.expire()
    backend.state.withLock { $0.isRevoked = true }
    #expect(failure { _ = try store.push(DataStore.Run()) }?.kind == .unauthorized)
    #expect(failure { _ = try client.activeUser() }?.kind == .noUser)
    #expect(failure { _ = try store.push(DataStore.Run()) }?.kind == .noUser)
    #expect(try store.pendingCount() == 1)
    #expect(ended.withLock { $0 } == 1)
    backend.state.withLock { ($0.isRevoked, $0.code) = (false, "code2") }
    _ = try login(client, code: "code2")
    #expect(try store.pendingCount() == 1)
  }

  @Test("stays as it is when the authorization server does not answer") func silent() throws {
    let client = try client()
    defer { client.close() }
    _ = try login(client)
    backend.expire()
    server.stop()
    #expect(failure { _ = try count(client) }?.isOffline == true)
    #expect(try !client.activeUser().isEmpty)
  }
}
