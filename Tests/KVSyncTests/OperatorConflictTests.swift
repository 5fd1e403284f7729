import KVBase
import KVJSON
import KVQuery
import KVSync
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
