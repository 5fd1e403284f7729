import KVBase
import KVClient
import KVJSON
import KVQuery
import KVServer
import KVSync
import Testing

@Suite("A client against a real server") struct LifecycleTests {
  @Test("what was saved offline is pushed later and seen by somebody else") func offlineThenPush()
    throws
  {
    let world = try World()
    let ana = try world.member("ana")
    let bob = try world.member("bob")
    defer {
      ana.close()
      bob.close()
    }
    let mine = try ana.store("notes", type: "sync", nil)
    world.stop()
    let saved = try mine.save(["text": "milk"])
    #expect(saved["_id"]?.stringValue?.count == 32)
    #expect(try mine.pendingCount() == 1)
    #expect(failure { _ = try mine.push(DataStore.Run()) }?.isOffline == true)
    #expect(try mine.pendingCount() == 1)

    try world.start()
    #expect(try mine.push(DataStore.Run()) == PushResult(pushed: 1))
    #expect(try mine.pendingCount() == 0)
    let theirs = try bob.store("notes", type: "sync", nil)
    #expect(try theirs.pull(Query(), DataStore.Run()) == PullResult(pulled: 1))
    let found = try theirs.all()
    #expect(found.count == 1)
    #expect(found.first?["_id"] == saved["_id"])
    #expect(found.first?["text"] == "milk")
  }

  @Test("a refused entity is reported, stays queued and holds up nothing") func refusedEntity()
    throws
  {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("places", type: "sync", nil)
    _ = try store.saveMany([["n": 1], ["n": 2, "_geoloc": [-300, -300]], ["n": 3]])
    let result = try store.push(DataStore.Run())
    #expect(result.pushed == 2)
    #expect(result.errors.map(\.answer?.error) == ["ParameterValueOutOfRange"])
    #expect(result.errors.first?.index == 1)
    #expect(try store.pendingCount() == 1)
    let left = try JSONValue(parsing: try store.pending(after: nil, limit: 0)).arrayValue
    #expect(left?.first?["attempts"] == 1)
    #expect(left?.first?["lastError"]?["error"] == "ParameterValueOutOfRange")
  }

  @Test("the user is there after a restart, the token is not shown") func restart() throws {
    let world = try World()
    let first = try world.member("ana")
    let shown = String(decoding: try first.activeUser(), as: UTF8.self)
    #expect(!shown.contains("authtoken"))
    first.close()
    let second = try world.client("ana")
    defer { second.close() }
    #expect(try second.activeUser() == Array(shown.utf8))
    _ = try second.me(options: Options(), cancellation: Cancellation())
    _ = try second.store("notes", type: "network", nil).save(["a": 1])
  }

  @Test("who logs in or out with a client of a tag does so for the others, which notice it")
  func sharedSession() throws {
    let world = try World()
    let first = try world.member("ana")
    let second = try world.client("ana")
    defer {
      first.close()
      second.close()
    }
    let notes = try second.store("notes", type: "network", nil)
    func creator() throws -> JSONValue? { try notes.save(["a": 1])["_acl"]?["creator"] }
    func active(_ client: Client) throws -> JSONValue? {
      try JSONValue(parsing: client.activeUser())["_id"]
    }
    let ana = try active(first)
    #expect(try active(second) == ana)
    #expect(try creator() == ana)
    try first.logout(Client.Leaving(), Cancellation())
    #expect(failure { _ = try second.activeUser() }?.kind == .noUser)
    _ = try first.signup(
      ["username": "bea", "password": "pw"], options: Options(), cancellation: Cancellation())
    #expect(failure { _ = try active(second) }?.kind == .noUser, "it acted for ana")
    #expect(failure { _ = try creator() }?.kind == .noUser)
    let third = try world.client("ana")
    defer { third.close() }
    #expect(try active(third) == active(first))
  }

  @Test("logout refuses to lose unsent work, unless told to") func logout() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.save(["a": 1])
    #expect(failure { try client.logout(Client.Leaving(), Cancellation()) }?.kind == .pending)
    #expect(try store.pendingCount() == 1)
    var leaving = Client.Leaving()
    leaving.discardPending = true
    try client.logout(leaving, Cancellation())
    #expect(try store.pendingCount() == 0)
    #expect(try store.all().isEmpty)
    #expect(failure { _ = try client.activeUser() }?.kind == .noUser)
  }

  @Test("pulls more than one page and drops what the backend no longer has") func pagedPull() throws
  {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let writer = try client.store("many", type: "network", nil)
    for start in stride(from: 0, to: 250, by: 50) {
      _ = try writer.saveMany((start..<start + 50).map { ["n": .int(Int64($0))] })
    }
    let store = try client.store(
      "many", type: "sync", ["autoPagination": true, "maxSizePerResultSet": 40])
    #expect(try store.pull(Query(), DataStore.Run()) == PullResult(pulled: 250))
    #expect(try store.count(Query(), DataStore.Run()).value == 250)
    _ = try writer.remove(try Query(filter: #"{"n":{"$lt":100}}"#), DataStore.Run())
    #expect(try store.pull(Query(), DataStore.Run()) == PullResult(pulled: 150, removed: 100))
    #expect(try store.count(Query(), DataStore.Run()).value == 150)
  }

  @Test("a create whose answer was lost is not made twice") func lostAnswer() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("notes", type: "sync", nil)
    let saved = try store.save(["text": "once"])
    // The backend got it, but the client did not hear of it.
    let direct = try client.store("notes", type: "network", nil)
    #expect(
      try direct.saveMany([saved]).errors.isEmpty)
    #expect(try store.push(DataStore.Run()) == PushResult(pushed: 1))
    #expect(try direct.all().count == 1)
    #expect(try store.pendingCount() == 0)
  }

  @Test("an Auto store answers locally while nobody answers") func autoFallsBack() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("notes", type: "auto", nil)
    _ = try store.save(["a": 1])
    #expect(try store.pendingCount() == 0)
    world.stop()
    let saved = try store.save(["a": 2])
    #expect(try store.pendingCount() == 1)
    #expect(try store.all().count == 2)
    #expect(try store.find(id: saved["_id"]?.stringValue ?? "", DataStore.Run()).isLocal)
    try world.start()
    #expect(try store.push(DataStore.Run()).pushed == 1)
    #expect(try store.count(Query(), DataStore.Run()).value == 2)
  }
}
