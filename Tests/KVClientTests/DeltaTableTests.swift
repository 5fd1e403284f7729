import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import Testing

/// The rows of "Delta Sync": when changes are asked for, and what each answer leads to. All against a real
/// server; a read of everything is told from one of changes by how much it brings.
@Suite("The table of Delta Sync") struct DeltaTableTests {
  private static let all = 60

  /// A server with 60 entities, all of which were read long enough ago.
  private func scene(
    _ world: World, type: String = "sync", options more: JSONObject = [:]
  ) throws -> (client: Client, writer: DataStore, store: DataStore) {
    let client = try world.member()
    let writer = try client.store("notes", type: "network", nil)
    _ = try writer.saveMany(
      (0..<Self.all).map { ["_id": .string("id\(100 + $0)"), "n": .int(Int64($0))] })
    var options: JSONObject = ["deltaSet": true]
    for member in more.members { options[member.name] = member.value }
    let store = try client.store("notes", type: type, options)
    #expect(try store.pull(Query(), DataStore.Run()).pulled == Self.all)
    // What is written in the millisecond of a read comes once more: let a moment pass.
    _ = try writer.save(["_id": "id100", "n": 0])
    _ = try store.pull(Query(), DataStore.Run())
    return (client, writer, store)
  }

  private func pulled(_ store: DataStore, _ filter: String? = nil) throws -> Int {
    try store.pull(try Query(filter: filter), DataStore.Run()).pulled
  }

  // MARK: Preconditions

  @Test("the option is on; the same filter was read before: changes only") func changes() throws {
    let world = try World(historyDays: 15)
    let scene = try scene(world)
    defer { scene.client.close() }
    _ = try scene.writer.save(["_id": "id130", "n": -1])
    #expect((1..<Self.all / 2).contains(try pulled(scene.store)))
  }

  @Test("the option is off: everything") func off() throws {
    let world = try World(historyDays: 15)
    let scene = try scene(world)
    defer { scene.client.close() }
    let other = try scene.client.store("notes", type: "sync", nil)
    #expect(try pulled(other) == Self.all)
  }

  @Test("another filter: everything that it matches, the first time") func otherFilter() throws {
    let world = try World(historyDays: 15)
    let scene = try scene(world)
    defer { scene.client.close() }
    let few = #"{"n":{"$gte":20}}"#
    #expect(try pulled(scene.store, few) == 40)
    #expect(try pulled(scene.store, few) < 20)
  }

  @Test("skip or limit: an ordinary read, which does not disturb the record") func page() throws {
    let world = try World(historyDays: 15)
    let scene = try scene(world)
    defer { scene.client.close() }
    let page = try Query(filter: nil, modifiers: #"{"limit":50,"sort":{"_id":1}}"#)
    #expect(try scene.store.pull(page, DataStore.Run()).pulled == 50)
    #expect(try pulled(scene.store) < 30)
  }

  @Test(
    "a find on the network, also when forced to it; not a find by id, nor a count",
    arguments: ["auto", "cache", "sync"])
  func finds(_ type: String) throws {
    let world = try World(historyDays: 15)
    let scene = try scene(world, type: type)
    defer { scene.client.close() }
    _ = try scene.writer.save(["_id": "id130", "n": -1])
    _ = try scene.writer.remove(id: "id131", DataStore.Run())
    var options = Options()
    options.readPolicy = .forceNetwork
    let progress = Progress()
    let run = DataStore.Run(options, progress: progress)
    #expect(try scene.store.find(id: "id130", DataStore.Run(options)).isLocal == false)
    #expect(try scene.store.count(Query(), DataStore.Run(options)).value == Self.all - 1)
    #expect(try scene.store.all(Query(), run).count == Self.all - 1)
    #expect(progress.snapshot.entitiesDone < 30)
  }

  @Test("with autopagination: pages the first time, changes afterwards") func paged() throws {
    let world = try World(historyDays: 15)
    let scene = try scene(
      world, type: "sync", options: ["autoPagination": true, "maxSizePerResultSet": 7])
    defer { scene.client.close() }
    _ = try scene.writer.remove(id: "id110", DataStore.Run())
    let result = try scene.store.pull(Query(), DataStore.Run())
    #expect(result.removed == 1)
    #expect(result.pulled < 30)
  }

  @Test("after a clear: everything") func cleared() throws {
    let world = try World(historyDays: 15)
    let scene = try scene(world)
    defer { scene.client.close() }
    _ = try scene.store.clear(try Query(filter: #"{"n":1}"#))
    #expect(try pulled(scene.store) == Self.all)
    #expect(try scene.store.all().count == Self.all)
  }

  // MARK: Answers

  @Test("changes and deletions: applied, and the new moment is kept") func applied() throws {
    let world = try World(historyDays: 15)
    let scene = try scene(world)
    defer { scene.client.close() }
    _ = try scene.writer.save(["_id": "id130", "n": -1])
    _ = try scene.writer.remove(id: "id131", DataStore.Run())
    #expect(try scene.store.pull(Query(), DataStore.Run()).removed == 1)
    #expect(try scene.store.all().count == Self.all - 1)
    #expect(try scene.store.all(try Query(filter: #"{"n":-1}"#)).count == 1)
    #expect(try scene.store.pull(Query(), DataStore.Run()).removed == 0)
  }

  @Test("MissingConfiguration: an ordinary read, whose moment is kept") func missing() throws {
    let world = try World()
    let scene = try scene(world)
    defer { scene.client.close() }
    _ = try scene.writer.remove(id: "id131", DataStore.Run())
    let result = try scene.store.pull(Query(), DataStore.Run())
    #expect(result == PullResult(pulled: Self.all - 1, removed: 1))
  }

  @Test("ParameterValueOutOfRange: an ordinary read, changes from then on") func tooOld() throws {
    let world = try World()
    let scene = try scene(world)
    defer { scene.client.close() }
    // The history starts after the read.
    world.stop()
    world.historyDays = 15
    try world.start()
    _ = try scene.writer.remove(id: "id131", DataStore.Run())
    #expect(
      try scene.store.pull(Query(), DataStore.Run())
        == PullResult(pulled: Self.all - 1, removed: 1))
    _ = try scene.writer.save(["_id": "id140", "n": -1])
    _ = try scene.store.pull(Query(), DataStore.Run())
    #expect(try pulled(scene.store) < 30)
  }

  @Test(
    "ResultSetSizeExceeded: an ordinary read, with autopagination in pages",
    arguments: [false, true])
  func tooMany(_ paged: Bool) throws {
    let world = try World(historyDays: 15)
    let scene = try scene(world, type: "sync", options: ["autoPagination": .bool(paged)])
    defer { scene.client.close() }
    for start in stride(from: 0, to: 10_100, by: 2_525) {
      _ = try scene.writer.saveMany((start..<start + 2_525).map { ["m": .int(Int64($0))] })
    }
    #expect(try pulled(scene.store) >= (paged ? 10_100 : 10_000))
  }

  @Test("anything else surfaces, and the record stays") func failing() throws {
    let world = try World(historyDays: 15)
    let scene = try scene(world)
    defer { scene.client.close() }
    world.stop()
    #expect(failure { _ = try pulled(scene.store) }?.kind == .network)
    try world.start()
    _ = try scene.writer.save(["_id": "id130", "n": -1])
    #expect((1..<30).contains(try pulled(scene.store)))
  }

  // MARK: Beyond the original

  @Test("without a history: delta set caching fetches what differs") func caching() throws {
    let world = try World()
    let scene = try scene(world, type: "sync", options: ["deltaSetCaching": true])
    defer { scene.client.close() }
    _ = try scene.writer.save(["_id": "id130", "n": -1])
    _ = try scene.writer.remove(id: "id131", DataStore.Run())
    #expect(
      try scene.store.pull(Query(), DataStore.Run()) == PullResult(pulled: 1, removed: 1))
    #expect(try scene.store.all().count == Self.all - 1)
    #expect(try scene.store.pull(Query(), DataStore.Run()) == PullResult())
  }

  @Test(
    "changes that are given up here: what the server has comes back", arguments: [true, false])
  func givenUp(_ hasHistory: Bool) throws {
    let world = try World(historyDays: hasHistory ? 15 : nil)
    let scene = try scene(world, type: "sync", options: ["deltaSetCaching": true])
    defer { scene.client.close() }
    for id in ["id110", "id111", "id112", "id113"] {
      let here = try scene.store.find(id: id, DataStore.Run()).value
      var entity = try #require(try JSONValue(parsing: here).objectValue)
      entity["n"] = -1
      _ = try scene.store.save(.object(entity))
    }
    _ = try scene.store.remove(id: "id114", DataStore.Run())
    _ = try scene.store.remove(id: "id115", DataStore.Run())
    _ = try scene.writer.remove(id: "id112", DataStore.Run())
    for id in ["id110", "id112", "id114"] { try scene.store.dropPending(id) }
    try scene.store.revertPending("id111")
    #expect(try scene.store.purge(nil) == 2)
    _ = try scene.store.pull(Query(), DataStore.Run())
    let sorted = try Query(filter: nil, modifiers: #"{"sort":{"_id":1}}"#)
    #expect(try scene.store.all(sorted) == scene.writer.all(sorted))
    #expect(try scene.store.all().count == Self.all - 1)
  }

  @Test(
    "what has left one query stays as long as another holds it",
    arguments: [true, false])
  func held(_ hasHistory: Bool) throws {
    let world = try World(historyDays: hasHistory ? 15 : nil)
    let client = try world.member()
    defer { client.close() }
    let writer = try client.store("notes", type: "network", nil)
    let store = try client.store("notes", type: "sync", ["deltaSet": true])
    _ = try writer.save(["_id": "a", "n": 1, "m": 1])
    let (one, other) = (try Query(filter: #"{"n":1}"#), try Query(filter: #"{"m":1}"#))
    _ = try store.pull(one, DataStore.Run())
    _ = try store.pull(other, DataStore.Run())
    _ = try writer.save(["_id": "a", "n": 2, "m": 1])
    #expect(try store.pull(one, DataStore.Run()).removed == 0)
    #expect(try store.all(other).map { $0["n"] } == [2])
    _ = try writer.save(["_id": "a", "n": 2, "m": 2])
    #expect(try store.pull(other, DataStore.Run()).removed == 1)
    #expect(try store.all().isEmpty)
  }
}
