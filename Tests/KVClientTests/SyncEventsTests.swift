import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("Events of synchronising") struct SyncEventsTests {
  /// What a client tells while `body` runs, in order; progress left out.
  private func events(
    of client: Client, _ body: () throws -> Void
  ) rethrows -> [JSONObject] {
    let received = Monitor<[JSONObject]>([])
    let listener = client.events.listen { event in received.withLock { $0.append(event.json) } }
    defer { listener.end() }
    try body()
    return received.withLock { $0 }.filter { $0["event"] != "progress" }
  }

  @Test("tell of each push, pull and sync when it starts and what it came to") func operations()
    throws
  {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.saveMany([["n": 1], ["n": 2], ["_geoloc": [-300, -300]]])
    var received = try events(of: client) {
      _ = try store.push(DataStore.Run())
      _ = failure { _ = try store.pull(Query(), DataStore.Run()) }
    }
    #expect(
      received.map { $0["event"] } == ["started", "quarantined", "finished", "started", "finished"])
    let quarantined = received.remove(at: 1)
    #expect(
      quarantined["collection"] == "notes"
        && quarantined["error"]?["error"] == "ParameterValueOutOfRange")
    #expect(received.map { $0["operation"] } == ["push", "push", "pull", "pull"])
    #expect(received.allSatisfy { $0["collection"] == "notes" && $0["automatic"] == false })
    #expect(
      received[0]["task"] == received[1]["task"] && received[1]["task"] != received[2]["task"])
    #expect(received[1]["result"]?["pushed"] == 2)
    #expect(received[1]["result"]?["errors"]?.arrayValue?.count == 1)
  }

  @Test("report progress, with the backend's count as the total") func progress() throws {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    let store = try client.store("notes", type: "network", nil)
    _ = try store.saveMany((0..<250).map { ["n": .int($0)] })
    for options: JSONObject in [[:], ["autoPagination": true, "maxSizePerResultSet": 30]] {
      let mine = try client.store("notes", type: "sync", options)
      let seen = Monitor<[Progress.Snapshot]>([])
      let listener = client.events.listen { event in
        if case .progress(_, let now) = event { seen.withLock { $0.append(now) } }
      }
      defer { listener.end() }
      let progress = Progress()
      _ = try mine.pull(Query(), DataStore.Run(nil, progress: progress))
      let all = seen.withLock { $0 }
      #expect(all.last?.entitiesDone == 250 && all.last?.entitiesTotal == 250)
      #expect(zip(all, all.dropFirst()).allSatisfy { $0.entitiesDone <= $1.entitiesDone })
      #expect(progress.snapshot == all.last)
    }
  }

  @Test("tell that the network is gone, and that it is back, once each") func connectivity() throws
  {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    let store = try client.store("notes", type: "network", nil)
    let received = try events(of: client) {
      _ = try store.count(Query(), DataStore.Run())
      world.stop()
      for _ in 0..<3 { _ = failure { _ = try store.count(Query(), DataStore.Run()) } }
      try world.start()
      for _ in 0..<3 { _ = try store.count(Query(), DataStore.Run()) }
    }
    #expect(received.map { $0["event"] } == ["offline", "online"])
  }

  @Test("tell once that the backend refuses the session, and of a logout") func session() throws {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    let received = try events(of: client) {
      var leaving = Client.Leaving()
      leaving.keepData = true
      try client.logout(leaving, Cancellation())
    }
    #expect(received == [["event": "loggedOut"]])
  }

  @Test("tell once of a session that the backend refuses; the queue and the session stay")
  func refusedSession() throws {
    let server = try ScriptedServer(replying: { request in
      request.target.hasSuffix("/login")
        ? ScriptedReply(200, #"{"_id":"u","_kmd":{"authtoken":"t"}}"#)
        : ScriptedReply(401, #"{"error":"InvalidCredentials","description":"","debug":""}"#)
    })
    defer { server.stop() }
    let directory = TemporaryDirectory()
    let client = try Client([
      "appKey": "kid", "appSecret": "s", "host": .string(server.url),
      "dataDirectory": .string(directory.file("client")),
    ])
    defer { client.close() }
    _ = try client.login(
      ["username": "u", "password": "p"], options: Options(), cancellation: Cancellation())
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.save(["n": 1])
    let received = events(of: client) {
      for _ in 0..<2 { _ = failure { _ = try store.push(DataStore.Run()) } }
    }
    #expect(received.filter { $0["event"] == "loggedOut" }.count == 1)
    #expect(received.first { $0["event"] == "loggedOut" }?["error"]?["http"] == 401)
    #expect(try store.pendingCount() == 1)
    #expect(try !client.activeUser().isEmpty)
  }

}
