import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import Testing

/// An entity that was pulled, and then changed here and there.
private struct Scene {
  let bench: Bench

  /// `keepsConditions` false: a backend like the hosted service, which knows no conditional writes.
  init(_ base: JSONObject = ["_id": "a", "n": 1, "m": 1], keepsConditions: Bool = true) throws {
    bench = try Bench()
    bench.remote.keepsConditions = keepsConditions
    try bench.publish(base)
    _ = try bench.engine.pull(Query(), Call())
  }

  func here(_ entity: JSONObject) throws { try bench.save(entity) }
  func deletedHere() throws { _ = try bench.engine.remove(id: "a", bench.options()) }
  func there(_ entity: JSONObject) throws { try bench.publish(entity) }
  func deletedThere() { _ = bench.remote.backend.delete("a") }

  func push(_ strategy: ConflictStrategy) throws -> PushResult {
    try bench.engine.push(Call(conflicts: strategy))
  }

  /// Members of the entity here and there; nil: it is not there.
  func both(_ member: String) throws -> [JSONValue?] {
    [try bench.found().first?[member], bench.backendValue("a", member)]
  }

  var state: PendingWrite.State? { try? bench.engine.pending("a").write.state }
}

@Suite("Conflicts") struct ConflictTests {
  @Test("the client wins, unless something else is wanted") func clientWins() throws {
    let scene = try Scene()
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 3])
    #expect(try scene.bench.engine.push(Call()) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [2, 2])
  }

  @Test(
    "nothing is in the way of what nobody else has changed",
    arguments: ConflictStrategy.allCases, [true, false])
  func noConflict(_ strategy: ConflictStrategy, _ keepsConditions: Bool) throws {
    let scene = try Scene(keepsConditions: keepsConditions)
    try scene.bench.publish(["_id": "b"], ["_id": "c"])
    _ = try scene.bench.engine.pull(Query(), Call())
    try scene.here(["_id": "a", "n": 2])
    try scene.here(["_id": "new", "n": 5])
    try scene.here(["made": true])
    _ = try scene.bench.engine.remove(id: "b", scene.bench.options())
    #expect(try scene.push(strategy) == PushResult(pushed: 4))
    #expect(try scene.both("n").last == 2)
    #expect(scene.bench.remote.backend.ids.count == 4)
  }

  @Test("the server wins: updates, deletions and creates alike", arguments: [true, false])
  func serverWins(_ keepsConditions: Bool) throws {
    for (deletesHere, deletesThere) in [(false, false), (true, false), (false, true)] {
      let scene = try Scene(keepsConditions: keepsConditions)
      try deletesHere ? scene.deletedHere() : scene.here(["_id": "a", "n": 2])
      if deletesThere { scene.deletedThere() } else { try scene.there(["_id": "a", "n": 3]) }
      #expect(try scene.push(.serverWins) == PushResult())
      #expect(try scene.both("n") == (deletesThere ? [nil, nil] : [3, 3]))
      #expect(try scene.bench.engine.pendingCount() == 0)
    }
    let scene = try Scene()
    try scene.here(["_id": "x", "n": 1])
    try scene.there(["_id": "x", "n": 2])
    #expect(try scene.push(.serverWins) == PushResult())
    #expect(try scene.bench.local("n") == ["1", "2"])
  }

  @Test("a merge takes from each side what it has changed", arguments: [true, false])
  func merge(_ keepsConditions: Bool) throws {
    let scene = try Scene(
      ["_id": "a", "n": 1, "m": 1, "gone": 1, "in": ["x": 1, "y": 1]],
      keepsConditions: keepsConditions)
    try scene.here(["_id": "a", "n": 2, "m": 1, "in": ["x": 2, "y": 1], "new": 0])
    try scene.there(["_id": "a", "n": 1, "m": 3, "gone": 1, "in": ["x": 1, "y": 3]])
    #expect(try scene.push(.merge) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [2, 2])
    #expect(try scene.both("m") == [3, 3])
    #expect(try scene.both("in") == [["x": 2, "y": 3], ["x": 2, "y": 3]])
    #expect(try scene.both("gone") == [nil, nil])
    #expect(try scene.both("new") == [0, 0])
  }

  @Test("a merge leaves open what both have changed, and deletions against changes")
  func mergeLeavesOpen() throws {
    for (here, there) in [(true, true), (true, false), (false, true)] {
      let scene = try Scene()
      try here ? scene.here(["_id": "a", "n": 2]) : scene.deletedHere()
      if there { try scene.there(["_id": "a", "n": 3]) } else { scene.deletedThere() }
      #expect(try scene.push(.merge).errors.map(\.kind) == [.conflict])
      #expect(scene.state == .conflict)
    }
  }

  @Test(
    "an optimistic write leaves every conflict open, with what the backend has",
    arguments: [true, false])
  func optimistic(_ keepsConditions: Bool) throws {
    let scene = try Scene(keepsConditions: keepsConditions)
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 3])
    let result = try scene.push(.optimistic)
    #expect(result.pushed == 0)
    #expect(result.errors.map(\.kind) == [.conflict])
    #expect(result.errors.map(\.id) == ["a"])
    #expect(result.errors.map(\.index) == [0])
    #expect(try scene.both("n") == [2, 3])
    let detail = try scene.bench.engine.pending("a")
    #expect(detail.write.state == .conflict)
    #expect(try detail.theirs?.bytes.map { try JSONValue(parsing: $0) }?["n"] == 3)
    #expect(try detail.base.map { try JSONValue(parsing: $0) }?["n"] == 1)
    // It is not sent again by itself.
    let requests = scene.bench.remote.requests.count
    #expect(try scene.push(.optimistic) == PushResult())
    #expect(scene.bench.remote.requests.count == requests)
  }

  @Test("deletions on both sides are no conflict") func bothDelete() throws {
    let scene = try Scene()
    try scene.deletedHere()
    scene.deletedThere()
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
  }

  @Test("the same change on both sides is no conflict") func sameChange() throws {
    let scene = try Scene()
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 2])
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
    #expect(try scene.bench.engine.pendingCount() == 0)
  }

  @Test("an entity that was only saved there again is no conflict") func touched() throws {
    let scene = try Scene()
    try scene.here(["_id": "a", "n": 2, "m": 1])
    try scene.there(["_id": "a", "n": 1, "m": 1])
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [2, 2])
  }

  // MARK: Lost answers

  @Test("our own update, whose answer was lost, is no conflict", arguments: [true, false])
  func lostAnswer(_ keepsConditions: Bool) throws {
    let scene = try Scene(keepsConditions: keepsConditions)
    try scene.here(["_id": "a", "n": 2])
    scene.bench.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try scene.push(.optimistic) }?.kind == .network)
    scene.bench.remote.losesAnswer = { _ in false }
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
  }

  @Test(
    "nor is it one when the entity was changed here again since",
    arguments: [ConflictStrategy.optimistic, .serverWins, .merge])
  func lostAnswerThenChanged(_ strategy: ConflictStrategy) throws {
    let scene = try Scene()
    try scene.here(["_id": "a", "n": 2])
    scene.bench.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try scene.push(strategy) }?.kind == .network)
    scene.bench.remote.losesAnswer = { _ in false }
    try scene.here(["_id": "a", "n": 3])
    #expect(try scene.push(strategy) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [3, 3])
  }

  @Test("nor when it was deleted in between, and made again") func lostDeletion() throws {
    let scene = try Scene()
    try scene.deletedHere()
    scene.bench.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try scene.push(.optimistic) }?.kind == .network)
    scene.bench.remote.losesAnswer = { _ in false }
    try scene.here(["_id": "a", "n": 3])
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [3, 3])
  }

  // MARK: After a conflict

  private func open() throws -> Scene {
    let scene = try Scene()
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 3])
    _ = try scene.push(.optimistic)
    return scene
  }

  @Test("a retry sends ours over the version that it met") func retry() throws {
    let scene = try open()
    try scene.bench.engine.retryPending("a", Call(conflicts: .optimistic))
    #expect(try scene.both("n") == [2, 2])
    #expect(try scene.bench.engine.pendingCount() == 0)
  }

  @Test("but not over a version that nobody here has seen") func retryTooLate() throws {
    let scene = try open()
    try scene.there(["_id": "a", "n": 4])
    let error = failure {
      try scene.bench.engine.retryPending("a", Call(conflicts: .optimistic))
    }
    #expect(error?.kind == .conflict)
    #expect(try scene.both("n") == [2, 4])
    #expect(scene.state == .conflict)
  }

  @Test("an edit is sent over it, too") func edit() throws {
    let scene = try open()
    let edited = Array(#"{"n":5}"#.utf8)
    let outline = try EntityScanner.outline(of: edited)
    try edited.withUnsafeBytes { try scene.bench.engine.editPending("a", $0, outline) }
    #expect(scene.state == .waiting)
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [5, 5])
  }

  @Test("a revert takes theirs") func revert() throws {
    let scene = try open()
    try scene.bench.engine.revertPending("a")
    #expect(try scene.both("n") == [3, 3])
    #expect(try scene.bench.engine.pendingCount() == 0)
  }

  @Test("a revert of a deletion brings the entity back, one of a create takes it away")
  func revertOthers() throws {
    let scene = try Scene()
    try scene.deletedHere()
    try scene.here(["_id": "new"])
    try scene.bench.engine.revertPending("a")
    try scene.bench.engine.revertPending("new")
    #expect(try scene.bench.local("_id") == ["\"a\""])
  }

  @Test("a pull goes on, leaves the entity alone, and shows what is there now") func pull() throws {
    let scene = try open()
    try scene.there(["_id": "a", "n": 4])
    try scene.there(["_id": "b", "n": 9])
    #expect(try scene.bench.engine.pull(Query(), Call()).pulled == 1)
    #expect(try scene.bench.local("n") == ["2", "9"])
    let detail = try scene.bench.engine.pending("a")
    #expect(try detail.theirs?.bytes.map { try JSONValue(parsing: $0) }?["n"] == 4)
    try scene.bench.engine.revertPending("a")
    #expect(try scene.both("n").last == 4)
  }

  @Test("saving the entity again lets it wait again, and meet the same conflict") func again()
    throws
  {
    let scene = try open()
    try scene.here(["_id": "a", "n": 6])
    #expect(scene.state == .waiting)
    #expect(try scene.push(.optimistic).errors.map(\.kind) == [.conflict])
  }

  @Test("a deletion wins over a later change only if somebody says so") func retriedDeletion()
    throws
  {
    let scene = try Scene()
    try scene.deletedHere()
    try scene.there(["_id": "a", "n": 3])
    #expect(try scene.push(.optimistic).errors.count == 1)
    #expect(try scene.bench.found().isEmpty)
    try scene.bench.engine.retryPending("a", Call(conflicts: .optimistic))
    #expect(scene.bench.remote.backend.ids.isEmpty)
  }
}

@Suite("A conflict handler") struct ConflictHandlerTests {
  private func scene(
    deletesHere: Bool = false, deletesThere: Bool = false
  ) throws -> Scene {
    let scene = try Scene()
    try deletesHere ? scene.deletedHere() : scene.here(["_id": "a", "n": 2])
    if deletesThere { scene.deletedThere() } else { try scene.there(["_id": "a", "n": 3]) }
    return scene
  }

  @Test("sees what was, what is here and what is there") func sees() throws {
    for (deletesHere, deletesThere) in [(false, false), (true, false), (false, true)] {
      let scene = try scene(deletesHere: deletesHere, deletesThere: deletesThere)
      let seen = Monitor<[JSONValue?]>([])
      scene.bench.engine.setConflictHandler { conflict, _ in
        seen.peek {
          $0 = [conflict.base, conflict.local, conflict.remote].map { bytes in
            bytes.flatMap { try? JSONValue(parsing: $0) }?["n"]
          }
        }
        return .leave
      }
      #expect(try scene.push(.handler).errors.map(\.kind) == [.conflict])
      #expect(seen.peek { $0 } == [1, deletesHere ? nil : 2, deletesThere ? nil : 3])
      #expect(scene.state == .conflict)
    }
  }

  @Test("says which version it is to be")
  func answers() throws {
    let merged = Array(#"{"n":5}"#.utf8)
    let cases: [(ConflictAnswer, JSONValue?)] = [
      (.keep, 2), (.take, 3), (.merged(merged), 5), (.delete, nil),
    ]
    for (answer, expected) in cases {
      let scene = try scene()
      scene.bench.engine.setConflictHandler { _, _ in answer }
      let result = try scene.push(.handler)
      #expect(result == PushResult(pushed: answer == .take ? 0 : 1), "\(answer)")
      #expect(try scene.both("n") == [expected, expected], "\(answer)")
      #expect(try scene.bench.engine.pendingCount() == 0)
    }
  }

  @Test("decides between a deletion and a change, both ways") func deletions() throws {
    let keepsDeletion = try scene(deletesHere: true)
    keepsDeletion.bench.engine.setConflictHandler { _, _ in .keep }
    #expect(try keepsDeletion.push(.handler) == PushResult(pushed: 1))
    #expect(try keepsDeletion.both("n") == [nil, nil])

    let keepsChange = try scene(deletesThere: true)
    keepsChange.bench.engine.setConflictHandler { _, _ in .keep }
    #expect(try keepsChange.push(.handler) == PushResult(pushed: 1))
    #expect(try keepsChange.both("n") == [2, 2])

    let deletes = try scene(deletesThere: true)
    deletes.bench.engine.setConflictHandler { _, _ in .delete }
    #expect(try deletes.push(.handler) == PushResult())
    #expect(try deletes.both("n") == [nil, nil])
    #expect(try deletes.bench.engine.pendingCount() == 0)
  }

  @Test("is asked again when somebody was faster once more") func askedAgain() throws {
    let scene = try scene()
    let asked = Monitor(0)
    scene.bench.engine.setConflictHandler { [remote = scene.bench.remote] _, _ in
      let count = asked.peek { count in
        count += 1
        return count
      }
      if count < 3 {
        _ = try? remote.backend.replace(
          Array(#"{"_id":"a","n":\#(10 + count)}"#.utf8), "a", by: "b")
      }
      return .keep
    }
    #expect(try scene.push(.handler) == PushResult(pushed: 1))
    #expect(asked.peek { $0 } == 3)
    #expect(try scene.both("n") == [2, 2])
  }

  @Test("may push the same collection itself, which waits for nothing") func pushes() throws {
    let scene = try scene()
    let engine = scene.bench.engine
    try scene.here(["_id": "other", "n": 7])
    engine.setConflictHandler { _, _ throws(StoreError) in
      _ = try engine.push(Call(deadline: .after(seconds: 5), conflicts: .optimistic))
      return .keep
    }
    #expect(try scene.push(.handler) == PushResult(pushed: 2))
  }

  @Test("may change the entity itself: then that is what counts") func saves() throws {
    let scene = try scene()
    let engine = scene.bench.engine
    let options = scene.bench.options()
    engine.setConflictHandler { _, _ in
      let entity = Array(#"{"_id":"a","n":8}"#.utf8)
      guard let outline = try? EntityScanner.outline(of: entity) else { return .leave }
      _ = entity.withUnsafeBytes { try? engine.save($0, outline, options) }
      return .take
    }
    #expect(try scene.push(.handler).errors.isEmpty)
    #expect(try scene.bench.local("n") == ["8"])
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [8, 8])
  }

  @Test("whose answer is no entity leaves the conflict open, with an error") func nonsense() throws
  {
    for text in ["[]", "{", #"{"_id":"b"}"#] {
      let scene = try scene()
      scene.bench.engine.setConflictHandler { _, _ in .merged(Array(text.utf8)) }
      #expect(failure { _ = try scene.push(.handler) }?.kind == .invalid)
      #expect(scene.state == .conflict)
    }
  }
}

@Suite("What the backend refuses for good") struct RefusalTests {
  @Test("is set aside, holds up nothing, and is not sent again by itself") func setAside() throws {
    let bench = try Bench()
    _ = try bench.saveMany([["n": 0], ["n": 1, "poison": true], ["n": 2]])
    let result = try bench.engine.push(Call())
    #expect(result.pushed == 2)
    let id = try #require(result.errors.first?.id)
    #expect(try bench.engine.pending(id).write.state == .refused)
    #expect(try bench.engine.pendingCount() == 1)
    let sent = bench.remote.requests.count
    #expect(try bench.engine.push(Call()) == PushResult())
    #expect(bench.remote.requests.count == sent)
    // Nor does it hold up a pull, or is overwritten by it.
    _ = try bench.engine.pull(Query(), Call())
    #expect(try bench.engine.pending(id).entity != nil)
    #expect(try bench.local("n") == ["0", "1", "2"])
  }

  @Test("is sent again when it was corrected, or when somebody says so") func corrected() throws {
    let bench = try Bench()
    let id = try bench.save(["n": 1, "poison": true]).id
    #expect(try bench.engine.push(Call()).errors.count == 1)
    #expect(failure { try bench.engine.retryPending(id, Call()) }?.kind == .invalid)
    #expect(try bench.engine.pending(id).write.state == .refused)
    try bench.save(["_id": .string(id), "n": 2])
    #expect(try bench.engine.push(Call()) == PushResult(pushed: 1))
    #expect(bench.backendValue(id, "n") == 2)
  }

  @Test(
    "tells a refusal of the entity from what may pass",
    arguments: [
      (StoreError.Kind.invalid, 400, true), (.forbidden, 403, true), (.conflict, 409, true),
      (.tooLarge, 413, true), (.invalid, 422, true), (.notFound, 404, true),
      (.server, 500, false), (.server, 429, false), (.proto, 404, false),
      (.unsupported, 403, false),
    ])
  func kinds(_ kind: StoreError.Kind, _ status: Int, _ isForGood: Bool) throws {
    let bench = try Bench()
    try bench.save(["_id": "a"])
    try bench.save(["_id": "b"])
    bench.remote.refusal = { write in
      guard case .update("a", _, _) = write else { return nil }
      return ScriptedRemote.error(kind, status)
    }
    let result = try? bench.engine.push(Call())
    if let result { #expect(result.pushed == 1) }
    #expect(
      try bench.engine.pending("a").write.state == (isForGood ? .refused : .waiting)
        || kind == .conflict)
    #expect(try bench.engine.pending("a").write.lastError != nil || result == nil)
  }

  @Test("ids that only look the same are two entities") func lookAlikes() throws {
    let bench = try Bench()
    let one = "caf\u{E9}"
    let other = "cafe\u{301}"
    _ = try bench.saveMany([["_id": .string(one), "n": 1], ["_id": .string(other), "n": 2]])
    bench.remote.refusal = { request in
      if case .update(let id, _, _) = request, id.utf8.elementsEqual(other.utf8) {
        return ScriptedRemote.error(.forbidden, 403)
      }
      return nil
    }
    let result = try bench.engine.push(Call())
    #expect(result.pushed == 1)
    #expect(result.errors.map { Array(($0.id ?? "").utf8) } == [Array(other.utf8)])
    #expect(result.errors.map(\.index) == [1])
    #expect(try bench.engine.pending(after: nil, most: 0).map(\.state) == [.refused])
  }
}
