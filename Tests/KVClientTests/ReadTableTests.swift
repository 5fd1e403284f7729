import KVClient
import KVJSON
import KVQuery
import KVSync
import Testing

/// A user with a store of a type that keeps data, and a real server as its backend.
private struct Scene {
  let world: World
  let client: Client
  let store: DataStore
  let network: DataStore

  init(_ type: String, _ options: JSONObject? = nil) throws {
    world = try World()
    client = try world.member()
    store = try client.store("notes", type: type, options)
    network = try client.store("notes", type: "network", nil)
  }

  func run(_ policy: ReadPolicy) -> DataStore.Run {
    var options = Options()
    options.readPolicy = policy
    return DataStore.Run(options)
  }

  /// What is here, whatever the type.
  func here(_ filter: String? = nil) throws -> [JSONValue] {
    try store.all(try Query(filter: filter), run(.forceLocal))
  }

  func fill(_ count: Int64 = 6) throws {
    _ = try network.saveMany(
      (0..<count).map { ["_id": .string("id\($0)"), "n": .int($0), "s": .string("x\($0)")] })
  }
}

/// What the tables of reads say besides the policies themselves, which `PolicyTableTests` has.
@Suite("The table of reads") struct ReadTableTests {
  private static let caching = ["auto", "cache", "sync"]

  @Test("network results are kept", arguments: caching) func kept(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    try scene.fill()
    #expect(try scene.store.all(Query(), scene.run(.forceNetwork)).count == 6)
    #expect(try scene.here().count == 6)
  }

  @Test(
    "a full find removes what the answer lacks, one by a filter what matches it",
    arguments: caching)
  func removes(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    try scene.fill()
    _ = try scene.store.all(Query(), scene.run(.forceNetwork))
    _ = try scene.network.remove(
      try Query(filter: #"{"n":{"$in":[1,4]}}"#), DataStore.Run())
    _ = try scene.store.all(try Query(filter: #"{"n":{"$lt":3}}"#), scene.run(.forceNetwork))
    #expect(try scene.here().compactMap { $0["n"]?.intValue }.sorted() == [0, 2, 3, 4, 5])
    _ = try scene.store.all(Query(), scene.run(.forceNetwork))
    #expect(try scene.here().compactMap { $0["n"]?.intValue }.sorted() == [0, 2, 3, 5])
  }

  @Test(
    "a find by ids keeps what the backend has of them, and removes what it has no more",
    arguments: caching)
  func ids(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    try scene.fill()
    // More than one request has room for.
    let absent = (0..<300).map { "absent\($0)" }
    func numbers(_ policy: ReadPolicy) throws -> [Int64?] {
      let ids = ["id4", "id1"] + absent + ["id4", "id0"]
      let found = try scene.store.find(ids: ids, scene.run(policy)).value
      let list = try JSONValue(parsing: String(decoding: found, as: UTF8.self)).arrayValue ?? []
      #expect(list.count == ids.count && list.dropFirst(2).prefix(300).allSatisfy { $0 == .null })
      return (list.prefix(2) + list.suffix(2)).map { $0["n"]?.intValue }
    }
    #expect(try numbers(.forceLocal) == [nil, nil, nil, nil])
    #expect(try numbers(.forceNetwork) == [4, 1, 4, 0])
    #expect(try scene.here().count == 3)
    _ = try scene.network.remove(id: "id1", DataStore.Run())
    #expect(try numbers(.forceLocal) == [4, 1, 4, 0])
    #expect(try numbers(.forceNetwork) == [4, nil, 4, 0])
    #expect(try numbers(.forceLocal) == [4, nil, 4, 0])
    #expect(try scene.here().compactMap { $0["n"]?.intValue }.sorted() == [0, 4])
  }

  @Test("a find by ids on the network shows what is not sent yet") func unsentIds() throws {
    let scene = try Scene("sync")
    defer { scene.client.close() }
    try scene.fill(1)
    _ = try scene.store.saveMany([["_id": "mine"]])
    let found = try scene.store.find(ids: ["mine", "id0"], scene.run(.forceNetwork)).value
    let list = try JSONValue(parsing: String(decoding: found, as: UTF8.self)).arrayValue ?? []
    #expect(list.map { $0["_id"]?.stringValue } == ["mine", "id0"])
  }

  @Test("a network store finds by ids, and an empty id is named") func networkIds() throws {
    let scene = try Scene("network")
    defer { scene.client.close() }
    try scene.fill(2)
    let found = try scene.store.find(ids: ["id1", "none", "id0"], DataStore.Run()).value
    let list = try JSONValue(parsing: String(decoding: found, as: UTF8.self)).arrayValue ?? []
    #expect(list.map { $0["n"]?.intValue } == [1, nil, 0])
    #expect(try scene.store.find(ids: [], DataStore.Run()).value == Array("[]".utf8))
    let error = #expect(throws: StoreError.self) {
      try scene.store.find(ids: ["id1", ""], DataStore.Run())
    }
    #expect(error?.kind == .invalid && error?.index == 1)
  }

  @Test("with skip or limit nothing is removed", arguments: caching)
  func page(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    try scene.fill()
    _ = try scene.store.all(Query(), scene.run(.forceNetwork))
    _ = try scene.network.remove(id: "id1", DataStore.Run())
    let page = try Query(filter: nil, modifiers: #"{"sort":{"n":1},"limit":3}"#)
    let found = try scene.store.all(page, scene.run(.forceNetwork))
    #expect(found.compactMap { $0["n"]?.intValue } == [0, 2, 3])
    #expect(try scene.here().count == 6)
  }

  @Test("fields show a part, and the whole entity is kept", arguments: caching)
  func fields(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    try scene.fill(1)
    let query = try Query(filter: nil, modifiers: #"{"fields":["n"]}"#)
    let found = try scene.store.all(query, scene.run(.forceNetwork))
    #expect(found.first?["n"] == 0)
    #expect(found.first?["s"] == nil)
    #expect(try scene.here().first?["s"] == "x0")
  }

  @Test("an empty id is an invalid argument, without a request", arguments: caching + ["network"])
  func emptyId(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    scene.world.stop()
    #expect(failure { _ = try scene.store.find(id: "", DataStore.Run()) }?.kind == .invalid)
  }

  @Test("a find by id that misses here is not found", arguments: caching)
  func localMiss(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    let error = failure { _ = try scene.store.find(id: "x", scene.run(.forceLocal)) }
    #expect(error?.kind == .notFound)
  }

  @Test(
    "a find by id on the network keeps what it finds, and drops what is gone",
    arguments: caching)
  func byId(_ type: String) throws {
    let scene = try Scene(type)
    defer { scene.client.close() }
    try scene.fill(2)
    _ = try scene.store.find(id: "id0", scene.run(.forceNetwork))
    #expect(try scene.here().count == 1)
    _ = try scene.network.remove(id: "id0", DataStore.Run())
    let error = failure { _ = try scene.store.find(id: "id0", scene.run(.forceNetwork)) }
    #expect(error?.kind == .notFound)
    #expect(try scene.here().isEmpty)
  }

  @Test(
    "sort, skip, limit and fields are the same here as on the server",
    arguments: [
      #"{"sort":{"v":1}}"#, #"{"sort":{"v":-1},"skip":2}"#, #"{"sort":{"v":1,"n":-1},"limit":4}"#,
      #"{"sort":{"n":-1},"skip":3,"limit":2,"fields":["n"]}"#,
    ])
  func modifiers(_ modifiers: String) throws {
    let scene = try Scene("sync")
    defer { scene.client.close() }
    // Null and missing come first.
    _ = try scene.network.saveMany([
      ["_id": "a", "n": 1, "v": 2], ["_id": "b", "n": 2], ["_id": "c", "n": 3, "v": .null],
      ["_id": "d", "n": 4, "v": 1], ["_id": "e", "n": 5, "v": "text"],
      ["_id": "f", "n": 6, "v": 2],
      ["_id": "g", "n": 7, "v": true],
    ])
    _ = try scene.store.pull(Query(), DataStore.Run())
    let query = try Query(filter: nil, modifiers: modifiers)
    #expect(try scene.here().count == 7)
    #expect(try scene.store.all(query) == scene.network.all(query))
  }

  @Test("a network store has nothing here: an empty result") func networkLocally() throws {
    let scene = try Scene("network")
    defer { scene.client.close() }
    try scene.fill(1)
    #expect(try scene.here().isEmpty)
    #expect(try scene.store.count(Query(), scene.run(.forceLocal)).value == 0)
  }
}
