import KVBase
import KVJSON
import KVQuery
import KVClient
import KVSync
import KVTestSupport
import KVTransport
import Testing

@Suite("Following a query") struct FollowTests {
  /// A follow, and what its store has here.
  private final class Scene {
    let store: DataStore
    let follow: Follow
    private let signals: Monitor<Int>
    private let observation: any Observation

    init(
      _ client: Client, _ how: JSONObject = [:], filter: String? = nil, in store: DataStore? = nil
    ) throws {
      let store = try store ?? client.store("notes", type: "sync", nil)
      let signals = Monitor(0)
      self.store = store
      self.signals = signals
      observation = try store.observe(Query()) { signals.withLockNotifyingAll { $0 += 1 } }
      follow = try store.follow(Query(filter: filter), DataStore.Following(how)) {
        signals.withLockNotifyingAll { $0 += 1 }
      }
    }

    deinit {
      observation.end()
      follow.close()
    }

    /// Waits until something holds, looking after each change of the data and of the follow's state.
    func wait(_ isWanted: () throws -> Bool) throws -> Bool {
      let deadline = Deadline.after(seconds: 120)
      while !deadline.hasPassed {
        let seen = signals.withLock { $0 }
        _ = try observation.changes()
        if try isWanted() { return true }
        _ = signals.wait(until: deadline) { $0 > seen ? true : nil }
      }
      return false
    }

    func waitForState(_ name: String, _ kind: StoreError.Kind? = nil) throws -> Bool {
      try wait {
        let state = follow.status.state
        return state.name == name && (kind == nil || state.error?.kind == kind)
      }
    }

    func wait(for ids: String...) throws -> Bool { try wait { try self.ids() == ids } }

    func ids() throws -> [String] {
      try store.all().compactMap { $0["_id"]?.stringValue }.sorted()
    }
  }

  private func network(_ client: Client) throws -> DataStore {
    try client.store("notes", type: "network", nil)
  }

  private func ids(of store: DataStore) throws -> [String] {
    try store.all().compactMap { $0["_id"]?.stringValue }.sorted()
  }

  @Test("brings what is there, then what others do, and sends what is and was saved here")
  func both() throws {
    let world = try World(historyDays: 5)
    let (client, other) = (try world.member("ana"), try world.member("ben"))
    defer { [client, other].forEach { $0.close() } }
    let theirs = try network(other)
    _ = try theirs.save(["_id": "a"])
    _ = try client.store("notes", type: "sync", nil).save(["_id": "before"])
    let scene = try Scene(client)
    #expect(try scene.wait(for: "a", "before"))
    #expect(try scene.wait { scene.follow.status.isLive })
    #expect(try scene.waitForState("current"))
    #expect(try ids(of: theirs) == ["a", "before"])
    _ = try theirs.save(["_id": "b"])
    _ = try theirs.remove(id: "a", DataStore.Run())
    #expect(try scene.wait(for: "b", "before"))
    _ = try scene.store.save(["_id": "later"])
    #expect(try scene.wait { try ids(of: theirs) == ["b", "before", "later"] })
    #expect(try scene.wait { try scene.store.pendingCount() == 0 })
    #expect(scene.follow.status.lastSynced != nil)
    scene.follow.close()
    #expect(scene.follow.status.state == .closed)
    #expect(client.follows.statuses.isEmpty)
  }

  @Test("begins where nobody answers yet, and outlives a restart of the server")
  func offline() throws {
    let world = try World(historyDays: 5)
    let (client, other) = (try world.member("ana"), try world.member("ben"))
    defer { [client, other].forEach { $0.close() } }
    _ = try network(other).save(["_id": "a"])
    world.stop()
    let scene = try Scene(client)
    #expect(try scene.waitForState("offline"))
    _ = try scene.store.save(["_id": "mine"])
    try world.start()
    // Nobody tells it: it tries again by itself.
    #expect(try scene.wait(for: "a", "mine"))
    #expect(try scene.wait { scene.follow.status.isLive })
    world.stop()
    #expect(try scene.waitForState("offline"))
    try world.start()
    _ = try network(other).save(["_id": "b"])
    #expect(try scene.wait(for: "a", "b", "mine"))
    #expect(try scene.waitForState("current"))
  }

  @Test("begins before anybody has made the collection")
  func noCollection() throws {
    let world = try World(historyDays: 5)
    let (client, other) = (try world.member("ana"), try world.member("ben"))
    defer { [client, other].forEach { $0.close() } }
    let scene = try Scene(client)
    #expect(try scene.waitForState("current"))
    _ = try network(other).save(["_id": "a"])
    #expect(try scene.wait(for: "a"))
  }

  @Test("waits for a login, goes on with the next one, and with a session that was ended by others")
  func sessions() throws {
    let world = try World(historyDays: 5)
    let portal = try Portal(to: world.url)
    defer { portal.stop() }
    let other = try world.member("ben")
    let client = try world.client("ana", ["host": .string(portal.url)])
    defer { [client, other].forEach { $0.close() } }
    _ = try network(other).save(["_id": "a"])
    let user: JSONObject = ["username": "ana", "password": "pw"]
    let scene = try Scene(client)
    #expect(try scene.waitForState("behind", .noUser))
    _ = try client.signup(user, options: Options(), cancellation: Cancellation())
    #expect(try scene.wait(for: "a"))
    #expect(try scene.wait { scene.follow.status.isLive })
    try client.logout(Client.Leaving(), Cancellation())
    #expect(try scene.waitForState("behind", .noUser))
    #expect(try scene.ids().isEmpty)
    _ = try client.login(user, options: Options(), cancellation: Cancellation())
    #expect(try scene.wait(for: "a"))
    #expect(try scene.waitForState("current"))
    try endSession(portal, world)
    #expect(try scene.waitForState("behind", .unauthorized))
    _ = try network(other).save(["_id": "b"])
    _ = try client.login(user, options: Options(), cancellation: Cancellation())
    #expect(try scene.wait(for: "a", "b"))
    #expect(try scene.waitForState("current"))
  }

  /// Ends the session of the last request that came through.
  private func endSession(_ portal: Portal, _ world: World) throws {
    let proofs = portal.requests.compactMap { $0["Authorization"] }
    let proof = try #require(proofs.last { $0.hasPrefix("Kinvey ") })
    let transport = try Transport(TransportOptions(proxy: ""))
    defer { transport.close() }
    let answer = try transport.exchange(
      HTTPRequest(
        "POST", "\(world.url)/user/kid_test/_logout",
        headers: [
          HTTPHeader("Authorization", proof), HTTPHeader("X-Kinvey-API-Version", "5"),
        ]),
      until: .after(seconds: 60), cancellation: Cancellation())
    #expect(answer.head.isSuccess)
  }

  @Test("makes up for what is cleared and purged here")
  func cleared() throws {
    let world = try World(historyDays: 5)
    let (client, other) = (try world.member("ana"), try world.member("ben"))
    defer { [client, other].forEach { $0.close() } }
    for id in ["a", "b"] { _ = try network(other).save(["_id": .string(id)]) }
    let scene = try Scene(client)
    #expect(try scene.wait(for: "a", "b"))
    #expect(try scene.waitForState("current"))
    _ = try scene.store.clear(nil)
    #expect(try scene.wait(for: "a", "b"))
    world.stop()
    #expect(try scene.waitForState("offline"))
    _ = try scene.store.remove(id: "a", DataStore.Run())
    #expect(try scene.store.purge(nil) == 1)
    #expect(try scene.ids() == ["b"])
    try world.start()
    #expect(try scene.wait(for: "a", "b"))
  }

  @Test("polls where it may not use live data, and is live when the application wants it")
  func polls() throws {
    let world = try World(historyDays: 5)
    let (client, other) = (
      try world.member("ana", ["live": false]), try world.member("ben")
    )
    defer { [client, other].forEach { $0.close() } }
    let scene = try Scene(client, ["interval": 0.2])
    #expect(try scene.waitForState("current"))
    _ = try network(other).save(["_id": "a"])
    #expect(try scene.wait(for: "a"))
    #expect(!scene.follow.status.isLive)
    try client.registerLive(options: Options(), cancellation: Cancellation())
    #expect(try scene.wait { scene.follow.status.isLive })
    try client.unregisterLive(options: Options(), cancellation: Cancellation())
    #expect(try scene.wait { !scene.follow.status.isLive })
    _ = try network(other).save(["_id": "b"])
    #expect(try scene.wait(for: "a", "b"))
    #expect(!scene.follow.status.isLive)
  }

  @Test("of queries that overlap brings what either matches, and nothing else")
  func overlapping() throws {
    let world = try World(historyDays: 5)
    let (client, other) = (try world.member("ana"), try world.member("ben"))
    defer { [client, other].forEach { $0.close() } }
    let theirs = try network(other)
    _ = try theirs.save(["_id": "a", "n": 4])
    let low = try Scene(client, filter: #"{"n":{"$lt":6}}"#)
    let high = try Scene(client, filter: #"{"n":{"$gt":3,"$lt":20}}"#, in: low.store)
    for scene in [low, high] { #expect(try scene.wait { scene.follow.status.isLive }) }
    _ = try theirs.save(["_id": "b", "n": 9])
    _ = try theirs.save(["_id": "c", "n": 99])
    _ = try theirs.save(["_id": "d", "n": 1])
    #expect(try low.wait(for: "a", "b", "d"))
    _ = try theirs.save(["_id": "a", "n": 7])
    let changed = try Query(filter: #"{"_id":"a","n":7}"#)
    #expect(try low.wait { try low.store.all(changed).count == 1 })
    low.follow.close()
    _ = try theirs.save(["_id": "e", "n": 8])
    #expect(try high.wait(for: "a", "b", "d", "e"))
  }

  @Test("ends with its client, whatever it is doing")
  func closing() throws {
    let world = try World()
    _ = try world.member("ana")
    for number in 0..<10 {
      let client = try world.client("ana")
      let follow = try client.store("notes", type: "sync", nil).follow(Query())
      if number % 2 == 0 { follow.close() }
      client.close()
      #expect(follow.status.state == .closed)
    }
  }

  @Test("is refused where nothing is kept, without a backend, and of a page")
  func refusals() throws {
    let world = try World()
    let client = try world.client()
    defer { client.close() }
    let here = try world.client("here", ["host": .null])
    defer { here.close() }
    let page = try Query(filter: nil, modifiers: #"{"limit":3}"#)
    let sync = try client.store("notes", type: "sync", nil)
    #expect(failure { _ = try network(client).follow(Query()) }?.kind == .unsupported)
    #expect(failure { _ = try sync.follow(page) }?.kind == .invalid)
    #expect(
      failure { _ = try here.store("notes", type: "sync", nil).follow(Query()) }?.kind
        == .unsupported)
    #expect(failure { _ = try DataStore.Following(["often": true]) }?.kind == .invalid)
  }
}
