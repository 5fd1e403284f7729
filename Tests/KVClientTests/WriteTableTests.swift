import KVClient
import KVJSON
import KVQuery
import KVSync
import Testing

private struct Scene {
  let world: World
  let client: Client
  let store: DataStore
  let network: DataStore

  init(_ type: String) throws {
    world = try World()
    client = try world.member()
    store = try client.store("notes", type: type, nil)
    network = try client.store("notes", type: "network", nil)
  }

  func queue() throws -> [JSONValue] {
    try JSONValue(parsing: store.pending(after: nil, limit: 0)).arrayValue ?? []
  }
}

/// What the table of writes says besides the policies themselves, which `PolicyTableTests` has.
@Suite("The table of writes") struct WriteTableTests {
  @Test(
    "a save without _id creates, one with it creates or replaces",
    arguments: ["sync", "auto", "cache", "network"])
  func upsert(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    let made = try scene.store.save(["n": 1])
    let id = try #require(made["_id"]?.stringValue)
    _ = try scene.store.save(["_id": "chosen", "n": 2])
    if type == "sync" {
      #expect(try scene.queue().map { $0["operation"] } == ["create", "create"])
      _ = try scene.store.push(DataStore.Run())
    }
    _ = try scene.store.save(["_id": .string(id), "n": 3])
    if type == "sync" {
      #expect(try scene.queue().map { $0["operation"] } == ["update"])
      _ = try scene.store.push(DataStore.Run())
    }
    #expect(try scene.network.all().compactMap { $0["n"]?.intValue }.sorted() == [2, 3])
  }

  @Test(
    "a success of the network ends the row of that entity and replaces the local one",
    arguments: ["auto", "cache"])
  func success(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    let sync = try scene.client.store("notes", type: "sync", nil)
    _ = try sync.saveMany([["_id": "a", "n": 1], ["_id": "b", "n": 1]])
    let saved = try scene.store.save(["_id": "a", "n": 2])
    #expect(saved["_kmd"]?["lmt"] != nil)
    // The other row is not its business.
    #expect(try scene.queue().map { $0["id"] } == ["b"])
    #expect(try sync.find(id: "a", DataStore.Run()).value == saved.bytes)
  }

  @Test("a refusal surfaces, and the row stays, set aside", arguments: ["auto", "cache"])
  func refusal(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    let bad: JSONValue = ["_id": "a", "_geoloc": [500, 500]]
    #expect(failure { _ = try scene.store.save(bad) }?.kind == .invalid)
    #expect(try scene.queue().map { $0["state"] } == ["refused"])
    #expect(try scene.queue().first?["lastError"]?["error"] == "ParameterValueOutOfRange")
  }

  @Test("removing what is not here counts 0", arguments: ["sync", "auto", "cache"])
  func removesNothing(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    #expect(try scene.store.remove(id: "x", DataStore.Run()).value == 0)
    #expect(try scene.queue().isEmpty)
    #expect(failure { _ = try scene.store.remove(id: "", DataStore.Run()) }?.kind == .invalid)
  }

  @Test("a deletion is queued, and its success ends the row", arguments: ["sync", "auto", "cache"])
  func removes(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    _ = try scene.network.saveMany([
      ["_id": "a", "n": 1], ["_id": "b", "n": 1], ["_id": "c", "n": 2],
    ])
    _ = try scene.store.pull(Query(), DataStore.Run())
    let one = try Query(filter: #"{"n":1}"#)
    #expect(try scene.store.remove(one, DataStore.Run()).value == 2)
    if type == "sync" {
      // One row for each entity, not one for the query.
      #expect(try scene.queue().map { $0["operation"] } == ["delete", "delete"])
      #expect(try scene.store.push(DataStore.Run()).pushed == 2)
    }
    #expect(try scene.queue().isEmpty)
    #expect(try scene.network.all().map { $0["_id"] } == ["c"])
  }

  @Test("a network store counts what the server deleted, and keeps nothing of a failure")
  func network() throws {
    let scene = try Scene("network")
    defer { scene.client.close() }
    _ = try scene.store.saveMany([["_id": "a", "n": 1], ["_id": "b", "n": 1]])
    #expect(try scene.store.remove(try Query(filter: #"{"n":1}"#), DataStore.Run()).value == 2)
    scene.world.stop()
    #expect(failure { _ = try scene.store.save(["_id": "c"]) }?.kind == .network)
    #expect(try scene.store.pendingCount() == 0)
  }

  @Test("nothing at all is nothing to save", arguments: ["sync", "auto", "cache", "network"])
  func empty(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    #expect(failure { _ = try scene.store.saveMany([]) }?.kind == .invalid)
  }

  @Test("the queue collapses as its table says") func collapses() throws {
    let scene = try Scene("sync")
    defer { scene.client.close() }
    _ = try scene.network.saveMany([
      ["_id": "a", "n": 1], ["_id": "b", "n": 1], ["_id": "c", "n": 1],
    ])
    _ = try scene.store.pull(Query(), DataStore.Run())
    func remove(_ id: String) throws { _ = try scene.store.remove(id: id, DataStore.Run()) }
    // Create, update: a create with the new contents. Create, deletion: nothing.
    let kept = try scene.store.save(["n": 1])["_id"] ?? .null
    _ = try scene.store.save(["_id": kept, "n": 2])
    let dropped = try scene.store.save(["n": 1])["_id"]?.stringValue ?? ""
    try remove(dropped)
    // Update, update; update, deletion; deletion, save; a chosen id, deleted.
    _ = try scene.store.save(["_id": "a", "n": 2])
    _ = try scene.store.save(["_id": "a", "n": 3])
    _ = try scene.store.save(["_id": "b", "n": 2])
    try remove("b")
    try remove("c")
    _ = try scene.store.save(["_id": "c", "n": 4])
    _ = try scene.store.save(["_id": "d", "n": 5])
    try remove("d")
    let queue = try scene.queue().map {
      "\($0["id"]?.stringValue ?? "") \($0["operation"]?.stringValue ?? "")"
    }
    #expect(
      queue.sorted()
        == [
          "\(kept.stringValue ?? "") create", "a update", "b delete", "c update", "d delete",
        ].sorted())
    #expect(try scene.store.push(DataStore.Run()).errors.isEmpty)
    #expect(try scene.network.all().compactMap { $0["n"]?.intValue }.sorted() == [2, 3, 4])
  }
}
