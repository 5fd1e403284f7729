import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import KVWorlds
import Testing

/// What was saved or removed on a condition, when it reaches the backend.
@Suite("Conditional writes") struct ConditionalPushTests {
  @Test(
    "a pending insert replaces nothing, whatever is done about other conflicts",
    arguments: ConflictStrategy.allCases, [true, false])
  func insert(_ strategy: ConflictStrategy, _ keepsConditions: Bool) throws {
    let scene = try ConflictScene(keepsConditions: keepsConditions)
    try scene.fixture.save(["_id": "new", "n": 1], if: .isMissing)
    try scene.fixture.save(["_id": "taken", "n": 1], if: .isMissing)
    try scene.there(["_id": "taken", "n": 2, "m": 2])
    let result = try scene.push(strategy)
    #expect(result.pushed == 1)
    #expect(scene.fixture.backendValue("new", "n") == 1)
    #expect(scene.fixture.backendValue("taken", "n") == 2)
    if [.serverWins, .automerge].contains(strategy) {
      #expect(try scene.fixture.engine.pendingCount() == 0)
      #expect(result.discarded == 1)
    } else {
      #expect(result.errors.map(\.kind) == [.conflict])
      #expect(result.errors.map(\.id) == ["taken"])
      #expect(try scene.fixture.engine.pending("taken").write.state == .conflict)
    }
  }

  @Test(
    "it is no insert of ours that looks the same and was there before", arguments: [true, false])
  func sameContent(_ keepsConditions: Bool) throws {
    let scene = try ConflictScene(keepsConditions: keepsConditions)
    try scene.fixture.save(["_id": "lock", "n": 1], if: .isMissing)
    try scene.fixture.publish(["_id": "lock", "n": 1], by: "ana")
    #expect(try scene.push(.clientWins).errors.map(\.kind) == [.conflict])
  }

  @Test("nor is one of another user's that looks the same, whatever became of ours")
  func sameContentOfOthers() throws {
    let scene = try ConflictScene()
    try scene.fixture.save(["_id": "lock", "n": 1], if: .isMissing)
    scene.fixture.remote.refusal = { _ in ScriptedRemote.error(.network) }
    #expect(failure { _ = try scene.push(.clientWins) }?.kind == .network)
    scene.fixture.remote.refusal = { _ in nil }
    try scene.fixture.publish(["_id": "lock", "n": 1], by: "bob")
    #expect(try scene.push(.clientWins).errors.map(\.kind) == [.conflict])
  }

  @Test("an insert whose answer was lost is done", arguments: [true, false])
  func lostAnswer(_ keepsConditions: Bool) throws {
    let scene = try ConflictScene(keepsConditions: keepsConditions)
    try scene.fixture.save(["_id": "new", "n": 1], if: .isMissing)
    scene.fixture.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try scene.push(.clientWins) }?.kind == .network)
    scene.fixture.remote.losesAnswer = { _ in false }
    #expect(try scene.push(.clientWins) == PushResult(pushed: 1))
    // And what was changed meanwhile replaces it.
    try scene.fixture.save(["_id": "other", "n": 1], if: .isMissing)
    scene.fixture.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try scene.push(.clientWins) }?.kind == .network)
    scene.fixture.remote.losesAnswer = { _ in false }
    try scene.fixture.save(["_id": "other", "n": 2])
    #expect(try scene.push(.clientWins) == PushResult(pushed: 1))
    #expect(scene.fixture.backendValue("other", "n") == 2)
  }

  @Test("a save and a removal on a condition meet the version that they started from")
  func version() throws {
    for removes in [false, true] {
      let scene = try ConflictScene()
      let version = try scene.fixture.engine.version(of: "a")
      if removes {
        let options = scene.fixture.options()
        _ = try scene.fixture.engine.remove(id: "a", if: .version(version), options: options)
      } else {
        try scene.fixture.save(["_id": "a", "n": 2], if: .version(version))
      }
      try scene.there(["_id": "a", "n": 3])
      #expect(try scene.push(.clientWins).errors.map(\.kind) == [.conflict])
      #expect(scene.fixture.backendValue("a", "n") == 3)
      // Who has seen the conflict may decide it.
      try scene.fixture.engine.retryPending("a", Call())
      #expect(scene.fixture.backendValue("a", "n") == (removes ? nil : 2))
    }
  }

  @Test(
    "of two that do the same on the same condition one succeeds",
    arguments: ConflictStrategy.allCases, [true, false])
  func sameChange(_ strategy: ConflictStrategy, _ keepsConditions: Bool) throws {
    for removes in [false, true] {
      let scene = try ConflictScene(keepsConditions: keepsConditions)
      let version = try scene.fixture.engine.version(of: "a")
      if removes {
        _ = try scene.fixture.engine.remove(
          id: "a", if: .version(version), options: scene.fixture.options())
        _ = scene.fixture.remote.backend.delete("a")
      } else {
        try scene.fixture.save(["_id": "a", "n": 2], if: .version(version))
        try scene.there(["_id": "a", "n": 2])
      }
      let result = try scene.push(strategy)
      #expect(result.pushed == 0, "\(removes)")
      if [.serverWins, .automerge].contains(strategy) {
        #expect(result == PushResult(discarded: 1))
      } else {
        #expect(result.errors.map(\.kind) == [.conflict])
      }
    }
  }

  @Test(
    "what is saved after a write was given up meets what is there",
    arguments: [ConflictStrategy.optimistic, .merge, .serverWins], [true, false])
  func givenUp(_ strategy: ConflictStrategy, _ purges: Bool) throws {
    let scene = try ConflictScene()
    try scene.there(["_id": "a", "n": 5])
    try scene.fixture.save(["_id": "a", "n": 6])
    if purges {
      #expect(try scene.fixture.engine.purge(nil) == 1)
    } else {
      try scene.fixture.engine.dropPending("a")
    }
    try scene.fixture.save(["_id": "a", "n": 7])
    let result = try scene.push(strategy)
    #expect(result.pushed == 0)
    #expect(scene.fixture.backendValue("a", "n") == 5)
  }

  @Test("what others have not touched is sent as ever") func undisturbed() throws {
    let scene = try ConflictScene()
    let version = try scene.fixture.engine.version(of: "a")
    try scene.fixture.save(["_id": "a", "n": 2], if: .version(version))
    #expect(try scene.push(.clientWins) == PushResult(pushed: 1))
    try scene.fixture.save(["_id": "a", "n": 3])
    try scene.there(["_id": "a", "n": 4])
    #expect(try scene.push(.clientWins) == PushResult(pushed: 1, overwritten: 1))
    #expect(try scene.both("n") == [3, 3])
  }

  @Test("what was removed and inserted again replaces what was removed, and nothing else")
  func removedAndInserted() throws {
    let scene = try ConflictScene()
    try scene.deletedHere()
    try scene.fixture.save(["_id": "a", "n": 2], if: .isMissing)
    #expect(try scene.push(.clientWins) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [2, 2])
    try scene.deletedHere()
    try scene.fixture.save(["_id": "a", "n": 3], if: .isMissing)
    try scene.there(["_id": "a", "n": 4])
    #expect(try scene.push(.clientWins).errors.map(\.kind) == [.conflict])
    #expect(scene.fixture.backendValue("a", "n") == 4)
  }

  // MARK: Past the queue

  @Test("a network store inserts, and meets filters, on the backend") func network() throws {
    let fixture = try TestEngine(.network)
    try fixture.publish(["_id": "a", "n": 1])
    let error = failure { try fixture.save(["_id": "a", "n": 2], if: .isMissing) }
    #expect(error?.kind == .conflict)
    #expect(error?.id == "a")
    try fixture.save(["_id": "b", "n": 1], if: .isMissing)
    let one = WriteCondition.matches(try Query(filter: #"{"n":1}"#))
    try fixture.save(["_id": "a", "n": 3], if: one)
    #expect(failure { try fixture.save(["_id": "a", "n": 4], if: one) }?.id == "a")
    #expect(failure { try fixture.save(["_id": "none", "n": 4], if: one) }?.kind == .conflict)
    let version = failure { try fixture.save(["_id": "a", "n": 4], if: .version(1)) }
    #expect(version?.kind == .unsupported)
    #expect(fixture.backendValue("a", "n") == 3)
    let options = fixture.options()
    #expect(
      failure { _ = try fixture.engine.remove(id: "a", if: one, options: options) }?.kind
        == .conflict
    )
    #expect(try fixture.engine.remove(id: "b", if: one, options: options).value == 1)
  }

  @Test("who comes between the look at a filter and the write is noticed") func between() throws {
    let fixture = try TestEngine(.network)
    try fixture.publish(["_id": "a", "n": 1])
    var isFirst = true
    fixture.remote.meanwhile = { [unowned fixture] in
      guard isFirst else { return }
      isFirst = false
      try? fixture.publish(["_id": "a", "n": 1, "by": "somebody"])
    }
    let one = WriteCondition.matches(try Query(filter: #"{"n":1}"#))
    let error = failure { try fixture.save(["_id": "a", "n": 2], if: one) }
    #expect(error?.kind == .conflict)
    #expect(error?.id == "a")
    #expect(fixture.backendValue("a", "n") == 1)
  }

  @Test(
    "many that only the backend gets are inserted, and replace nothing", arguments: [true, false])
  func many(_ keepsConditions: Bool) throws {
    let fixture = try TestEngine(.network)
    fixture.remote.keepsConditions = keepsConditions
    try fixture.publish(["_id": "e1", "n": 1])
    let result = try fixture.saveMany([
      ["_id": "e0"], ["_id": "e1", "n": 2], ["made": true], ["_id": "e0", "twice": true],
    ])
    #expect(result.entities.map { $0 == nil } == [false, true, false, true])
    #expect(result.errors.map(\.kind) == [.conflict, .conflict])
    #expect(result.errors.map(\.index) == [1, 3])
    #expect(result.errors.map(\.id) == ["e1", "e0"])
    #expect(fixture.backendValue("e1", "n") == 1)
    #expect(fixture.backendValue("e0", "twice") == nil)
    let alone = try fixture.saveMany([["_id": "e1", "n": 2]])
    #expect(alone.errors.map(\.kind) == [.conflict])
    #expect(fixture.backendValue("e1", "n") == 1)
  }

  @Test("what an attempt without an answer has inserted is done") func lostInserts() throws {
    let fixture = try TestEngine(.network)
    try fixture.publish(["_id": "e1", "n": 1])
    var losses = 0
    fixture.remote.losesAnswer = { _ in
      losses += 1
      return losses % 2 == 1
    }
    var options = fixture.options()
    options.call.retry = Retry(limit: 3, clock: FakeRetryClock())
    let bytes = Array(#"[{"_id":"e0","n":0},{"_id":"e1","n":2}]"#.utf8)
    let outlines = try EntityScanner.outlines(ofArray: bytes)
    let result = try bytes.withUnsafeBytes {
      try fixture.engine.saveMany($0, outlines, options: options).value
    }
    #expect(result.errors.map(\.id) == ["e1"])
    #expect(result.entities[0] != nil)
    let one = Array(#"{"_id":"e2","n":0}"#.utf8)
    let outline = try EntityScanner.outline(of: one)
    _ = try one.withUnsafeBytes {
      try fixture.engine.save($0, outline, if: .isMissing, options: options)
    }
    #expect(fixture.backendValue("e2", "n") == 0)
  }
}
