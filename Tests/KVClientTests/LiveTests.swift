import KVBase
import KVClient
import KVJSON
import KVSync
import KVTestSupport
import Testing

@Suite("Live data from end to end") struct LiveTests {
  /// A backend whose polls are answered by what a test puts in.
  private final class Service: Sendable {
    struct State { var answers: [String] = [], isOver = false }
    let state = Monitor(State())

    func send(_ id: String, _ second: Int, token: String) {
      let entity =
        #"{"_id":"\#(id)","n":\#(second),"_kmd":{"lmt":"2026-01-01T00:00:0\#(second).000Z"}}"#
      state.withLockNotifyingAll {
        $0.answers.append(
          #"{"t":{"t":"\#(token)","r":1},"m":[{"c":"k.c-notes","p":{"t":"\#(token)"},"d":\#(entity)}]}"#
        )
      }
    }

    func answer(_ request: ScriptedRequest, _ connection: ScriptedConnection) {
      if request.target.hasSuffix("/unregister-realtime") { return connection.reply(204, "") }
      if request.target.hasSuffix("/register-realtime") {
        return connection.reply(
          200, #"{"subscribeKey":"s","publishKey":"p","userChannelGroup":"g"}"#)
      }
      if request.target.hasPrefix("/user") {
        return connection.reply(201, #"{"_id":"u1","username":"ana","_kmd":{"authtoken":"t"}}"#)
      }
      guard request.target.hasPrefix("/v2/subscribe") else { return connection.reply(200, "{}") }
      if request.target.contains("tt=0&") {
        return connection.reply(200, #"{"t":{"t":"1","r":1},"m":[]}"#)
      }
      let answer = state.wait(until: .after(seconds: 300)) { state -> String? in
        if state.isOver || !connection.isOpen { return "" }
        return state.answers.isEmpty ? nil : state.answers.removeFirst()
      }
      connection.reply(200, answer ?? "")
    }
  }

  private func withClient(
    _ body: (Client, Service, Monitor<[LiveEvent]>) throws -> Void
  ) throws {
    let service = Service()
    let server = try ScriptedServer { service.answer($0, $1) }
    defer {
      service.state.withLockNotifyingAll { $0.isOver = true }
      server.stop()
    }
    let directory = TemporaryDirectory()
    let client = try Client([
      "appKey": "k", "appSecret": "s", "host": .string(server.url), "connections": 1,
      "dataDirectory": .string(directory.path),
    ])
    defer { client.close() }
    _ = try client.signup([:], options: Options(), cancellation: Cancellation())
    try body(client, service, Monitor([]))
  }

  private func wait(_ received: Monitor<[LiveEvent]>, for count: Int) -> [LiveEvent] {
    received.wait(until: .after(seconds: 60)) { $0.count >= count ? $0 : nil }
      ?? received.withLock { $0 }
  }

  @Test("Subscribing without a registration is misuse; without a backend it is unsupported")
  func unregistered() throws {
    try withClient { client, _, _ in
      let store = try client.store("notes", type: "sync", nil)
      let error = failure { _ = try store.listen(DataStore.Listening([:])) { _ in } }
      #expect(error?.kind == .misuse)
    }
  }

  @Test("What arrives is in the local store when it is told, never older over newer")
  func toLocal() throws {
    try withClient { client, service, received in
      try client.registerLive(options: Options(), cancellation: Cancellation())
      let store = try client.store("notes", type: "sync", nil)
      let subscription = try store.listen(DataStore.Listening(["liveToLocal": true])) { event in
        received.withLockNotifyingAll { $0.append(event) }
      }
      #expect(wait(received, for: 2) == [.status(.connected), .ready])
      service.send("a", 2, token: "2")
      _ = wait(received, for: 3)
      #expect(try Self.number(in: store) == 2)
      service.send("a", 1, token: "3")
      _ = wait(received, for: 4)
      #expect(try Self.number(in: store) == 2)
      subscription.end()
    }
  }

  @Test("A pending write stays")
  func pendingStays() throws {
    try withClient { client, service, received in
      try client.registerLive(options: Options(), cancellation: Cancellation())
      let store = try client.store("notes", type: "sync", nil)
      try Array(#"{"_id":"a","n":9}"#.utf8).withUnsafeBytes { entity in
        _ = try store.save(entity, DataStore.Run())
      }
      _ = try store.listen(DataStore.Listening(["liveToLocal": true])) { event in
        received.withLockNotifyingAll { $0.append(event) }
      }
      _ = wait(received, for: 2)
      service.send("a", 2, token: "2")
      _ = wait(received, for: 3)
      #expect(try Self.number(in: store) == 9)
    }
  }

  @Test("A logout ends the subscription")
  func logout() throws {
    try withClient { client, _, received in
      try client.registerLive(options: Options(), cancellation: Cancellation())
      let store = try client.store("notes", type: "sync", nil)
      let subscription = try store.listen(DataStore.Listening([:])) { event in
        received.withLockNotifyingAll { $0.append(event) }
      }
      _ = wait(received, for: 2)
      try client.logout(Client.Leaving(), Cancellation())
      #expect(received.withLock { $0.last } == .status(.disconnected))
      #expect(subscription.isOver)
    }
  }

  private static func number(in store: DataStore) throws -> Int64? {
    let found = try store.find(id: "a", DataStore.Run())
    return try JSONValue(parsing: found.value)["n"]?.intValue
  }
}

extension ScriptedConnection {
  fileprivate func reply(_ status: Int, _ body: String) { _ = send(ScriptedReply(status, body)) }
}
