import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import KVWorlds
import Testing

@Suite("Operators towards a backend that takes whole entities") struct OperatorConflictTests {
  private func change(_ scene: ConflictScene, _ update: String) throws {
    let query = try Query(filter: #"{"_id":"a"}"#)
    let options = CallOptions(readPolicy: .forceLocal, writePolicy: .forceLocal, call: Call())
    let result = try scene.fixture.engine.update(query, EntityUpdate(update), options: options)
    #expect(result.value.modified == ["a"])
  }

  private func push(
    _ scene: ConflictScene, _ strategy: ConflictStrategy = .merge
  ) throws -> PushResult {
    try scene.fixture.engine.push(Call(conflicts: strategy))
  }

  @Test(
    "are carried out anew on what somebody else has written, under every strategy",
    arguments: ConflictStrategy.allCases, [true, false])
  func anew(strategy: ConflictStrategy, keepsConditions: Bool) throws {
    let scene = try ConflictScene(["_id": "a", "n": 1, "l": [1]], keepsConditions: keepsConditions)
    try change(scene, #"{"$inc":{"n":1},"$push":{"l":2}}"#)
    // Equal results are no agreement.
    try scene.there(["_id": "a", "n": 2, "l": [1, 3]])
    #expect(try push(scene, strategy) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [3, 3])
    #expect(try scene.both("l") == [[1, 3, 2], [1, 3, 2]])
  }

  @Test(
    "are carried out anew on what a backend that merges has kept of its own",
    arguments: ConflictStrategy.allCases)
  func merged(strategy: ConflictStrategy) throws {
    let scene = try ConflictScene(["_id": "a", "n": 1, "l": [1], "in": ["n": 1], "text": "a"])
    scene.fixture.remote.merges = true
    try change(
      scene,
      #"{"$inc":{"n":1,"in.n":1,"new":1},"$push":{"l":2},"$min":{"m":3},"$rename":{"text":"name"}}"#
    )
    // Equal results are no agreement.
    try scene.there(["_id": "a", "n": 2, "l": [1, 2], "in": ["n": 5], "text": "a", "m": 7])
    #expect(try push(scene, strategy) == PushResult(pushed: 1))
    for (name, value) in [
      ("n", 3), ("l", [1, 2, 2]), ("in", ["n": 6]), ("new", 1), ("m", 3), ("name", "a"),
    ] as [(String, JSONValue)] {
      #expect(try scene.both(name) == [value, value], "\(name)")
    }
    #expect(try scene.both("text") == [nil, nil])
    #expect(scene.state == nil)
  }

  @Test("are carried out anew as often as others are faster, and stay if they always are")
  func mergedAgain() throws {
    for races in [3, 100] {
      let scene = try ConflictScene(["_id": "a", "n": 1, "l": []])
      scene.fixture.remote.merges = true
      try change(scene, #"{"$inc":{"n":1},"$push":{"l":1}}"#)
      var left = races
      scene.fixture.remote.refusal = { _ in
        guard left > 0 else { return nil }
        left -= 1
        let stored = (scene.fixture.backendValue("a", "n"), scene.fixture.backendValue("a", "l"))
        let n = (stored.0?.intValue ?? 0) + 10
        try? scene.there(["_id": "a", "n": .int(n), "l": stored.1 ?? []])
        return nil
      }
      let result = try push(scene)
      #expect(result.errors.isEmpty && result.discarded == 0)
      let missed = Int64(races - left)
      left = 0
      #expect(try push(scene).errors.isEmpty)
      #expect(try scene.both("n") == [.int(2 + 10 * missed), .int(2 + 10 * missed)])
      #expect(try scene.both("l") == [[1], [1]])
    }
  }

  @Test("past the queue are carried out anew on what a backend that merges has kept of its own")
  func mergedPastTheQueue() throws {
    let scene = try ConflictScene(["_id": "a", "n": 1])
    scene.fixture.remote.merges = true
    var isFirst = true
    scene.fixture.remote.refusal = { _ in
      if isFirst { try? scene.there(["_id": "a", "n": 2]) }
      isFirst = false
      return nil
    }
    let result = try scene.fixture.engine.update(
      Query(filter: #"{"_id":"a"}"#), EntityUpdate(#"{"$inc":{"n":1}}"#),
      options: scene.fixture.options(write: .forceNetwork))
    #expect(result.value.modified == ["a"])
    #expect(try scene.both("n") == [3, 3])
  }

  @Test("whose answer was lost, and that a backend has merged since, are not carried out twice")
  func mergedAfterLoss() throws {
    let scene = try ConflictScene(["_id": "a", "n": 1])
    scene.fixture.remote.merges = true
    try change(scene, #"{"$inc":{"n":1}}"#)
    scene.fixture.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try push(scene) }
    scene.fixture.remote.losesAnswer = { _ in false }
    #expect(try push(scene, .automerge) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [2, 2])
  }

  @Test(
    "are carried out anew if an attempt was lost before, where the backend would have recognised it",
    arguments: ConflictStrategy.allCases)
  func lostAttempt(strategy: ConflictStrategy) throws {
    let scene = try ConflictScene(["_id": "a", "n": 1])
    scene.fixture.remote.keepsTokens = true
    try change(scene, #"{"$inc":{"n":1}}"#)
    var isFirst = true
    scene.fixture.remote.refusal = { _ in
      guard isFirst else { return nil }
      isFirst = false
      try? scene.there(["_id": "a", "n": 2])
      return ScriptedRemote.error(.network)
    }
    let call = Call(retry: Retry(limit: 1, clock: FakeRetryClock()), conflicts: strategy)
    #expect(try scene.fixture.engine.push(call) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [3, 3])
  }

  @Test(
    "are carried out anew after a push that could not even read",
    arguments: ConflictStrategy.allCases)
  func failedRead(strategy: ConflictStrategy) throws {
    let scene = try ConflictScene(["_id": "a", "n": 1], keepsConditions: false)
    try change(scene, #"{"$inc":{"n":1}}"#)
    scene.fixture.remote.readError = ScriptedRemote.error(.network)
    #expect(throws: StoreError.self) { try push(scene, strategy) }
    scene.fixture.remote.readError = nil
    try scene.there(["_id": "a", "n": 2])
    #expect(try push(scene, strategy) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [3, 3])
  }

  @Test("whose answer was lost have their effect once") func lostAnswer() throws {
    let scene = try ConflictScene(["_id": "a", "n": 1])
    try change(scene, #"{"$inc":{"n":1}}"#)
    scene.fixture.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try push(scene) }
    scene.fixture.remote.losesAnswer = { _ in false }
    #expect(try push(scene) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [2, 2])
  }

  @Test("whose answer was lost have their effect once, and what came since as well")
  func lostAnswerAndMore() throws {
    let scene = try ConflictScene(["_id": "a", "n": 1])
    try change(scene, #"{"$inc":{"n":1}}"#)
    scene.fixture.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try push(scene) }
    scene.fixture.remote.losesAnswer = { _ in false }
    try change(scene, #"{"$inc":{"n":5}}"#)
    #expect(try push(scene) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [7, 7])
  }

  @Test("whose answer was lost, and that others have changed since, are a conflict") func unknown()
    throws
  {
    let scene = try ConflictScene(["_id": "a", "n": 1])
    try change(scene, #"{"$inc":{"n":1}}"#)
    scene.fixture.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try push(scene) }
    scene.fixture.remote.losesAnswer = { _ in false }
    try scene.there(["_id": "a", "n": 9])
    #expect(try push(scene, .optimistic).errors.first?.kind == .conflict)
  }

  @Test("whose answer was lost, and that others have made the same of, are a conflict")
  func same() throws {
    let scene = try ConflictScene(["_id": "a", "n": 1, "m": 1])
    try change(scene, #"{"$inc":{"n":1}}"#)
    scene.fixture.remote.losesAnswer = { _ in true }
    #expect(throws: StoreError.self) { try push(scene) }
    scene.fixture.remote.losesAnswer = { _ in false }
    try scene.there(["_id": "a", "n": 2, "m": 5])
    #expect(try push(scene, .merge).errors.first?.kind == .conflict)
    #expect(scene.state == .conflict)
  }

  @Test("that do not fit are a conflict") func misfit() throws {
    let scene = try ConflictScene(["_id": "a", "n": 1])
    try change(scene, #"{"$inc":{"n":1}}"#)
    try scene.there(["_id": "a", "n": "text"])
    #expect(try push(scene).errors.first?.kind == .conflict)
  }

  @Test("what overwrites is a conflict as before") func overwriting() throws {
    let scene = try ConflictScene(["_id": "a", "n": 1])
    try change(scene, #"{"$set":{"n":5}}"#)
    try scene.there(["_id": "a", "n": 7])
    #expect(try push(scene).errors.first?.kind == .conflict)
  }
}
