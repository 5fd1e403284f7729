import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import Testing

/// An older program, whose type has `_id`, `n` and `address.city`, and a newer one that knows more.
private struct Scene {
  static let known: JSONValue = ["_id": true, "n": true, "address": ["city": true]]
  static let written: JSONValue = [
    "_id": "a", "n": 1, "addedByNewerApp": [1, 2], "address": ["city": "Reno", "zip": "89501"],
  ]

  let world: World
  let client: Client
  let newer: DataStore

  init() throws {
    world = try World()
    client = try world.member()
    newer = try client.store("notes", type: "network", nil)
    _ = try newer.save(Self.written)
  }

  func older(_ type: String, _ more: JSONObject = [:]) throws -> DataStore {
    var options = more
    options["knownMembers"] = Self.known
    return try client.store("notes", type: type, options)
  }

  /// Whether an entity has what the older program has written and what only the newer one knows.
  func isWhole(_ entity: JSONValue?) -> Bool {
    entity?["n"] == 2 && entity?["addedByNewerApp"] == [1, 2]
      && entity?["address"] == ["city": "Elko", "zip": "89501"] && entity?["_acl"] != nil
  }
}

@Suite("Entities with members that the program does not know") struct KnownMembersStoreTests {
  private static let changed: JSONValue = ["_id": "a", "n": 2, "address": ["city": "Elko"]]

  @Test(
    "keep them, wherever they are saved", arguments: ["sync", "auto", "cache", "network"],
    [false, true])
  func saved(type: String, isOneOfMany: Bool) throws {
    let scene = try Scene()
    defer { scene.client.close() }
    let notes = try scene.older(type)
    if type != "network" { _ = try notes.pull(Query(), DataStore.Run()) }
    if isOneOfMany {
      let result = try notes.saveMany([["n": 7], Self.changed])
      // What only the backend gets is inserted.
      if type == "network" { return #expect(result.errors.map(\.kind) == [.conflict]) }
      #expect(scene.isWhole(try result.entities.last?.map { try JSONValue(parsing: $0) }))
    } else {
      #expect(scene.isWhole(try notes.save(Self.changed)))
    }
    if type == "sync" { #expect(try notes.push(DataStore.Run()).errors.isEmpty) }
    #expect(scene.isWhole(try scene.newer.all().first { $0["_id"] == "a" }))
  }

  @Test("keep them when a transaction saves them") func transaction() throws {
    let scene = try Scene()
    defer { scene.client.close() }
    let notes = try scene.older("sync")
    _ = try notes.pull(Query(), DataStore.Run())
    let transaction = try scene.client.beginTransaction(nil)
    let saved = try Self.changed.bytes.withUnsafeBytes { try transaction.save($0, in: notes) }
    #expect(scene.isWhole(try JSONValue(parsing: saved)))
    try transaction.commit()
    #expect(scene.isWhole(try notes.all().first))
  }

  @Test("keep them when one batch has an entity twice") func twice() throws {
    let scene = try Scene()
    defer { scene.client.close() }
    let notes = try scene.older("sync")
    _ = try notes.pull(Query(), DataStore.Run())
    _ = try notes.saveMany([["_id": "a", "n": 5], Self.changed])
    #expect(try notes.all().first?["addedByNewerApp"] == [1, 2])
  }

  @Test("lose what is known and was left out, but for _acl and _kmd") func leftOut() throws {
    let scene = try Scene()
    defer { scene.client.close() }
    let known: JSONValue = ["_id": true, "_acl": true, "_kmd": true, "n": true, "address": true]
    let notes = try scene.client.store("notes", type: "sync", ["knownMembers": known])
    _ = try notes.pull(Query(), DataStore.Run())
    let saved = try notes.save(["_id": "a"])
    #expect(saved["n"] == nil && saved["address"] == nil && saved["addedByNewerApp"] == [1, 2])
    #expect(saved["_acl"] != nil && saved["_kmd"] != nil)
  }

  @Test("keep them when a pending write is edited") func edited() throws {
    let scene = try Scene()
    defer { scene.client.close() }
    let notes = try scene.older("sync")
    _ = try notes.pull(Query(), DataStore.Run())
    _ = try notes.save(["_id": "a", "n": 3, "address": ["city": "Ely"]])
    try Self.changed.bytes.withUnsafeBytes { try notes.editPending("a", $0) }
    #expect(scene.isWhole(try notes.all().first))
  }

  @Test("keep those of the backend when a handler has merged them") func merged() throws {
    let scene = try Scene()
    defer { scene.client.close() }
    let notes = try scene.older("sync")
    _ = try notes.pull(Query(), DataStore.Run())
    _ = try notes.save(["_id": "a", "n": 3])
    var theirs = try #require(Scene.written.objectValue)
    theirs["address"] = ["city": "Fallon", "zip": "89501"]
    theirs["addedLater"] = true
    _ = try scene.newer.save(.object(theirs))
    notes.setConflictHandler { _, _ in .merged(Self.changed.bytes) }
    #expect(try notes.push(DataStore.Run()).errors.isEmpty)
    let stored = try scene.newer.all().first
    #expect(scene.isWhole(stored) && stored?["addedLater"] == true)
  }

  @Test("are replaced as a whole without the option") func whole() throws {
    let scene = try Scene()
    defer { scene.client.close() }
    let notes = try scene.client.store("notes", type: "sync", nil)
    _ = try notes.pull(Query(), DataStore.Run())
    #expect(try notes.save(Self.changed)["addedByNewerApp"] == nil)
  }

  @Test(
    "need names of members",
    arguments: [["a": 1], ["a": ["b": "c"]], ["a"], "a", true] as [JSONValue])
  func refused(known: JSONValue) throws {
    let world = try World()
    let client = try world.client()
    defer { client.close() }
    let error = failure { _ = try client.store("notes", type: "sync", ["knownMembers": known]) }
    #expect(error?.kind == .invalid && error?.message.contains("knownMembers") == true)
  }
}
