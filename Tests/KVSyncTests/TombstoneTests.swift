import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// Messages that come late about what has gone.
@Suite("What has gone stays away") struct TombstoneTests {
  /// How an entity goes.
  enum Way: CaseIterable {
    case push, pastQueue, queryPastQueue, queryBoth, message, changes, fullRead, findById
    case theirDeletionWins

    func remove(_ id: String, of bench: TestEngine) throws {
      let engine = bench.engine
      switch self {
      case .push:
        _ = try engine.remove(id: id, bench.options(write: .forceLocal))
        _ = try engine.push(Call())
      case .pastQueue: _ = try engine.remove(id: id, bench.options(write: .forceNetwork))
      case .queryPastQueue:
        _ = try engine.remove(try Query(filter: #"{"n":1}"#), bench.options(write: .forceNetwork))
      case .queryBoth:
        let query = try Query(filter: #"{"n":1}"#)
        _ = try engine.remove(query, bench.options(write: .silentLocalThenNetwork))
      case .message:
        _ = bench.remote.backend.delete(id)
        try engine.take(.deleted(id: id, at: bench.remote.backend.now))
      case .changes:
        _ = bench.remote.backend.delete(id)
        bench.remote.changes = { _, _ in #"{"changed":[],"deleted":[{"_id":"\#(id)"}]}"# }
        _ = try engine.pull(Query(), Call(), .init(usesChanges: true))
      case .fullRead:
        _ = bench.remote.backend.delete(id)
        _ = try engine.pull(Query(), Call())
      case .findById:
        _ = bench.remote.backend.delete(id)
        _ = try? engine.find(id: id, bench.options(read: .forceNetwork))
      case .theirDeletionWins:
        try bench.save(["_id": .string(id), "n": 1, "more": true])
        _ = bench.remote.backend.delete(id)
        _ = try engine.push(Call(conflicts: .serverWins))
      }
    }
  }

  /// An entity that was made here, and the message that says so.
  private func scene() throws -> (bench: TestEngine, id: String, message: [UInt8]) {
    let bench = try TestEngine()
    _ = try bench.engine.pull(Query(), Call())
    let id = try bench.save(["n": 1]).id
    _ = try bench.engine.push(Call())
    return (bench, id, try #require(bench.remote.backend.entity(id)))
  }

  private func entity(_ id: String, at moment: String) -> [UInt8] {
    JSONValue.object(["_id": .string(id), "n": 2, "_kmd": ["lmt": .string(moment)]]).bytes
  }

  @Test(
    "a message about what it was is ignored, one about what was made anew is not",
    arguments: Way.allCases)
  func late(_ way: Way) throws {
    let (bench, id, message) = try scene()
    try way.remove(id, of: bench)
    try #require(bench.found().isEmpty)
    try bench.engine.take(.saved(message, id: id, .create))
    #expect(try bench.found().isEmpty)
    #expect(try bench.engine.pendingCount() == 0)
    let anew = entity(id, at: "2030-01-01T00:00:00.000Z")
    try bench.engine.take(.saved(anew, id: id, .create))
    #expect(try bench.local("n") == ["2"])
  }

  @Test("also after a restart") func restart() throws {
    let (bench, id, message) = try scene()
    try Way.push.remove(id, of: bench)
    let file = try Storage(path: bench.directory.file("data.kvs"), durability: .normal)
    defer { file.close() }
    let engine = CollectionEngine(
      collection: TestEngine.collection, type: .sync, local: file,
      remote: layers(around: bench.remote),
      inFlight: SendGate(), writer: { "ana" })
    try engine.take(.saved(message, id: id, .create))
    #expect(try engine.count(Query(), bench.options()).value == 0)
  }

  @Test("a message about what was never here does not make it, once it is said to be gone")
  func neverHere() throws {
    let bench = try TestEngine()
    try bench.engine.take(.deleted(id: "x", at: "2024-01-01T00:00:02.000Z"))
    for moment in ["2024-01-01T00:00:01.000Z", "2024-01-01T00:00:02.000Z"] {
      try bench.engine.take(.saved(entity("x", at: moment), id: "x", .save))
    }
    try bench.engine.take(.saved(Array(#"{"_id":"x"}"#.utf8), id: "x", .save))
    #expect(try bench.found().isEmpty)
    try bench.engine.take(
      .saved(entity("x", at: "2024-01-01T00:00:02.001Z"), id: "x", .save))
    #expect(try bench.found().count == 1)
  }

  @Test("a filter that an entity has left says nothing about whether it is there") func left()
    throws
  {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1])
    let query = try Query(filter: #"{"n":1}"#)
    _ = try bench.engine.pull(query, Call())
    try bench.publish(["_id": "a", "n": 2])
    #expect(try bench.engine.pull(query, Call()).removed == 1)
    let message = try #require(bench.remote.backend.entity("a"))
    try bench.engine.take(.saved(message, id: "a", .update))
    #expect(try bench.local("n") == ["2"])
  }

  @Test("what is cleared may come again") func cleared() throws {
    let (bench, id, message) = try scene()
    _ = try bench.engine.clear(nil)
    try bench.engine.take(.saved(message, id: id, .create))
    #expect(try bench.found().count == 1)
  }
}

/// A create that had no answer, whose entity was removed, and that the backend carries out after the deletion.
@Suite("A create that arrives after its deletion") struct LateCreateTests {
  /// How the entity comes to be seen.
  enum Sight: CaseIterable {
    case fullRead, pages, changes, comparing, findById, findOnNetwork, message

    func see(_ id: String, of bench: TestEngine) throws {
      let engine = bench.engine
      let entity = try #require(bench.remote.backend.entity(id))
      switch self {
      case .fullRead: _ = try engine.pull(Query(), Call())
      case .pages:
        _ = try engine.pull(Query(), Call(), .init(paging: .pages(of: 1, ranges: 1)))
      case .changes:
        let text = String(decoding: entity, as: UTF8.self)
        bench.remote.changes = { _, _ in #"{"changed":[\#(text)],"deleted":[]}"# }
        _ = try engine.pull(Query(), Call(), .init(usesChanges: true))
        bench.remote.changes = { _, _ in nil }
      case .comparing: _ = try engine.pull(Query(), Call(), .init(comparesVersions: true))
      case .findById: _ = try? engine.find(id: id, bench.options(read: .forceNetwork))
      case .findOnNetwork: _ = try bench.found(Query(), .forceNetwork)
      case .message: try engine.take(.saved(entity, id: id, .create))
      }
    }
  }

  /// One entity is there; another was made here, its create lost, and then it was removed.
  private func scene(
    _ strategy: ConflictStrategy = .clientWins, isPushed: Bool = true
  ) throws -> (bench: TestEngine, id: String, create: [UInt8]) {
    let bench = try TestEngine()
    try bench.publish(["_id": "other", "n": 0])
    _ = try bench.engine.pull(Query(), Call())
    let id = try bench.save(["n": 1, "list": [1, 2.5, "x"]]).id
    bench.remote.refusal = { _ in ScriptedRemote.error(.network) }
    #expect(failure { _ = try bench.engine.push(Call(conflicts: strategy)) }?.kind == .network)
    bench.remote.refusal = { _ in nil }
    let create = try #require(bench.remote.requests.last?.bodies.first)
    _ = try bench.engine.remove(id: id, bench.options())
    guard isPushed else { return (bench, id, create) }
    #expect(try bench.engine.push(Call(conflicts: strategy)).pushed == 1)
    return (bench, id, create)
  }

  @Test(
    "is deleted again, under every strategy, however often it arrives",
    arguments: ConflictStrategy.allCases, Sight.allCases)
  func arrives(_ strategy: ConflictStrategy, _ sight: Sight) throws {
    let (bench, id, create) = try scene(strategy)
    for _ in 0..<2 {
      _ = try bench.remote.backend.create(create, by: "ana")
      try sight.see(id, of: bench)
      #expect(try bench.local("n") == ["0"])
      #expect(try bench.engine.pendingCount() == 1)
      #expect(try bench.engine.push(Call(conflicts: strategy)).errors == [])
      #expect(bench.remote.backend.ids == ["other"])
      #expect(try bench.engine.pull(Query(), Call()).removed == 0)
    }
    #expect(try bench.local("n") == ["0"])
  }

  @Test("so is one whose entity was removed past the queue") func pastQueue() throws {
    let bench = try TestEngine()
    let id = try bench.save(["n": 1]).id
    bench.remote.refusal = { _ in ScriptedRemote.error(.network) }
    _ = try? bench.engine.push(Call())
    bench.remote.refusal = { _ in nil }
    let create = try #require(bench.remote.requests.last?.bodies.first)
    _ = try bench.engine.remove(id: id, bench.options(write: .forceNetwork))
    #expect(try bench.engine.pendingCount() == 0)
    _ = try bench.remote.backend.create(create, by: "ana")
    for _ in 0..<2 { _ = try bench.engine.sync(Query(), Call(), .init()) }
    #expect(bench.remote.backend.ids.isEmpty)
    #expect(try bench.found().isEmpty)
  }

  @Test("so is one that was sent in two versions", arguments: [0, 1])
  func versions(_ arriving: Int) throws {
    let bench = try TestEngine()
    let id = try bench.save(["n": 1]).id
    bench.remote.refusal = { _ in ScriptedRemote.error(.network) }
    _ = try? bench.engine.push(Call())
    try bench.save(["_id": .string(id), "n": 2])
    _ = try? bench.engine.push(Call())
    bench.remote.refusal = { _ in nil }
    let sent = bench.remote.requests.flatMap(\.bodies)
    _ = try bench.engine.remove(id: id, bench.options())
    _ = try bench.engine.push(Call())
    _ = try bench.remote.backend.create(sent[arriving], by: "ana")
    _ = try bench.engine.sync(Query(), Call(), .init())
    _ = try bench.engine.sync(Query(), Call(), .init())
    #expect(bench.remote.backend.ids.isEmpty)
    #expect(try bench.found().isEmpty)
  }

  @Test("and changed by somebody stays, and so does what somebody else has made") func changed()
    throws
  {
    let (bench, id, create) = try scene()
    _ = try bench.remote.backend.create(create, by: "bob")
    _ = try bench.engine.pull(Query(), Call())
    #expect(try bench.local("n") == ["0", "1"])
    let (second, secondId, secondCreate) = try scene()
    _ = try second.remote.backend.create(secondCreate, by: "ana")
    try second.publish(["_id": .string(secondId), "n": 5])
    _ = try second.engine.pull(Query(), Call())
    #expect(try second.local("n") == ["0", "5"])
    #expect(try bench.engine.pendingCount() + second.engine.pendingCount() == 0)
    #expect(bench.remote.backend.ids.contains(id))
  }

  enum GivingUp: CaseIterable { case drop, purge, revert }

  @Test("stays if the deletion was given up", arguments: GivingUp.allCases)
  func givenUp(_ way: GivingUp) throws {
    let (bench, id, create) = try scene(isPushed: false)
    switch way {
    case .drop: try bench.engine.dropPending(id)
    case .purge: #expect(try bench.engine.purge(nil) == 1)
    case .revert: try bench.engine.revertPending(id)
    }
    _ = try bench.remote.backend.create(create, by: "ana")
    _ = try bench.engine.pull(Query(), Call())
    #expect(try bench.local("n") == ["0", "1"])
    #expect(try bench.engine.pendingCount() == 0)
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
    let bench = try TestEngine()
    let id = try bench.save(["n": 1]).id
    bench.remote.refusal = { _ in ScriptedRemote.error(.network) }
    #expect(failure { _ = try bench.engine.push(Call(conflicts: strategy)) }?.kind == .network)
    bench.remote.refusal = { _ in nil }
    let create = try #require(bench.remote.requests.last?.bodies.first)
    let save = { _ = try? bench.save(["_id": .string(id), "n": 2], .forceLocal) }
    if when != .afterDeletion { bench.remote.duringWrite = save }
    if when == .duringDeletionPastQueue {
      _ = try bench.engine.remove(id: id, bench.options(write: .forceNetwork))
    } else {
      _ = try bench.engine.remove(id: id, bench.options(write: .forceLocal))
      _ = try bench.engine.push(Call(conflicts: strategy))
    }
    bench.remote.duringWrite = {}
    if when == .afterDeletion { save() }
    try #require(bench.local("n") == ["2"])
    _ = try bench.remote.backend.create(create, by: "ana")
    #expect(try bench.engine.push(Call(conflicts: strategy)).errors == [])
    #expect(bench.backendValue(id, "n") == 2)
    #expect(try bench.local("n") == ["2"])
    #expect(try bench.engine.pendingCount() == 0)
  }

  @Test("stays if it was saved again, by the queue or past it", arguments: [true, false])
  func savedAgain(_ isQueued: Bool) throws {
    let (bench, id, create) = try scene()
    var entity = try #require(try JSONValue(parsing: create).objectValue)
    entity["_id"] = .string(id)
    try bench.save(entity, isQueued ? .forceLocal : .forceNetwork)
    _ = try bench.engine.push(Call())
    _ = try bench.engine.clear(nil)
    _ = try bench.engine.pull(Query(), Call())
    #expect(try bench.local("n") == ["0", "1"])
    #expect(try bench.engine.pendingCount() == 0)
  }
}
