import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("The status of a client") struct StatusTests {
  private func collection(_ status: JSONObject, _ name: String) -> JSONValue? {
    status["collections"]?.arrayValue?.first { $0["collection"]?.stringValue == name }
  }

  @Test("says who is there, what waits, when each collection was read, and what is followed")
  func value() throws {
    let world = try World()
    let client = try world.client("ana")
    defer { client.close() }
    let before = try client.status().jsonObject
    #expect(before["online"]?.isNull == true && before["signedIn"] == false)
    #expect(before["activity"] == [] && before["collections"] == [] && before["follows"] == [])
    _ = try client.signup(
      ["username": "ana", "password": "pw"], options: Options(), cancellation: Cancellation())
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.save(["_id": "a"])
    let saved = try client.status().jsonObject
    #expect(saved["online"] == true && saved["signedIn"] == true)
    #expect(saved["pending"] == 1 && saved["waiting"] == 1 && saved["quarantined"] == 0)
    #expect(collection(saved, "notes")?["pending"] == 1)
    #expect(collection(saved, "notes")?["lastSynced"] == nil)
    _ = try store.sync(Query(), DataStore.Run())
    let synced = try client.status().jsonObject
    #expect(synced["pending"] == 0)
    #expect(collection(synced, "notes")?["lastSynced"] != nil)
    let follow = try store.follow(Query(filter: #"{"n":1}"#))
    let followed = try client.status().jsonObject["follows"]?.arrayValue?.first
    #expect(followed?["collection"] == "notes" && followed?["filter"] == ["n": 1])
    follow.close()
    #expect(try client.status().jsonObject["follows"] == [])
    client.close()
    // As long as the data is here, so is when it was read.
    let again = try world.client("ana")
    defer { again.close() }
    _ = try again.store("notes", type: "sync", nil)
    let kept = try again.status().jsonObject
    #expect(collection(kept, "notes")?["lastSynced"] == collection(synced, "notes")?["lastSynced"])
    try again.logout(Client.Leaving(), Cancellation())
    #expect(collection(try again.status().jsonObject, "notes")?["lastSynced"] == nil)
  }

  @Test("has the collections of open stores, also as long as there is nothing in them")
  func openStores() throws {
    let world = try World()
    let client = try world.client("ana")
    defer { client.close() }
    do {
      let store = try client.store("notes", type: "sync", nil)
      defer { withExtendedLifetime(store) {} }
      let notes = collection(try client.status().jsonObject, "notes")
      #expect(notes?["pending"] == 0 && notes?["quarantined"] == 0 && notes?["tag"] == "kinvey")
      #expect(notes?["lastSynced"] == nil)
    }
    #expect(try client.status().jsonObject["collections"] == [])
  }

  @Test("says that nobody is signed in once the backend has refused the session")
  func refusedSession() throws {
    let world = try World()
    for (name, isRefused) in Self.refusedCalls {
      let client = try world.member(name)
      defer { client.close() }
      let id = try #require(try JSONValue(parsing: client.activeUser())["_id"]?.stringValue)
      try world.administer("DELETE", "/user/kid_test/\(id)/tokens")
      #expect(try client.status().jsonObject["signedIn"] == true)
      #expect(failure { try isRefused(client) }?.kind == .unauthorized, "\(name)")
      #expect(try client.status().jsonObject["signedIn"] == false, "\(name)")
      _ = try client.login(
        ["username": .string(name), "password": "pw"], options: Options(),
        cancellation: Cancellation())
      #expect(try client.status().jsonObject["signedIn"] == true)
    }
  }

  /// Calls that meet a session which has ended.
  private static let refusedCalls: [(String, @Sendable (Client) throws -> Void)] = [
    ("reads", { _ = try $0.store("notes", type: "network", nil).count(Query(), DataStore.Run()) }),
    ("me", { _ = try $0.me(options: Options(), cancellation: Cancellation()) }),
    ("groups", { _ = try $0.createGroup([:], options: Options(), cancellation: Cancellation()) }),
  ]

  @Test("is told after each change, the last one in any case")
  func observed() throws {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    let store = try client.store("notes", type: "sync", nil)
    let signals = Monitor(0)
    let observer = try client.observeStatus { signals.withLockNotifyingAll { $0 += 1 } }
    func wait(_ isWanted: (JSONObject) throws -> Bool) throws -> Bool {
      let deadline = Deadline.after(seconds: 60)
      while !deadline.hasPassed {
        let seen = signals.withLock { $0 }
        if try isWanted(client.status().jsonObject) { return true }
        _ = signals.wait(until: deadline) { $0 > seen ? true : nil }
      }
      return false
    }
    let start = monotonicNanoseconds()
    for number in 0..<200 { _ = try store.save(["n": .int(Int64(number))]) }
    #expect(try wait { $0["pending"] == 200 })
    let quarters = Double(monotonicNanoseconds() - start) / 0.25e9
    #expect(Double(signals.withLock { $0 }) <= quarters + 2)
    world.stop()
    _ = failure { _ = try store.push(DataStore.Run()) }
    #expect(try wait { $0["online"] == false })
    try world.start()
    let follow = try store.follow(Query())
    #expect(
      try wait {
        $0["pending"] == 0 && $0["follows"]?.arrayValue?.first?["state"] == "current"
          && $0["activity"] == []
      })
    follow.close()
    #expect(try wait { $0["follows"] == [] })
    observer.end()
    observer.end()
    client.close()
    #expect(failure { _ = try client.observeStatus {} }?.kind == .misuse)
  }

  @Test("is told when a store without data is closed") func closed() throws {
    let world = try World()
    let client = try world.client("ana")
    defer { client.close() }
    var store: DataStore? = try client.store("notes", type: "sync", nil)
    let signals = Monitor(0)
    let observer = try client.observeStatus { signals.withLockNotifyingAll { $0 += 1 } }
    defer { observer.end() }
    // The first one, and that of opening the store.
    _ = signals.wait(until: .after(seconds: 60)) { $0 > 0 ? true : nil }
    #expect(try collection(client.status().jsonObject, "notes") != nil)
    let before = signals.withLock { $0 }
    withExtendedLifetime(store) {}
    store = nil
    let isTold = signals.wait(until: .after(seconds: 60)) { $0 > before ? true : nil }
    #expect(isTold == true)
    #expect(try client.status().jsonObject["collections"] == [])
  }

  @Test("says how far a pull is")
  func activity() throws {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    let store = try client.store("notes", type: "sync", nil)
    let seen = Monitor<[JSONValue]>([])
    let listener = client.events.listen { [unowned client] event in
      guard case .started = event, let activity = try? client.status().jsonObject["activity"] else {
        return
      }
      seen.withLock { $0.append(activity) }
    }
    defer { listener.end() }
    _ = try store.pull(Query(), DataStore.Run())
    let running = seen.withLock { $0.first?.arrayValue?.first }
    #expect(running?["operation"] == "pull" && running?["collection"] == "notes")
    #expect(running?["entitiesDone"] == 0)
    #expect(try client.status().jsonObject["activity"] == [])
  }
}
