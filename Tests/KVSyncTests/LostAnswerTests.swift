import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import KVWorlds
import Testing

/// What was sent and not answered may be what the backend has. ConflictResolver it later is meeting nobody.
@Suite("A write whose answer was lost is our own") struct LostAnswerTests {
  private static let strategies: [ConflictStrategy] = [.serverWins, .merge, .optimistic]
  private let group: Query

  init() throws { group = try Query(filter: #"{"g":1}"#) }

  private func scene(_ type: StoreType, _ entities: JSONObject...) throws -> TestEngine {
    let fixture = try TestEngine(type)
    for entity in entities { try fixture.save(entity, .forceLocal) }
    #expect(try fixture.engine.push(Call()).errors.isEmpty)
    return fixture
  }

  private func pushes(
    _ entity: JSONObject, from fixture: TestEngine, conflicts strategy: ConflictStrategy
  ) throws {
    try fixture.save(entity, .forceLocal)
    #expect(try fixture.engine.push(Call(conflicts: strategy)) == PushResult(pushed: 1))
    #expect(fixture.backendValue("x", "n") == entity["n"])
    #expect(try fixture.found().first { $0.id == "x" }?["n"] == entity["n"])
    #expect(try fixture.engine.pendingCount() == 0)
  }

  @Test(
    "a deletion by query, when the entity is saved again",
    arguments: strategies, [WritePolicy.silentLocalThenNetwork, .localThenNetwork, .forceNetwork])
  func removal(_ strategy: ConflictStrategy, _ policy: WritePolicy) throws {
    let fixture = try scene(.auto, ["_id": "x", "g": 1, "n": 1])
    fixture.remote.losesRemovals = true
    _ = try? fixture.engine.remove(group, fixture.options(write: policy))
    fixture.remote.losesRemovals = false
    #expect(fixture.remote.backend.ids.isEmpty)
    try pushes(["_id": "x", "g": 1, "n": 2], from: fixture, conflicts: strategy)
  }

  @Test("a deletion by query that meets a version which was changed here", arguments: strategies)
  func removalOfChanged(_ strategy: ConflictStrategy) throws {
    for losesAnswer in [true, false] {
      let fixture = try scene(.auto, ["_id": "x", "g": 1, "n": 1])
      try fixture.save(["_id": "x", "g": 2, "n": 2], .forceLocal)
      fixture.remote.losesRemovals = losesAnswer
      _ = try fixture.engine.remove(group, fixture.options())
      #expect(fixture.remote.backend.ids.isEmpty)
      try pushes(["_id": "x", "g": 2, "n": 3], from: fixture, conflicts: strategy)
    }
  }

  @Test("a deletion by query that meets an update whose answer was lost", arguments: strategies)
  func removalOfSent(_ strategy: ConflictStrategy) throws {
    let fixture = try scene(.auto, ["_id": "x", "g": 2, "n": 1])
    try fixture.save(["_id": "x", "g": 1, "n": 2], .forceLocal)
    fixture.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try fixture.engine.push(Call(conflicts: strategy)) }
    fixture.remote.losesAnswer = { _ in false }
    try fixture.save(["_id": "x", "g": 2, "n": 3], .forceLocal)
    _ = try fixture.engine.remove(group, fixture.options())
    #expect(fixture.remote.backend.ids.isEmpty)
    try pushes(["_id": "x", "g": 2, "n": 4], from: fixture, conflicts: strategy)
  }

  @Test(
    "a deletion by query that meets a save past the queue whose answer was lost",
    arguments: strategies, [true, false])
  func removalOfSaved(_ strategy: ConflictStrategy, _ arrives: Bool) throws {
    let fixture = try scene(.sync, ["_id": "x", "g": 2, "n": 1])
    fixture.remote.refusal = { _ in arrives ? nil : ScriptedRemote.error(.network) }
    fixture.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try fixture.save(["_id": "x", "g": 1], .forceNetwork) }
    fixture.remote.refusal = { _ in nil }
    fixture.remote.losesAnswer = { _ in false }
    // Its answer tells nothing of x, which does not match here.
    let count = try fixture.engine.remove(group, fixture.options(write: .forceNetwork)).value
    #expect(count == (arrives ? 1 : 0))
    try pushes(["_id": "x", "g": 2, "n": 3], from: fixture, conflicts: strategy)
  }

  @Test(
    "a deletion by query that meets a version which a conflict has shown", arguments: strategies)
  func removalOfTheirs(_ strategy: ConflictStrategy) throws {
    let fixture = try scene(.sync, ["_id": "x", "g": 2, "n": 1])
    try fixture.publish(["_id": "x", "g": 1, "n": 9])
    try fixture.save(["_id": "x", "g": 2, "n": 2], .forceLocal)
    let result = try fixture.engine.push(Call(conflicts: .optimistic))
    #expect(result.errors.map(\.kind) == [.conflict])
    fixture.remote.losesRemovals = true
    _ = try? fixture.engine.remove(group, fixture.options(write: .forceNetwork))
    #expect(fixture.remote.backend.ids.isEmpty)
    try pushes(["_id": "x", "g": 2, "n": 3], from: fixture, conflicts: strategy)
  }

  @Test("a deletion past the queue that is refused when it is sent again", arguments: strategies)
  func refusedLater(_ strategy: ConflictStrategy) throws {
    let fixture = try scene(.sync, ["_id": "x", "n": 1])
    fixture.remote.losesAnswer = { _ in true }
    let clock = FakeRetryClock(meanwhile: { [remote = fixture.remote] in
      remote.refusal = { _ in ScriptedRemote.error(.forbidden, 403) }
    })
    var options = fixture.options(write: .forceNetwork)
    options.call.retry = Retry(limit: 1, clock: clock)
    let error = failure { _ = try fixture.engine.remove(id: "x", options: options) }
    #expect(error?.kind == .forbidden)
    fixture.remote.refusal = { _ in nil }
    fixture.remote.losesAnswer = { _ in false }
    #expect(fixture.remote.backend.ids.isEmpty)
    try pushes(["_id": "x", "n": 2], from: fixture, conflicts: strategy)
  }

  @Test("a deletion past the queue", arguments: strategies)
  func removalById(_ strategy: ConflictStrategy) throws {
    let fixture = try scene(.sync, ["_id": "x", "n": 1])
    fixture.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) {
      try fixture.engine.remove(id: "x", options: fixture.options(write: .forceNetwork))
    }
    fixture.remote.losesAnswer = { _ in false }
    try pushes(["_id": "x", "n": 2], from: fixture, conflicts: strategy)
  }

  @Test("a save past the queue, alone or with others", arguments: strategies, [true, false])
  func save(_ strategy: ConflictStrategy, _ isAlone: Bool) throws {
    for isKnown in [true, false] {
      let fixture = try scene(.sync, ["_id": isKnown ? "x" : "y", "n": 1])
      fixture.remote.losesAnswer = { _ in true }
      let forced: JSONObject = ["_id": "x", "n": 5]
      if isAlone {
        #expect(throws: StoreError.self) { try fixture.save(forced, .forceNetwork) }
      } else {
        _ = try? fixture.saveMany([forced, ["_id": "z"]], .forceNetwork)
      }
      fixture.remote.losesAnswer = { _ in false }
      try pushes(["_id": "x", "n": 2], from: fixture, conflicts: strategy)
    }
  }

  @Test("a save past the queue that keeps what the program does not know", arguments: strategies)
  func completed(_ strategy: ConflictStrategy) throws {
    let fixture = try scene(.sync, ["_id": "x", "n": 1, "m": 1])
    fixture.known = KnownMembers(["_id": true, "n": true])
    fixture.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try fixture.save(["_id": "x", "n": 5], .forceNetwork) }
    fixture.remote.losesAnswer = { _ in false }
    #expect(fixture.backendValue("x", "m") == 1)
    try pushes(["_id": "x", "n": 2], from: fixture, conflicts: strategy)
    #expect(fixture.backendValue("x", "m") == 1)
  }

  @Test("a save past the queue, when the entity is saved before its answer comes")
  func savedMeanwhile() throws {
    let fixture = try scene(.sync, ["_id": "x", "n": 1])
    fixture.remote.meanwhile = { [unowned fixture] in
      fixture.remote.meanwhile = {}
      _ = try? fixture.save(["_id": "x", "n": 2], .forceLocal)
    }
    try fixture.save(["_id": "x", "n": 5], .forceNetwork)
    #expect(try fixture.engine.push(Call(conflicts: .optimistic)) == PushResult(pushed: 1))
    #expect(fixture.backendValue("x", "n") == 2)
  }

  @Test("but what somebody else has made of it is a conflict") func someoneElse() throws {
    let fixture = try scene(.auto, ["_id": "x", "g": 1, "n": 1])
    fixture.remote.losesRemovals = true
    _ = try? fixture.engine.remove(group, fixture.options())
    try fixture.publish(["_id": "x", "n": 9])
    try fixture.save(["_id": "x", "g": 1, "n": 2], .forceLocal)
    let result = try fixture.engine.push(Call(conflicts: .optimistic))
    #expect(result.errors.map(\.kind) == [.conflict])
  }

  @Test("and what a later save has replaced is no longer ours") func replaced() throws {
    let fixture = try scene(.sync, ["_id": "x", "n": 1])
    fixture.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try fixture.save(["_id": "x", "n": 5], .forceNetwork) }
    fixture.remote.losesAnswer = { _ in false }
    try fixture.save(["_id": "x", "n": 6], .forceNetwork)
    try fixture.publish(["_id": "x", "n": 5])
    try fixture.save(["_id": "x", "n": 7], .forceLocal)
    let result = try fixture.engine.push(Call(conflicts: .optimistic))
    #expect(result.errors.map(\.kind) == [.conflict])
  }

  @Test("and a deletion that the backend refused is none of ours", arguments: [true, false])
  func refused(_ byQuery: Bool) throws {
    let fixture = try scene(.sync, ["_id": "x", "g": 1, "n": 1])
    fixture.remote.readError = ScriptedRemote.error(.forbidden, 403)
    fixture.remote.refusal = { _ in ScriptedRemote.error(.forbidden, 403) }
    #expect(throws: StoreError.self) {
      if byQuery {
        _ = try fixture.engine.remove(group, fixture.options(write: .forceNetwork))
      } else {
        _ = try fixture.engine.remove(id: "x", options: fixture.options(write: .forceNetwork))
      }
    }
    fixture.remote.readError = nil
    fixture.remote.refusal = { _ in nil }
    try fixture.save(["_id": "x", "g": 1, "n": 2], .forceLocal)
    _ = fixture.remote.backend.delete("x")
    let result = try fixture.engine.push(Call(conflicts: .optimistic))
    #expect(result.errors.map(\.kind) == [.conflict])
  }
}
