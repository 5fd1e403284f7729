import KVBase
import KVClient
import KVJSON
import KVQuery
import KVServer
import KVSync
import KVTestSupport
import Testing

/// An observed query and a copy of its result that only notifications change.
private final class Watch {
  let query: Query
  private let store: DataStore
  private let observation: any Observation
  private let signals = Monitor(0)
  private(set) var copy = ResultCopy()

  init(_ filter: String, _ modifiers: String? = nil, of store: DataStore) throws {
    query = try Query(filter: filter, modifiers: modifiers)
    self.store = store
    let signals = self.signals
    observation = try store.observe(query) { signals.withLockNotifyingAll { $0 += 1 } }
    try look()
  }

  deinit { observation.end() }

  func look() throws {
    if let changes = try observation.changes() { copy.apply(changes) }
  }

  /// Looks at each signal until this is shown; false if it does not come to that.
  func wait(for isWanted: ([String]) -> Bool) throws -> Bool {
    var received = 0
    while true {
      try look()
      if isWanted(copy.shown) { return true }
      let before = received
      let now = signals.wait(until: .after(seconds: 60)) { $0 > before ? $0 : nil }
      guard let now else { return false }
      received = now
    }
  }

  /// Whether the copy is what a fresh query gives; looked at anew for as long as somebody writes.
  func isRight() throws -> Bool {
    while true {
      try look()
      let fresh = try fresh()
      guard let more = try observation.changes() else { return fresh == copy.shown }
      copy.apply(more)
    }
  }

  private func fresh() throws -> [String] {
    let cursor = try store.find(query, DataStore.Run()).value
    defer { cursor.close() }
    var entities: [String] = []
    while let entity = try cursor.next({ String(decoding: $0, as: UTF8.self) }) {
      entities.append(entity)
    }
    return entities
  }
}

@Suite("Observing what the backend brings") struct ObservingTests {
  /// Two clients of one user: one that observes, and one without local data.
  private struct Scene {
    let world: World
    let here: Client
    let there: Client
    let local: DataStore
    let remote: DataStore

    init() throws {
      world = try World(historyDays: 5)
      here = try world.member("ana")
      there = try world.client("elsewhere")
      _ = try there.login(
        ["username": "ana", "password": "pw"], options: Options(), cancellation: Cancellation())
      local = try here.store("notes", type: "sync", nil)
      remote = try there.store("notes", type: "network", nil)
    }

    func close() { for client in [here, there] { client.close() } }

    /// Lets live data into the local store.
    func listen() throws {
      try here.registerLive(options: Options(), cancellation: Cancellation())
      let isReady = Gate()
      _ = try local.listen(DataStore.Listening(["liveToLocal": true])) { event in
        if case .ready = event { isReady.open() }
      }
      #expect(isReady.wait())
    }

    func logout() throws {
      try here.logout(Client.Leaving(["discardPending": true], isDeletion: false), Cancellation())
    }
  }

  @Test("What the backend has not accepted was changed here") func sources() throws {
    let scene = try Scene()
    defer { scene.close() }
    let observation = try scene.local.observe(Query()) {}
    defer { observation.end() }
    _ = try observation.changes()
    for id in ["a", "b"] { _ = try scene.local.save(["_id": .string(id), "n": 1]) }
    #expect(try observation.changes()?.insertions.map(\.source) == [.local, .local])
    _ = try scene.local.push(DataStore.Run())
    #expect(try observation.changes()?.modifications.map(\.source) == [.remote, .remote])
    _ = try scene.local.save(["_id": "b", "n": 2])
    #expect(try observation.changes()?.modifications.map(\.source) == [.local])
    _ = try scene.local.remove(id: "a", DataStore.Run())
    #expect(try observation.changes()?.deletions.map(\.source) == [.local])
  }

  @Test("a pull, the answer to a push, a live message, clearing and a logout are told") func kinds()
    throws
  {
    let scene = try Scene()
    defer { scene.close() }
    let watch = try Watch("{}", #"{"sort":{"_id":1}}"#, of: scene.local)
    _ = try scene.remote.save(["_id": "a", "n": 1])
    _ = try scene.local.pull(Query(), DataStore.Run())
    #expect(try watch.wait(for: { $0.count == 1 && $0[0].contains("_kmd") }))
    _ = try scene.local.save(["_id": "b", "n": 1])
    #expect(try watch.wait(for: { $0.count == 2 && !$0[1].contains("_kmd") }))
    _ = try scene.local.push(DataStore.Run())
    #expect(try watch.wait(for: { $0.count == 2 && $0[1].contains("_kmd") }))
    try scene.listen()
    _ = try scene.remote.save(["_id": "a", "n": 2])
    #expect(try watch.wait(for: { $0[0].contains(#""n":2"#) }))
    _ = try scene.remote.remove(id: "b", DataStore.Run())
    #expect(try watch.wait(for: { $0.count == 1 }))
    _ = try scene.local.clear(nil)
    #expect(try watch.wait(for: { $0.isEmpty }))
    _ = try scene.local.pull(Query(), DataStore.Run())
    #expect(try watch.wait(for: { $0.count == 1 }))
    try scene.logout()
    #expect(try watch.wait(for: { $0.isEmpty }))
  }

  @Test(
    "notifications lead to what a fresh query gives, whatever brings the changes", arguments: 0..<4)
  func replay(run: UInt64) throws {
    var seed = Seed(Seed().value &+ run)
    let scene = try Scene()
    defer { scene.close() }
    try scene.listen()
    let watches = try [
      Watch("{}", of: scene.local), Watch(#"{"n":{"$gt":1}}"#, of: scene.local),
      Watch("{}", #"{"sort":{"n":1}}"#, of: scene.local),
      Watch(#"{"n":{"$lt":3}}"#, #"{"sort":{"n":-1},"limit":3}"#, of: scene.local),
      Watch(#"{"_id":"3"}"#, of: scene.local),
    ]
    for step in 0..<150 {
      let what = try Self.step(on: scene, &seed)
      for (index, watch) in watches.enumerated() {
        let isRight = try watch.isRight()
        #expect(isRight, "KV_TEST_SEED=\(seed.value), step \(step): \(what), query \(index)")
        guard isRight else { return }
      }
    }
    try scene.logout()
    for watch in watches { #expect(try watch.isRight() && watch.copy.shown.isEmpty) }
  }

  private static func step(on scene: Scene, _ seed: inout Seed) throws -> String {
    let id = "\(Int.random(in: 0..<8, using: &seed))"
    let entity: JSONValue = ["_id": .string(id), "n": .int(Int64.random(in: 0..<5, using: &seed))]
    switch Int.random(in: 0..<12, using: &seed) {
    case 0, 1, 2:
      _ = try scene.local.save(entity)
      return "save \(id)"
    case 3:
      _ = try scene.local.remove(id: id, DataStore.Run())
      return "remove \(id)"
    case 4, 5:
      _ = try scene.local.push(DataStore.Run())
      return "push"
    case 6, 7:
      // One that finds unsent writes is refused.
      _ = failure { _ = try scene.local.pull(Query(), DataStore.Run()) }
      return "pull"
    case 8, 9, 10:
      _ = try scene.remote.save(entity)
      return "elsewhere save \(id)"
    default:
      guard Int.random(in: 0..<4, using: &seed) == 0 else {
        _ = failure { _ = try scene.remote.remove(id: id, DataStore.Run()) }
        return "elsewhere remove \(id)"
      }
      _ = try scene.local.clear(nil)
      return "clear"
    }
  }
}
