import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// What was sent and not answered may be what the backend has. ConflictResolver it later is meeting nobody.
@Suite("A write whose answer was lost is our own") struct LostAnswerTests {
  private static let strategies: [ConflictStrategy] = [.serverWins, .merge, .optimistic]
  private let group: Query

  init() throws { group = try Query(filter: #"{"g":1}"#) }

  private func scene(_ type: StoreType, _ entities: JSONObject...) throws -> TestEngine {
    let bench = try TestEngine(type)
    for entity in entities { try bench.save(entity, .forceLocal) }
    #expect(try bench.engine.push(Call()).errors.isEmpty)
    return bench
  }

  private func pushes(
    _ entity: JSONObject, _ bench: TestEngine, _ strategy: ConflictStrategy
  ) throws {
    try bench.save(entity, .forceLocal)
    #expect(try bench.engine.push(Call(conflicts: strategy)) == PushResult(pushed: 1))
    #expect(bench.backendValue("x", "n") == entity["n"])
    #expect(try bench.found().first { $0.id == "x" }?["n"] == entity["n"])
    #expect(try bench.engine.pendingCount() == 0)
  }

  @Test(
    "a deletion by query, when the entity is saved again",
    arguments: strategies, [WritePolicy.silentLocalThenNetwork, .localThenNetwork, .forceNetwork])
  func removal(_ strategy: ConflictStrategy, _ policy: WritePolicy) throws {
    let bench = try scene(.auto, ["_id": "x", "g": 1, "n": 1])
    bench.remote.losesRemovals = true
    _ = try? bench.engine.remove(group, bench.options(write: policy))
    bench.remote.losesRemovals = false
    #expect(bench.remote.backend.ids.isEmpty)
    try pushes(["_id": "x", "g": 1, "n": 2], bench, strategy)
  }

  @Test("a deletion by query that meets a version which was changed here", arguments: strategies)
  func removalOfChanged(_ strategy: ConflictStrategy) throws {
    for losesAnswer in [true, false] {
      let bench = try scene(.auto, ["_id": "x", "g": 1, "n": 1])
      try bench.save(["_id": "x", "g": 2, "n": 2], .forceLocal)
      bench.remote.losesRemovals = losesAnswer
      _ = try bench.engine.remove(group, bench.options())
      #expect(bench.remote.backend.ids.isEmpty)
      try pushes(["_id": "x", "g": 2, "n": 3], bench, strategy)
    }
  }

  @Test("a deletion by query that meets an update whose answer was lost", arguments: strategies)
  func removalOfSent(_ strategy: ConflictStrategy) throws {
    let bench = try scene(.auto, ["_id": "x", "g": 2, "n": 1])
    try bench.save(["_id": "x", "g": 1, "n": 2], .forceLocal)
    bench.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try bench.engine.push(Call(conflicts: strategy)) }
    bench.remote.losesAnswer = { _ in false }
    try bench.save(["_id": "x", "g": 2, "n": 3], .forceLocal)
    _ = try bench.engine.remove(group, bench.options())
    #expect(bench.remote.backend.ids.isEmpty)
    try pushes(["_id": "x", "g": 2, "n": 4], bench, strategy)
  }

  @Test(
    "a deletion by query that meets a save past the queue whose answer was lost",
    arguments: strategies, [true, false])
  func removalOfSaved(_ strategy: ConflictStrategy, _ arrives: Bool) throws {
    let bench = try scene(.sync, ["_id": "x", "g": 2, "n": 1])
    bench.remote.refusal = { _ in arrives ? nil : ScriptedRemote.error(.network) }
    bench.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try bench.save(["_id": "x", "g": 1], .forceNetwork) }
    bench.remote.refusal = { _ in nil }
    bench.remote.losesAnswer = { _ in false }
    // Its answer tells nothing of x, which does not match here.
    let count = try bench.engine.remove(group, bench.options(write: .forceNetwork)).value
    #expect(count == (arrives ? 1 : 0))
    try pushes(["_id": "x", "g": 2, "n": 3], bench, strategy)
  }

  @Test(
    "a deletion by query that meets a version which a conflict has shown", arguments: strategies)
  func removalOfTheirs(_ strategy: ConflictStrategy) throws {
    let bench = try scene(.sync, ["_id": "x", "g": 2, "n": 1])
    try bench.publish(["_id": "x", "g": 1, "n": 9])
    try bench.save(["_id": "x", "g": 2, "n": 2], .forceLocal)
    let result = try bench.engine.push(Call(conflicts: .optimistic))
    #expect(result.errors.map(\.kind) == [.conflict])
    bench.remote.losesRemovals = true
    _ = try? bench.engine.remove(group, bench.options(write: .forceNetwork))
    #expect(bench.remote.backend.ids.isEmpty)
    try pushes(["_id": "x", "g": 2, "n": 3], bench, strategy)
  }

  @Test("a deletion past the queue that is refused when it is sent again", arguments: strategies)
  func refusedLater(_ strategy: ConflictStrategy) throws {
    let bench = try scene(.sync, ["_id": "x", "n": 1])
    bench.remote.losesAnswer = { _ in true }
    let clock = FakeRetryClock(meanwhile: { [remote = bench.remote] in
      remote.refusal = { _ in ScriptedRemote.error(.forbidden, 403) }
    })
    var options = bench.options(write: .forceNetwork)
    options.call.retry = Retry(most: 1, clock: clock)
    let error = failure { _ = try bench.engine.remove(id: "x", options) }
    #expect(error?.kind == .forbidden)
    bench.remote.refusal = { _ in nil }
    bench.remote.losesAnswer = { _ in false }
    #expect(bench.remote.backend.ids.isEmpty)
    try pushes(["_id": "x", "n": 2], bench, strategy)
  }

  @Test("a deletion past the queue", arguments: strategies)
  func removalById(_ strategy: ConflictStrategy) throws {
    let bench = try scene(.sync, ["_id": "x", "n": 1])
    bench.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) {
      try bench.engine.remove(id: "x", bench.options(write: .forceNetwork))
    }
    bench.remote.losesAnswer = { _ in false }
    try pushes(["_id": "x", "n": 2], bench, strategy)
  }

  @Test("a save past the queue, alone or with others", arguments: strategies, [true, false])
  func save(_ strategy: ConflictStrategy, _ isAlone: Bool) throws {
    for isKnown in [true, false] {
      let bench = try scene(.sync, ["_id": isKnown ? "x" : "y", "n": 1])
      bench.remote.losesAnswer = { _ in true }
      let forced: JSONObject = ["_id": "x", "n": 5]
      if isAlone {
        #expect(throws: StoreError.self) { try bench.save(forced, .forceNetwork) }
      } else {
        _ = try? bench.saveMany([forced, ["_id": "z"]], .forceNetwork)
      }
      bench.remote.losesAnswer = { _ in false }
      try pushes(["_id": "x", "n": 2], bench, strategy)
    }
  }

  @Test("a save past the queue that keeps what the program does not know", arguments: strategies)
  func completed(_ strategy: ConflictStrategy) throws {
    let bench = try scene(.sync, ["_id": "x", "n": 1, "m": 1])
    bench.known = KnownMembers(["_id": true, "n": true])
    bench.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try bench.save(["_id": "x", "n": 5], .forceNetwork) }
    bench.remote.losesAnswer = { _ in false }
    #expect(bench.backendValue("x", "m") == 1)
    try pushes(["_id": "x", "n": 2], bench, strategy)
    #expect(bench.backendValue("x", "m") == 1)
  }

  @Test("a save past the queue, when the entity is saved before its answer comes")
  func savedMeanwhile() throws {
    let bench = try scene(.sync, ["_id": "x", "n": 1])
    bench.remote.meanwhile = { [unowned bench] in
      bench.remote.meanwhile = {}
      _ = try? bench.save(["_id": "x", "n": 2], .forceLocal)
    }
    try bench.save(["_id": "x", "n": 5], .forceNetwork)
    #expect(try bench.engine.push(Call(conflicts: .optimistic)) == PushResult(pushed: 1))
    #expect(bench.backendValue("x", "n") == 2)
  }

  @Test("but what somebody else has made of it is a conflict") func someoneElse() throws {
    let bench = try scene(.auto, ["_id": "x", "g": 1, "n": 1])
    bench.remote.losesRemovals = true
    _ = try? bench.engine.remove(group, bench.options())
    try bench.publish(["_id": "x", "n": 9])
    try bench.save(["_id": "x", "g": 1, "n": 2], .forceLocal)
    let result = try bench.engine.push(Call(conflicts: .optimistic))
    #expect(result.errors.map(\.kind) == [.conflict])
  }

  @Test("and what a later save has replaced is no longer ours") func replaced() throws {
    let bench = try scene(.sync, ["_id": "x", "n": 1])
    bench.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try bench.save(["_id": "x", "n": 5], .forceNetwork) }
    bench.remote.losesAnswer = { _ in false }
    try bench.save(["_id": "x", "n": 6], .forceNetwork)
    try bench.publish(["_id": "x", "n": 5])
    try bench.save(["_id": "x", "n": 7], .forceLocal)
    let result = try bench.engine.push(Call(conflicts: .optimistic))
    #expect(result.errors.map(\.kind) == [.conflict])
  }

  @Test("and a deletion that the backend refused is none of ours", arguments: [true, false])
  func refused(_ byQuery: Bool) throws {
    let bench = try scene(.sync, ["_id": "x", "g": 1, "n": 1])
    bench.remote.readError = ScriptedRemote.error(.forbidden, 403)
    bench.remote.refusal = { _ in ScriptedRemote.error(.forbidden, 403) }
    #expect(throws: StoreError.self) {
      if byQuery {
        _ = try bench.engine.remove(group, bench.options(write: .forceNetwork))
      } else {
        _ = try bench.engine.remove(id: "x", bench.options(write: .forceNetwork))
      }
    }
    bench.remote.readError = nil
    bench.remote.refusal = { _ in nil }
    try bench.save(["_id": "x", "g": 1, "n": 2], .forceLocal)
    _ = bench.remote.backend.delete("x")
    let result = try bench.engine.push(Call(conflicts: .optimistic))
    #expect(result.errors.map(\.kind) == [.conflict])
  }
}
