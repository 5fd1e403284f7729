import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import KVWorlds
import Testing

/// Messages that come late about what has gone.
@Suite("What has gone stays away") struct TombstoneTests {
  /// The ways in which an entity can be deleted.
  enum Way: CaseIterable {
    case push, pastQueue, queryPastQueue, queryBoth, message, changes, fullRead, findById
    case theirDeletionWins

    func remove(_ id: String, of fixture: TestEngine) throws {
      let engine = fixture.engine
      switch self {
      case .push:
        _ = try engine.remove(id: id, options: fixture.options(write: .forceLocal))
        _ = try engine.push(Call())
      case .pastQueue: _ = try engine.remove(id: id, options: fixture.options(write: .forceNetwork))
      case .queryPastQueue:
        _ = try engine.remove(try Query(filter: #"{"n":1}"#), fixture.options(write: .forceNetwork))
      case .queryBoth:
        let query = try Query(filter: #"{"n":1}"#)
        _ = try engine.remove(query, fixture.options(write: .silentLocalThenNetwork))
      case .message:
        _ = fixture.remote.backend.delete(id)
        try engine.apply(.deleted(id: id, at: fixture.remote.backend.now))
      case .changes:
        _ = fixture.remote.backend.delete(id)
        fixture.remote.changes = { _, _ in #"{"changed":[],"deleted":[{"_id":"\#(id)"}]}"# }
        _ = try engine.pull(Query(), Call(), how: .init(usesChanges: true))
      case .fullRead:
        _ = fixture.remote.backend.delete(id)
        _ = try engine.pull(Query(), Call())
      case .findById:
        _ = fixture.remote.backend.delete(id)
        _ = try? engine.find(id: id, fixture.options(read: .forceNetwork))
      case .theirDeletionWins:
        try fixture.save(["_id": .string(id), "n": 1, "more": true])
        _ = fixture.remote.backend.delete(id)
        _ = try engine.push(Call(conflicts: .serverWins))
      }
    }
  }

  /// An entity that was made here, and the message that says so.
  private func scene() throws -> (fixture: TestEngine, id: String, message: [UInt8]) {
    let fixture = try TestEngine()
    _ = try fixture.engine.pull(Query(), Call())
    let id = try fixture.save(["n": 1]).id
    _ = try fixture.engine.push(Call())
    return (fixture, id, try #require(fixture.remote.backend.entity(id)))
  }

  private func entity(_ id: String, at moment: String) -> [UInt8] {
    JSONValue.object(["_id": .string(id), "n": 2, "_kmd": ["lmt": .string(moment)]]).bytes
  }

  @Test(
    "a message about what it was is ignored, one about what was made anew is not",
    arguments: Way.allCases)
  func late(_ way: Way) throws {
    let (fixture, id, message) = try scene()
    try way.remove(id, of: fixture)
    try #require(fixture.found().isEmpty)
    try fixture.engine.apply(.saved(message, id: id, .create))
    #expect(try fixture.found().isEmpty)
    #expect(try fixture.engine.pendingCount() == 0)
    let anew = entity(id, at: "2030-01-01T00:00:00.000Z")
    try fixture.engine.apply(.saved(anew, id: id, .create))
    #expect(try fixture.local("n") == ["2"])
  }

  @Test("also after a restart") func restart() throws {
    let (fixture, id, message) = try scene()
    try Way.push.remove(id, of: fixture)
    let file = try Storage(path: fixture.directory.file("data.kvs"), durability: .normal)
    defer { file.close() }
    let engine = CollectionEngine(
      collection: TestEngine.collection, type: .sync, local: file,
      remote: layers(around: fixture.remote),
      sendGate: SendGate(), writer: { "ana" })
    try engine.apply(.saved(message, id: id, .create))
    #expect(try engine.count(Query(), fixture.options()).value == 0)
  }

  @Test("a message about what was never here does not make it, once it is said to be gone")
  func neverHere() throws {
    let fixture = try TestEngine()
    try fixture.engine.apply(.deleted(id: "x", at: "2024-01-01T00:00:02.000Z"))
    for moment in ["2024-01-01T00:00:01.000Z", "2024-01-01T00:00:02.000Z"] {
      try fixture.engine.apply(.saved(entity("x", at: moment), id: "x", .save))
    }
    try fixture.engine.apply(.saved(Array(#"{"_id":"x"}"#.utf8), id: "x", .save))
    #expect(try fixture.found().isEmpty)
    try fixture.engine.apply(
      .saved(entity("x", at: "2024-01-01T00:00:02.001Z"), id: "x", .save))
    #expect(try fixture.found().count == 1)
  }

  @Test("a filter that an entity has left says nothing about whether it is there") func left()
    throws
  {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1])
    let query = try Query(filter: #"{"n":1}"#)
    _ = try fixture.engine.pull(query, Call())
    try fixture.publish(["_id": "a", "n": 2])
    #expect(try fixture.engine.pull(query, Call()).removed == 1)
    let message = try #require(fixture.remote.backend.entity("a"))
    try fixture.engine.apply(.saved(message, id: "a", .update))
    #expect(try fixture.local("n") == ["2"])
  }

  @Test("what is cleared may come again") func cleared() throws {
    let (fixture, id, message) = try scene()
    _ = try fixture.engine.clear(nil)
    try fixture.engine.apply(.saved(message, id: id, .create))
    #expect(try fixture.found().count == 1)
  }
}

/// A create or an update that had no answer, whose entity was removed, and that the backend carries out after the deletion.
@Suite("A write that arrives after the deletion of its entity") struct LateWriteTests {
  enum Lost: CaseIterable { case create, update }

  /// How the entity comes to be seen.
  enum Sight: CaseIterable {
    case fullRead, pages, changes, comparing, findById, findOnNetwork, message

    func see(_ id: String, of fixture: TestEngine) throws {
      let engine = fixture.engine
      let entity = try #require(fixture.remote.backend.entity(id))
      switch self {
      case .fullRead: _ = try engine.pull(Query(), Call())
      case .pages:
        _ = try engine.pull(Query(), Call(), how: .init(paging: .pages(of: 1, ranges: 1)))
      case .changes:
        let text = String(decoding: entity, as: UTF8.self)
        fixture.remote.changes = { _, _ in #"{"changed":[\#(text)],"deleted":[]}"# }
        _ = try engine.pull(Query(), Call(), how: .init(usesChanges: true))
        fixture.remote.changes = { _, _ in nil }
      case .comparing: _ = try engine.pull(Query(), Call(), how: .init(comparesVersions: true))
      case .findById: _ = try? engine.find(id: id, fixture.options(read: .forceNetwork))
      case .findOnNetwork: _ = try fixture.found(Query(), .forceNetwork)
      case .message: try engine.apply(.saved(entity, id: id, .create))
      }
    }
  }

  /// One entity is there; another was made or changed here, that was lost on its way, and then it was removed.
  private func scene(
    _ lost: Lost = .create, _ strategy: ConflictStrategy = .clientWins, isPushed: Bool = true
  ) throws -> (fixture: TestEngine, id: String, body: [UInt8]) {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "other", "n": 0])
    if lost == .update { try fixture.publish(["_id": "a", "n": 0]) }
    _ = try fixture.engine.pull(Query(), Call())
    var entity: JSONObject = ["n": 1, "list": [1, 2.5, "x"]]
    if lost == .update { entity["_id"] = "a" }
    let id = try fixture.save(entity).id
    fixture.remote.refusal = { _ in ScriptedRemote.error(.network) }
    #expect(failure { _ = try fixture.engine.push(Call(conflicts: strategy)) }?.kind == .network)
    fixture.remote.refusal = { _ in nil }
    let body = try #require(fixture.remote.requests.last?.bodies.first)
    _ = try fixture.engine.remove(id: id, options: fixture.options())
    guard isPushed else { return (fixture, id, body) }
    #expect(try fixture.engine.push(Call(conflicts: strategy)).pushed == 1)
    return (fixture, id, body)
  }

  @Test(
    "is deleted again, under every strategy, however often it arrives",
    arguments: ConflictStrategy.allCases.flatMap { strategy in
      Lost.allCases.map { (strategy, $0) }
    }, Sight.allCases)
  func arrives(_ lost: (ConflictStrategy, Lost), _ sight: Sight) throws {
    let strategy = lost.0
    let (fixture, id, body) = try scene(lost.1, strategy)
    for _ in 0..<2 {
      _ = try fixture.remote.backend.replace(body, id, by: "ana")
      try sight.see(id, of: fixture)
      #expect(try fixture.local("n") == ["0"])
      #expect(try fixture.engine.pendingCount() == 1)
      #expect(try fixture.engine.push(Call(conflicts: strategy)).errors == [])
      #expect(fixture.remote.backend.ids == ["other"])
      #expect(try fixture.engine.pull(Query(), Call()).removed == 0)
    }
    #expect(try fixture.local("n") == ["0"])
  }

  @Test("so is one that the program never reads, because its filter does not match it")
  func unread() throws {
    let query = try Query(filter: #"{"n":0}"#)
    for isSynced in [false, true] {
      let (fixture, id, body) = try scene()
      _ = try fixture.remote.backend.replace(body, id, by: "ana")
      if isSynced {
        _ = try fixture.engine.synchronise(query, Call(), how: .init())
      } else {
        _ = try fixture.engine.pull(query, Call())
      }
      #expect(try fixture.engine.push(Call()).pushed == 1)
      #expect(fixture.remote.backend.ids == ["other"])
      #expect(try fixture.local("n") == ["0"])
    }
  }

  @Test("a read with a filter asks for nothing more once nothing can arrive any more")
  func askedFor() throws {
    let query = try Query(filter: #"{"n":0}"#)
    let fixture = try TestEngine()
    let id = try fixture.save(["n": 1]).id
    _ = try fixture.engine.push(Call())
    _ = try fixture.engine.remove(id: id, options: fixture.options())
    _ = try fixture.engine.push(Call())
    let count = fixture.remote.queries.count
    _ = try fixture.engine.pull(query, Call())
    #expect(fixture.remote.queries.count == count + 1)
  }

  @Test("so is one whose entity was removed past the queue") func pastQueue() throws {
    let fixture = try TestEngine()
    let id = try fixture.save(["n": 1]).id
    fixture.remote.refusal = { _ in ScriptedRemote.error(.network) }
    _ = try? fixture.engine.push(Call())
    fixture.remote.refusal = { _ in nil }
    let create = try #require(fixture.remote.requests.last?.bodies.first)
    _ = try fixture.engine.remove(id: id, options: fixture.options(write: .forceNetwork))
    #expect(try fixture.engine.pendingCount() == 0)
    _ = try fixture.remote.backend.create(create, by: "ana")
    for _ in 0..<2 { _ = try fixture.engine.sync(Query(), Call(), how: .init()) }
    #expect(fixture.remote.backend.ids.isEmpty)
    #expect(try fixture.found().isEmpty)
  }

  @Test("so is one that was sent in two versions", arguments: [0, 1])
  func versions(_ arriving: Int) throws {
    let fixture = try TestEngine()
    let id = try fixture.save(["n": 1]).id
    fixture.remote.refusal = { _ in ScriptedRemote.error(.network) }
    _ = try? fixture.engine.push(Call())
    try fixture.save(["_id": .string(id), "n": 2])
    _ = try? fixture.engine.push(Call())
    fixture.remote.refusal = { _ in nil }
    let sent = fixture.remote.requests.flatMap(\.bodies)
    _ = try fixture.engine.remove(id: id, options: fixture.options())
    _ = try fixture.engine.push(Call())
    _ = try fixture.remote.backend.create(sent[arriving], by: "ana")
    _ = try fixture.engine.sync(Query(), Call(), how: .init())
    _ = try fixture.engine.sync(Query(), Call(), how: .init())
    #expect(fixture.remote.backend.ids.isEmpty)
    #expect(try fixture.found().isEmpty)
  }

  @Test("and changed by somebody stays, and so does what somebody else has made") func changed()
    throws
  {
    let (fixture, id, create) = try scene()
    _ = try fixture.remote.backend.create(create, by: "bob")
    _ = try fixture.engine.pull(Query(), Call())
    #expect(try fixture.local("n") == ["0", "1"])
    let (second, secondId, secondCreate) = try scene()
    _ = try second.remote.backend.create(secondCreate, by: "ana")
    try second.publish(["_id": .string(secondId), "n": 5])
    _ = try second.engine.pull(Query(), Call())
    #expect(try second.local("n") == ["0", "5"])
    #expect(try fixture.engine.pendingCount() + second.engine.pendingCount() == 0)
    #expect(fixture.remote.backend.ids.contains(id))
  }

  enum GivingUp: CaseIterable { case drop, purge, revert }

  @Test("stays if the deletion was given up", arguments: GivingUp.allCases)
  func givenUp(_ way: GivingUp) throws {
    let (fixture, id, create) = try scene(isPushed: false)
    switch way {
    case .drop: try fixture.engine.dropPending(id)
    case .purge: #expect(try fixture.engine.purge(nil) == 1)
    case .revert: try fixture.engine.revertPending(id)
    }
    _ = try fixture.remote.backend.create(create, by: "ana")
    _ = try fixture.engine.pull(Query(), Call())
    #expect(try fixture.local("n") == ["0", "1"])
    #expect(try fixture.engine.pendingCount() == 0)
  }

  /// When an entity is saved again whose create was lost.
  enum SavedAgain: CaseIterable {
    case duringDeletionPastQueue, duringPushedDeletion, afterDeletion
  }

  @Test(
    "is replaced by what was saved again, under every strategy",
    arguments: ConflictStrategy.allCases,
    SavedAgain.allCases)
  func replaced(_ strategy: ConflictStrategy, _ when: SavedAgain) throws {
    let fixture = try TestEngine()
    let id = try fixture.save(["n": 1]).id
    fixture.remote.refusal = { _ in ScriptedRemote.error(.network) }
    #expect(failure { _ = try fixture.engine.push(Call(conflicts: strategy)) }?.kind == .network)
    fixture.remote.refusal = { _ in nil }
    let create = try #require(fixture.remote.requests.last?.bodies.first)
    let save = { _ = try? fixture.save(["_id": .string(id), "n": 2], .forceLocal) }
    switch when {
    case .afterDeletion: break
    // The push only reads: nothing is there to delete.
    case .duringPushedDeletion: fixture.remote.meanwhile = save
    default: fixture.remote.duringWrite = save
    }
    if when == .duringDeletionPastQueue {
      _ = try fixture.engine.remove(id: id, options: fixture.options(write: .forceNetwork))
    } else {
      _ = try fixture.engine.remove(id: id, options: fixture.options(write: .forceLocal))
      _ = try fixture.engine.push(Call(conflicts: strategy))
    }
    fixture.remote.duringWrite = {}
    fixture.remote.meanwhile = {}
    if when == .afterDeletion { save() }
    try #require(fixture.local("n") == ["2"])
    _ = try fixture.remote.backend.create(create, by: "ana")
    #expect(try fixture.engine.push(Call(conflicts: strategy)).errors == [])
    #expect(fixture.backendValue(id, "n") == 2)
    #expect(try fixture.local("n") == ["2"])
    #expect(try fixture.engine.pendingCount() == 0)
  }

  @Test("stays if it was saved again, by the queue or past it", arguments: [true, false])
  func savedAgain(_ isQueued: Bool) throws {
    let (fixture, id, create) = try scene()
    var entity = try #require(try JSONValue(parsing: create).objectValue)
    entity["_id"] = .string(id)
    try fixture.save(entity, isQueued ? .forceLocal : .forceNetwork)
    _ = try fixture.engine.push(Call())
    _ = try fixture.engine.clear(nil)
    _ = try fixture.engine.pull(Query(), Call())
    #expect(try fixture.local("n") == ["0", "1"])
    #expect(try fixture.engine.pendingCount() == 0)
  }
}
