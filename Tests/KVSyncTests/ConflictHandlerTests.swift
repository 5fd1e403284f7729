import KVBase
import KVJSON
import KVQuery
import KVSync
import KVWorlds
import Testing

@Suite("A conflict handler") struct ConflictHandlerTests {
  private func scene(
    deletesHere: Bool = false, deletesThere: Bool = false
  ) throws -> ConflictScene {
    let scene = try ConflictScene()
    try deletesHere ? scene.deletedHere() : scene.here(["_id": "a", "n": 2])
    if deletesThere { scene.deletedThere() } else { try scene.there(["_id": "a", "n": 3]) }
    return scene
  }

  @Test("sees what was, what is here and what is there") func sees() throws {
    for (deletesHere, deletesThere) in [(false, false), (true, false), (false, true)] {
      let scene = try scene(deletesHere: deletesHere, deletesThere: deletesThere)
      let seen = Monitor<[JSONValue?]>([])
      scene.fixture.engine.setConflictHandler { conflict, _ in
        seen.withLock {
          $0 = [conflict.base, conflict.local, conflict.remote].map { bytes in
            bytes.flatMap { try? JSONValue(parsing: $0) }?["n"]
          }
        }
        return .leave
      }
      #expect(try scene.push(.handler).errors.map(\.kind) == [.conflict])
      #expect(seen.withLock { $0 } == [1, deletesHere ? nil : 2, deletesThere ? nil : 3])
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
      scene.fixture.engine.setConflictHandler { _, _ in answer }
      let result = try scene.push(.handler)
      let wanted = answer == .take ? PushResult(discarded: 1) : PushResult(pushed: 1)
      #expect(result == wanted, "\(answer)")
      #expect(try scene.both("n") == [expected, expected], "\(answer)")
      #expect(try scene.fixture.engine.pendingCount() == 0)
    }
  }

  @Test("decides between a deletion and a change, both ways") func deletions() throws {
    let keepsDeletion = try scene(deletesHere: true)
    keepsDeletion.fixture.engine.setConflictHandler { _, _ in .keep }
    #expect(try keepsDeletion.push(.handler) == PushResult(pushed: 1))
    #expect(try keepsDeletion.both("n") == [nil, nil])

    let keepsChange = try scene(deletesThere: true)
    keepsChange.fixture.engine.setConflictHandler { _, _ in .keep }
    #expect(try keepsChange.push(.handler) == PushResult(pushed: 1))
    #expect(try keepsChange.both("n") == [2, 2])

    let deletes = try scene(deletesThere: true)
    deletes.fixture.engine.setConflictHandler { _, _ in .delete }
    #expect(try deletes.push(.handler) == PushResult())
    #expect(try deletes.both("n") == [nil, nil])
    #expect(try deletes.fixture.engine.pendingCount() == 0)
  }

  @Test("is asked again when somebody was faster once more") func askedAgain() throws {
    let scene = try scene()
    let asked = Monitor(0)
    scene.fixture.engine.setConflictHandler { [remote = scene.fixture.remote] _, _ in
      let count = asked.withLock { count in
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
    #expect(asked.withLock { $0 } == 3)
    #expect(try scene.both("n") == [2, 2])
  }

  @Test("may push the same collection itself, which waits for nothing") func pushes() throws {
    let scene = try scene()
    let engine = scene.fixture.engine
    // It holds the engine, which holds it.
    defer { engine.setConflictHandler(nil) }
    try scene.here(["_id": "other", "n": 7])
    engine.setConflictHandler { _, _ throws(StoreError) in
      _ = try engine.push(Call(deadline: .after(seconds: 60), conflicts: .optimistic))
      return .keep
    }
    #expect(try scene.push(.handler) == PushResult(pushed: 2))
  }

  @Test("may change the entity itself: then that is what counts") func saves() throws {
    let scene = try scene()
    let engine = scene.fixture.engine
    defer { engine.setConflictHandler(nil) }
    let options = scene.fixture.options()
    engine.setConflictHandler { _, _ in
      let entity = Array(#"{"_id":"a","n":8}"#.utf8)
      guard let outline = try? EntityScanner.outline(of: entity) else { return .leave }
      _ = entity.withUnsafeBytes { try? engine.save($0, outline, options: options) }
      return .take
    }
    #expect(try scene.push(.handler).errors.isEmpty)
    #expect(try scene.fixture.local("n") == ["8"])
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [8, 8])
  }

  @Test("whose answer is no entity leaves the conflict open, with an error") func nonsense() throws
  {
    for text in ["[]", "{", #"{"_id":"b"}"#, #"{"n":1e400}"#] {
      let scene = try scene()
      scene.fixture.engine.setConflictHandler { _, _ in .merged(Array(text.utf8)) }
      #expect(failure { _ = try scene.push(.handler) }?.kind == .invalid)
      #expect(scene.state == .conflict)
    }
  }
}
