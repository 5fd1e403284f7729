import KVBase
import KVCallback
import KVJSON
import KVObjects
import KVQuery
import KVSync
import Testing

private func store(
  _ memory: MemoryStore,
  _ description: JSONObject = ["version": ["path": "rev", "kind": "integer"]]
) throws -> CallbackStore {
  CallbackStore("memory", try BackendDescription(description), handler: memory)
}

private let location = StoreLocation(appKey: "tests", directory: "/data", timeout: 5)

@Suite("A custom store of callbacks") struct CustomStoreTests {
  private func body(_ id: String, _ members: JSONObject = [:]) -> [UInt8] {
    var record: JSONObject = ["_id": .string(id)]
    for member in members.members { record[member.name] = member.value }
    return JSONValue.object(record).bytes
  }

  private func inserted(_ ids: [String]) -> ObjectSave {
    var save = ObjectSave()
    save.inserted = ids.map { .init(ObjectID("bugs", $0), version: nil, body: body($0)) }
    return save
  }

  private func isSaved(_ outcome: ObjectSaveOutcome) -> Bool {
    if case .saved = outcome { true } else { false }
  }

  @Test("is loaded with where its data is, and tells what identifies it") func loads() throws {
    let memory = MemoryStore()
    let opened = try store(memory).objects(at: location)
    #expect(opened.metadata.type == "memory")
    #expect(opened.metadata.uuid == "memory-1")
    #expect(
      memory.state.withLock { $0.requests[0].request["dataDirectory"]?.stringValue } == "/data")
  }

  @Test("must have its own type and a UUID, and the same one for the same location")
  func validates() throws {
    let memory = MemoryStore()
    let store = try store(memory)
    for answer in [
      "{}", "{\"type\":\"other\",\"uuid\":\"a\"}", "{\"type\":\"memory\"}",
      "{\"type\":\"memory\",\"uuid\":\"a b\"}", "{\"type\":\"memory\",\"uuid\":7}", "[]", "",
    ] {
      memory.intercept { _, number, _ in complete(number, answer) == .accepted }
      #expect(failure { _ = try store.objects(at: location) }?.kind == .proto, "\(answer)")
    }
    memory.intercept { _, _, _ in false }
    _ = try store.objects(at: location)
    memory.state.withLock { $0.uuid = "memory-2" }
    #expect(failure { _ = try store.objects(at: location) }?.kind == .proto)
    _ = try store.objects(at: StoreLocation(appKey: "tests", directory: "/other"))
  }

  @Test("tells lists that follow it what is announced of their collection") func announces() throws
  {
    let memory = MemoryStore()
    let store = try store(memory)
    let opened = try store.objects(at: location)
    _ = try opened.save(inserted(["a", "b"]))
    let signals = Monitor(0)
    let followed = try opened.follow(Query(), in: "bugs") { signals.withLock { $0 += 1 } }
    let a = ObjectID("bugs", "a")
    try store.register()
    defer { try? CallbackStore.unregister("memory") }
    func announce(_ json: String?) throws {
      try CallbackStore.announce(try json.map { try JSONValue(parsing: $0) }, of: "memory")
    }
    try announce(#"[{"collection":"others","ids":["a"]},{"collection":"others"}]"#)
    #expect(signals.withLock { $0 } == 0)
    #expect(try followed.changes() == [])
    try announce(#"[{"collection":"bugs","ids":["a"]}]"#)
    #expect(signals.withLock { $0 } == 1)
    #expect(try followed.changes() == [a])
    #expect(try followed.changes() == [])
    for any in [#"[{"collection":"bugs"}]"#, nil] {
      try announce(any)
      // A store that fails is asked again.
      memory.intercept { operation, number, _ in
        operation == .fetch && complete(number, "[]") == .accepted
      }
      #expect(throws: StoreError.self) { try followed.changes() }
      memory.intercept { _, _, _ in false }
      #expect(try Set(followed.changes()) == [a, ObjectID("bugs", "b")])
      #expect(try followed.changes() == [])
    }
    for wrong in ["{}", "[1]", #"[{"ids":[]}]"#, #"[{"collection":"bugs","ids":[1]}]"#] {
      #expect(failure { try announce(wrong) }?.kind == .invalid, "\(wrong)")
    }
    #expect(failure { try CallbackStore.announce(nil, of: "missing") }?.kind == .notFound)
    followed.end()
    try announce(nil)
    #expect(signals.withLock { $0 } == 3)
  }

  @Test("writes a save in one request, and has the versions checked") func saves() throws {
    let memory = MemoryStore()
    let opened = try store(memory).objects(at: location)
    guard case .saved(let saved) = try opened.save(inserted(["a", "b"])) else {
      Issue.record("not saved")
      return
    }
    #expect(saved.map(\.version) == [1, 1])
    #expect(memory.count(.save) == 1)
    var save = ObjectSave()
    save.updated = [
      .init(ObjectID("bugs", "a"), version: 1, body: body("a", ["n": 1, "rev": 1]))
    ]
    save.deleted = [.init(ObjectID("bugs", "b"), version: 1, body: [])]
    #expect(isSaved(try opened.save(save)))
    #expect(memory.state.withLock { $0.records["bugs"]?.count } == 1)
    // Both are outdated now: nothing is written.
    guard case .conflicts(let conflicts) = try opened.save(save) else {
      Issue.record("no conflict")
      return
    }
    #expect(conflicts.map(\.id.key.text) == ["a", "b"])
    #expect(conflicts[0].values?.version == 2)
    #expect(conflicts[1].values == nil)
  }

  @Test("without versions is compared with what was read") func unversioned() throws {
    let memory = MemoryStore()
    let opened = try store(memory, [:]).objects(at: location)
    _ = try opened.save(inserted(["a"]))
    let id = ObjectID("bugs", "a")
    let read = try #require(try opened.values(of: [id], maxBytes: .max)[0])
    var save = ObjectSave()
    save.updated = [.init(id, version: read.version, body: body("a", ["n": 1]))]
    #expect(isSaved(try opened.save(save)))
    #expect(!isSaved(try opened.save(save)))
  }

  @Test("gives values in the order of the ids, and nil for what is not there") func values() throws
  {
    let memory = MemoryStore()
    let opened = try store(memory).objects(at: location)
    _ = try opened.save(inserted(["a", "b"]))
    let ids = ["b", "none", "a"].map { ObjectID("bugs", $0) }
    let found = try opened.values(of: ids, maxBytes: .max)
    #expect(found.map { $0?.version } == [1, nil, 1])
    #expect(memory.count(.fetchIDs) == 1)
  }

  @Test("follows relationships by a query, or by its own function") func relationships() throws {
    let relationship = Relationship(
      "notes", from: "bugs", to: "notes", keys: ["bug"], at: .target, isToMany: true)
    let ids = ["a", "b"].map { ObjectID("bugs", $0) }
    for memory in [MemoryStore(), MemoryStore([.relationship])] {
      memory.state.withLock {
        $0.records["notes"] = ["a": ["_id": "a", "bug": "a"], "b": ["_id": "b", "bug": "b"]]
      }
      let opened = try store(memory).objects(at: location)
      let related = try opened.related(relationship, to: ids)
      #expect(related.ids == [[ObjectID("notes", "a")], [ObjectID("notes", "b")]])
      #expect(memory.count(.relationship) + memory.count(.fetch) == 1)
    }
  }

  @Test(
    "fails without a status of HTTP, which it does not speak",
    arguments: [StoreError.Kind.server, .invalid, .conflict, .busy])
  func failures(_ kind: StoreError.Kind) throws {
    let error = StoreError(hostStatus: kind.code, Array(#"{"message":"No."}"#.utf8))
    #expect(error.message == "No.")
    #expect(error.jsonObject["http"] == nil)
    // It is the store's word all the same, after it was kept with a pending write as well.
    let kept = try #require(StoreError(error.jsonObject))
    #expect(!kept.isFromStranger && !kept.isOffline && kept.answer?.error != nil)
  }

  @Test("chooses ids if it wants to, and each must be another one") func obtainsIDs() throws {
    let memory = MemoryStore([.obtainIDs])
    let opened = try store(memory).objects(at: location)
    #expect(opened.choosesIDs)
    let objects = [("bugs", body("x")), ("bugs", body("y"))]
    #expect(
      try opened.permanentIDs(for: objects.map { (collection: $0.0, body: $0.1) }).map(\.key.text)
        == ["chosen-0", "chosen-1"])
    for answer in ["{\"ids\":[\"a\"]}", "{\"ids\":[\"a\",\"a\"]}", "{\"ids\":[1,2]}", "{}"] {
      memory.intercept { _, number, _ in complete(number, answer) == .accepted }
      #expect(
        failure {
          _ = try opened.permanentIDs(for: objects.map { (collection: $0.0, body: $0.1) })
        }?.kind == .proto, "\(answer)")
    }
  }
}

@Suite("A hostile custom store") struct HostileCustomStoreTests {
  private let id = ObjectID("bugs", "a")

  private var save: ObjectSave {
    var save = ObjectSave()
    save.inserted = [.init(id, version: nil, body: Array("{\"_id\":\"a\"}".utf8))]
    save.deleted = [.init(ObjectID("bugs", "b"), version: 1, body: [])]
    return save
  }

  @Test("that hangs costs the timeout, and closing ends the wait") func hangs() throws {
    let memory = MemoryStore()
    let brief = StoreLocation(appKey: "tests", timeout: 0.05)
    let opened = try store(memory).objects(at: brief)
    memory.intercept { _, _, _ in true }
    #expect(failure { _ = try opened.save(save) }?.kind == .timeout)
    #expect(memory.state.withLock { $0.cancelled } == 1)
    let other = try store(MemoryStore()).objects(at: location)
    other.close()
    #expect(failure { _ = try other.values(of: [id], maxBytes: .max) }?.kind == .cancelled)
  }

  @Test("that is closed while it hangs lets go") func closedMeanwhile() throws {
    let memory = MemoryStore()
    let opened = try store(memory).objects(at: location)
    memory.intercept { [unowned opened] _, _, _ in
      opened.close()
      return true
    }
    #expect(failure { _ = try opened.save(save) }?.kind == .cancelled)
  }

  @Test(
    "that answers a save with nonsense fails it",
    arguments: [
      "", "x", "null", "[]", "{\"saved\":1}", "{\"saved\":[]}", "{\"saved\":[{},{}]}",
      "{\"saved\":[{\"_id\":\"b\"}]}", "{\"saved\":[7]}", "{\"deleted\":[]}", "{\"deleted\":[1]}",
      "{\"conflicts\":[]}", "{\"conflicts\":[{}]}", "{\"conflicts\":null}",
      "{\"conflicts\":[{\"collection\":\"bugs\",\"id\":\"z\"}]}",
      "{\"conflicts\":[{\"collection\":\"bugs\",\"id\":\"a\",\"record\":{\"_id\":\"b\"}}]}",
    ])
  func garbage(_ answer: String) throws {
    let memory = MemoryStore()
    let opened = try store(memory).objects(at: location)
    memory.intercept { _, number, _ in complete(number, answer) == .accepted }
    #expect(failure { _ = try opened.save(save) }?.kind == .proto)
  }

  @Test(
    "that answers a read with nonsense fails it",
    arguments: [
      "", "{}", "{\"records\":[{\"_id\":\"z\"}]}", "{\"records\":[{}]}", "{\"records\":[1]}",
    ])
  func garbageRead(_ answer: String) throws {
    let memory = MemoryStore()
    let opened = try store(memory).objects(at: location)
    memory.intercept { _, number, _ in complete(number, answer) == .accepted }
    #expect(failure { _ = try opened.values(of: [id], maxBytes: .max) }?.kind == .proto)
  }

  @Test(
    "that answers a relationship with nonsense fails it",
    arguments: [
      "{}", "{\"related\":[]}", "{\"related\":[1]}", "{\"related\":[[1]]}", "{\"related\":[[],[]]}",
    ])
  func garbageRelationship(_ answer: String) throws {
    let memory = MemoryStore([.relationship])
    let opened = try store(memory).objects(at: location)
    memory.intercept { _, number, _ in complete(number, answer) == .accepted }
    let relationship = Relationship(
      "notes", from: "bugs", to: "notes", keys: ["bug"], at: .target, isToMany: true)
    #expect(failure { _ = try opened.related(relationship, to: [id]) }?.kind == .proto)
  }

  @Test("that calls the store back from within a request gets its answer") func callsBack() throws {
    let memory = MemoryStore()
    let opened = try store(memory).objects(at: location)
    let inner = Monitor(0)
    memory.intercept { [unowned opened] operation, _, _ in
      guard operation == .save else { return false }
      inner.withLock { $0 += 1 }
      _ = try? opened.values(of: [ObjectID("bugs", "a")], maxBytes: .max)
      return false
    }
    var save = ObjectSave()
    save.inserted = self.save.inserted
    guard case .saved = try opened.save(save) else {
      Issue.record("not saved")
      return
    }
    #expect(inner.withLock { $0 } == 1)
  }
}
