import KVBase
import KVJSON
import KVKinvey
import KVQuery
import KVSync
import KVTestSupport
import KVTransport
import Testing

/// What a login page of a network, or a proxy, says in the backend's place.
let strangersReplies: [ScriptedReply] = [
  ScriptedReply(200, headers: [("Content-Type", "text/html")], "<html>Welcome to the hotel</html>"),
  ScriptedReply(200, ""), ScriptedReply(200, #"{"status":"login required"}"#),
  ScriptedReply(302, headers: [("Location", "http://portal.example/")], ""),
  ScriptedReply(401, "<html>Log in</html>"),
  ScriptedReply(401, #"{"error":"Unauthorized","message":"Who are you?"}"#),
  ScriptedReply(403, #"{"error":true,"message":"Forbidden"}"#),
  ScriptedReply(404, "<html>nginx</html>"),
  ScriptedReply(404, #"{"error":"Not Found","description":"No such page."}"#),
  ScriptedReply(400, #"{"error":"BadRequest"}"#), ScriptedReply(407, ""),
]

@Suite("Somebody else who answers in the backend's place") struct StrangersTests {
  private typealias Request = (name: String, send: @Sendable (Parts) throws(StoreError) -> Void)

  private struct Parts {
    let backend: Backend
    let live: KinveyLive
    let registration: LiveRegistration
    var groups: KinveyGroups { KinveyGroups(backend.service) }

    func write(_ write: RemoteWrite) throws(StoreError) {
      _ = try backend.remote.outcome(write)?.get()
    }
  }

  /// Each request that the client knows.
  private static let requests: [Request] = [
    (
      "register",
      { (parts) throws(StoreError) in _ = try parts.live.register("u1", device: "dev", call: Call())
      }
    ),
    (
      "unregister",
      { (parts) throws(StoreError) in
        try parts.live.unregister(parts.registration, token: "t", call: Call())
      }
    ),
    (
      "join",
      { (parts) throws(StoreError) in
        _ = try parts.live.join(.collection("notes"), parts.registration, call: Call())
      }
    ),
    (
      "join a stream",
      { (parts) throws(StoreError) in
        _ = try parts.live.join(.substream("chat", of: "u2"), parts.registration, call: Call())
      }
    ),
    (
      "leave",
      { (parts) throws(StoreError) in
        try parts.live.leave(.collection("notes"), parts.registration, call: Call())
      }
    ),
    (
      "poll",
      { (parts) throws(StoreError) in
        _ = try parts.live.poll(parts.registration, from: nil, call: Call())
      }
    ),
    ("probe", { (parts) throws(StoreError) in try parts.live.probe(parts.registration, Call()) }),
    (
      "publish",
      { (parts) throws(StoreError) in
        try parts.live.send(
          bytes("1"), to: "known", owner: "u1", registration: parts.registration, call: Call())
      }
    ),
    (
      "channel",
      { (parts) throws(StoreError) in
        try parts.live.send(
          bytes("1"), to: "unknown", owner: "u1", registration: parts.registration, call: Call())
      }
    ),
    (
      "acl",
      { (parts) throws(StoreError) in _ = try parts.live.acl(of: "chat", "u1", call: Call()) }
    ),
    (
      "set acl",
      { (parts) throws(StoreError) in
        try parts.live.setACL(of: "chat", "u1", acl: bytes("{}"), call: Call())
      }
    ),
    ("owners", { (parts) throws(StoreError) in _ = try parts.live.owners(of: "chat", Call()) }),
    ("ping", { (parts) throws(StoreError) in _ = try parts.backend.users.ping(Call()) }),
    (
      "signup",
      { (parts) throws(StoreError) in _ = try parts.backend.users.signup(bytes("{}"), Call()) }
    ),
    (
      "login",
      { (parts) throws(StoreError) in _ = try parts.backend.users.login(bytes("{}"), Call()) }
    ),
    (
      "logout", { (parts) throws(StoreError) in try parts.backend.users.logout(token: "t", Call()) }
    ),
    ("me", { (parts) throws(StoreError) in _ = try parts.backend.users.me(Call()) }),
    (
      "update",
      { (parts) throws(StoreError) in
        _ = try parts.backend.users.update(
          Account(id: "u1", token: nil, json: []), [:], call: Call())
      }
    ),
    (
      "delete user",
      { (parts) throws(StoreError) in
        try parts.backend.users.delete(id: "u1", isHard: true, call: Call())
      }
    ),
    ("exists", { (parts) throws(StoreError) in _ = try parts.backend.users.exists("a", Call()) }),
    (
      "lookup",
      { (parts) throws(StoreError) in
        _ = try parts.backend.users.lookup(["username": "a"], Call())
      }
    ),
    ("create group", { (parts) throws(StoreError) in _ = try parts.groups.create([:], Call()) }),
    ("read group", { (parts) throws(StoreError) in _ = try parts.groups.read("g", Call()) }),
    ("list groups", { (parts) throws(StoreError) in _ = try parts.groups.all(Call()) }),
    (
      "replace group",
      { (parts) throws(StoreError) in _ = try parts.groups.replace([:], id: "g", Call()) }
    ),
    ("delete group", { (parts) throws(StoreError) in try parts.groups.delete("g", Call()) }),
    (
      "find by id",
      { (parts) throws(StoreError) in
        _ = try parts.backend.remote.find(id: "a", in: "notes", call: Call())
      }
    ),
    (
      "count",
      { (parts) throws(StoreError) in
        _ = try parts.backend.remote.count(Query(), in: "notes", call: Call())
      }
    ),
    (
      "remove by query",
      { (parts) throws(StoreError) in
        _ = try parts.backend.remote.remove(Query(), in: "notes", call: Call())
      }
    ),
    ("create", { (parts) throws(StoreError) in try parts.write(.create(bytes(#"{"n":1}"#))) }),
    (
      "update entity",
      { (parts) throws(StoreError) in try parts.write(.update(id: "a", bytes(#"{"_id":"a"}"#))) }
    ),
    ("delete by id", { (parts) throws(StoreError) in try parts.write(.delete(id: "a")) }),
  ]

  @Test(
    "is neither a success nor a refusal, whatever was asked", arguments: strangersReplies.indices)
  func everywhere(number: Int) throws {
    let reply = strangersReplies[number]
    let hasBegun = Monitor(false)
    try withBackend { request in
      if hasBegun.withLock({ $0 }) { return reply }
      if request.target.hasSuffix("/register-realtime") {
        return ScriptedReply(
          200, #"{"subscribeKey":"sub-1","publishKey":"pub-1","userChannelGroup":"g"}"#)
      }
      return request.target.hasSuffix("/publish")
        ? ScriptedReply(200, #"{"substreamChannelName":"kid_x1.s-known.u-u1"}"#)
        : ScriptedReply(200, #"[1,"Sent","17102791234567890"]"#)
    } run: { backend in
      let polls = PollTransport(TransportOptions(proxy: ""))
      defer { polls.close() }
      let live = KinveyLive(backend.service, polling: polls)
      let registration = try live.register("u1", device: "dev", call: Call())
      try live.send(bytes("1"), to: "known", owner: "u1", registration: registration, call: Call())
      hasBegun.withLockNotifyingAll { $0 = true }
      let parts = Parts(backend: backend, live: live, registration: registration)
      for (name, send) in Self.requests {
        let error = failure { () throws(StoreError) in try send(parts) }
        #expect(error?.kind == .proto, "\(name): \(String(describing: error))")
        #expect(error?.isFromStranger == true, "\(name)")
        #expect(error?.isOffline == false, "\(name)")
      }
    }
  }

  @Test("is not believed when it refuses to renew a session", arguments: strangersReplies.indices)
  func authorization(number: Int) throws {
    try withBackend { _ in
      strangersReplies[number]
    } run: { backend in
      let grant = Grant(
        accessToken: "", refreshToken: "r", clientId: "kid_x1", redirectURI: "app://")
      let error = failure { () throws(StoreError) in
        try KinveyAuthorization(backend.service).renewed(grant, Call())
      }
      #expect(error?.kind == .proto, "\(String(describing: error))")
    }
  }

  @Test(
    "The backend is known by its headers where the form says little",
    arguments: [
      ScriptedReply(204), ScriptedReply(200, "{}"),
      ScriptedReply(200, headers: [("x-kinvey-request-id", "1")], ""),
      ScriptedReply(200, headers: [("X-Kinvey-API-Version", "5")], "OK"),
    ])
  func acknowledged(reply: ScriptedReply) throws {
    try withBackend { _ in
      reply
    } run: { backend in
      try backend.users.logout(token: "t", Call())
      try backend.users.delete(id: "u1", isHard: false, call: Call())
    }
  }

  @Test(
    "A token that no header can carry is none",
    arguments: [#"a\r\nX-Evil: 1"#, #"a\nb"#, "a b", #"a\u0000"#, "é"])
  func token(text: String) throws {
    try withBackend { _ in
      ScriptedReply(200, #"{"_id":"u1","username":"a","_kmd":{"authtoken":"\#(text)"}}"#)
    } run: { backend in
      let error = failure { () throws(StoreError) in try backend.users.login(bytes("{}"), Call()) }
      #expect(error?.kind == .proto)
    }
  }
}
