import KVBase
import KVJSON
import KVQuery
import KVSync
import KVWorlds
import Testing

@Suite("What an expression keeps") struct KeptRecordsTests {
  private let fixture: TestEngine
  private let expression: Query

  init() throws {
    fixture = try TestEngine()
    expression = try Query(filter: #"{"kind":"mine"}"#)
    try fixture.publish(["_id": "a", "kind": "mine"], ["_id": "b", "kind": "other"])
  }

  private func synchronise(
    _ query: Query? = nil, usesChanges: Bool = false
  ) throws -> SyncedCounts {
    try fixture.engine.synchronise(
      query ?? expression, Call(), how: .init(usesChanges: usesChanges))
  }

  /// Saves an entity on the backend and delivers the message.
  @discardableResult
  private func told(_ entity: JSONObject) throws -> [ReceivedRecord] {
    let id = try #require(entity["_id"]?.stringValue)
    let body = try fixture.remote.backend.replace(
      JSONValue.object(entity).bytes, id, by: "bob")
    return try fixture.engine.applySynced(
      .saved(body, id: id, .update), matching: expression.matcher)
  }

  private var ids: [String] { get throws { try fixture.found().map(\.id).sorted() } }

  @Test(
    "no record of others comes in that live data tells during a read", arguments: [true, false])
  func duringRead(_ usesChanges: Bool) throws {
    _ = try synchronise()
    fixture.remote.changes = { [unowned fixture] query, _ in
      fixture.remote.backend.changes(of: query, since: "")
    }
    try fixture.publish(["_id": "c", "kind": "mine"])
    fixture.remote.meanwhile = { [unowned fixture] in
      fixture.remote.meanwhile = {}
      // One that was never here, one that was here, and one that the answer under way shows as it was.
      for id in ["b", "a", "c"] {
        do { try told(["_id": .string(id), "kind": "other", "n": 2]) } catch { Issue.record(error) }
      }
    }
    _ = try synchronise(usesChanges: usesChanges)
    #expect(try ids == [])
    try told(["_id": "c", "kind": "mine"])
    #expect(try ids == ["c"])
  }

  @Test("a follow that leaves out a message does not keep what the message has changed")
  func follow() throws {
    let matcher = expression.matcher
    fixture.remote.meanwhile = { [unowned fixture] in
      fixture.remote.meanwhile = {}
      do {
        let a = try fixture.remote.backend.replace(
          Array(#"{"_id":"a","kind":"other"}"#.utf8), "a", by: "bob")
        try fixture.engine.apply(.saved(a, id: "a", .update), matching: matcher)
      } catch { Issue.record(error) }
    }
    _ = try fixture.engine.catchUp(expression, Call(), how: .init())
    #expect(try ids == [])
  }

  @Test("what is made anew during a read comes in only if it is asked for")
  func madeAnew() throws {
    let matcher = expression.matcher
    fixture.remote.meanwhile = { [unowned fixture] in
      fixture.remote.meanwhile = {}
      do {
        let backend = fixture.remote.backend
        _ = backend.delete("b")
        try fixture.engine.apply(.deleted(id: "b", at: backend.now), matching: matcher)
        try fixture.publish(["_id": "b", "kind": "other"])
      } catch { Issue.record(error) }
    }
    _ = try fixture.engine.catchUp(expression, Call(), how: .init())
    #expect(try ids == ["a"])
  }

  @Test("what was saved here outside of it leaves once it is pushed")
  func ownOutside() throws {
    _ = try synchronise()
    try fixture.save(["_id": "c", "kind": "other"])
    try fixture.save(["_id": "d", "kind": "mine"])
    #expect(try ids == ["a", "c", "d"])
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 2))
    #expect(try ids == ["a", "d"])
    #expect(fixture.backendValue("c", "kind") == "other")
    // Past the queue as well.
    try fixture.save(["_id": "e", "kind": "other"], .forceNetwork)
    #expect(try ids == ["a", "d"])
  }

  @Test("so does what was pending when it changed")
  func ownPending() throws {
    _ = try synchronise(Query())
    try fixture.save(["_id": "b", "kind": "other", "n": 7])
    _ = try synchronise()
    #expect(try ids == ["a", "b"])
    _ = try fixture.engine.push(Call())
    #expect(try ids == ["a"])
    #expect(fixture.backendValue("b", "n") == 7)
  }

  @Test("what the backend's version replaces leaves if that is outside")
  func serverWins() throws {
    _ = try synchronise()
    try fixture.save(["_id": "a", "kind": "mine", "n": 1])
    try fixture.publish(["_id": "a", "kind": "other"])
    _ = try fixture.engine.push(Call(conflicts: .serverWins))
    #expect(try ids == [])
  }

  @Test("what another process has pushed, or a write that was dropped, leaves with a read")
  func swept() throws {
    _ = try synchronise()
    try fixture.save(["_id": "c", "kind": "other"])
    let other = CollectionEngine(
      collection: TestEngine.collection, type: .sync, local: fixture.storage,
      remote: layers(around: fixture.remote), sendGate: SendGate(),
      writer: { () throws(StoreError) in "ana" })
    _ = try synchronise()
    _ = try other.push(Call())
    #expect(try ids == ["a", "c"])
    #expect(try synchronise().deleted == 1)
    #expect(try ids == ["a"])

    try fixture.save(["_id": "d", "kind": "other"])
    try fixture.engine.dropPending("d")
    fixture.engine.sweepUnkeptAgain()
    #expect(try synchronise().deleted == 1)
    #expect(try ids == ["a"])
    // Nothing is searched for where nothing may be.
    #expect(try synchronise().deleted == 0)
  }

  @Test("a write in quarantine learns what the backend has, though it is outside")
  func quarantined() throws {
    _ = try synchronise()
    try fixture.save(["_id": "a", "kind": "mine", "n": 1])
    try fixture.publish(["_id": "a", "kind": "mine", "n": 2])
    _ = try fixture.engine.push(Call(conflicts: .optimistic))
    try told(["_id": "a", "kind": "other"])
    #expect(try ids == ["a"])
    let pending = try fixture.engine.pending("a")
    #expect(try pending.theirs?.bytes.map { try JSONValue(parsing: $0)["kind"] } == "other")
  }

  @Test("what has left comes back if it is asked for again, unchanged")
  func back() throws {
    _ = try synchronise()
    #expect(try told(["_id": "a", "kind": "other"]) == [ReceivedRecord("a", .delete)])
    _ = try synchronise(Query(filter: #"{"kind":"other"}"#))
    #expect(try ids == ["a", "b"])
  }
}
