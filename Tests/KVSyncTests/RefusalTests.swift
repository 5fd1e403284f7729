import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVWorlds
import Testing

@Suite("What the backend refuses for good") struct RefusalTests {
  @Test("is set aside, holds up nothing, and is not sent again by itself") func setAside() throws {
    let fixture = try TestEngine()
    _ = try fixture.saveMany([["n": 0], ["n": 1, "poison": true], ["n": 2]])
    let result = try fixture.engine.push(Call())
    #expect(result.pushed == 2)
    let id = try #require(result.errors.first?.id)
    #expect(try fixture.engine.pending(id).write.state == .refused)
    #expect(try fixture.engine.pendingCount() == 1)
    let sent = fixture.remote.requests.count
    #expect(try fixture.engine.push(Call()) == PushResult(quarantined: 1))
    #expect(fixture.remote.requests.count == sent)
    // Nor does it hold up a pull, or is overwritten by it.
    _ = try fixture.engine.pull(Query(), Call())
    #expect(try fixture.engine.pending(id).entity != nil)
    #expect(try fixture.local("n") == ["0", "1", "2"])
  }

  @Test(
    "an update that would make more than the backend accepts is refused before anything is written")
  func largeUpdate() throws {
    let fixture = try TestEngine()
    fixture.remote.limits.bytesPerEntity = 2_000
    _ = try fixture.saveMany([["_id": "a", "n": 1], ["_id": "b", "n": 2]], .localThenNetwork)
    let text = String(repeating: "x", count: 1_900)
    let fits = try EntityUpdate(#"{"$set":{"text":"\#(text)"}}"#)
    let update = try EntityUpdate(#"{"$set":{"text":"\#(text)\#(text)"}}"#)
    let query = try Query(filter: #"{"_id":"b"}"#)
    for policy in [
      WritePolicy.forceLocal, .silentLocalThenNetwork, .localThenNetwork, .forceNetwork,
    ] {
      let options = fixture.options(write: policy)
      let error = failure { _ = try fixture.engine.update(query, update, options: options) }
      #expect(error?.kind == .tooLarge && error?.id == "b", "\(policy)")
    }
    let transaction = try fixture.storage.beginTransaction()
    defer { transaction.close() }
    let limited = fixture.engine.limited(update)
    let inside = failure { _ = try transaction.update(query, limited, in: TestEngine.collection) }
    #expect(inside?.kind == .tooLarge)
    #expect(try fixture.engine.pendingCount() == 0)
    #expect(fixture.backendValue("b", "text") == nil)
    #expect(
      try fixture.engine.update(query, fits, options: fixture.options()).value.modified == ["b"])
  }

  @Test("is sent again when it was corrected, or when somebody says so") func corrected() throws {
    let fixture = try TestEngine()
    let id = try fixture.save(["n": 1, "poison": true]).id
    #expect(try fixture.engine.push(Call()).errors.count == 1)
    #expect(failure { try fixture.engine.retryPending(id, Call()) }?.kind == .invalid)
    #expect(try fixture.engine.pending(id).write.state == .refused)
    try fixture.save(["_id": .string(id), "n": 2])
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 1))
    #expect(fixture.backendValue(id, "n") == 2)
  }

  @Test("is counted by every push, until a push that says so sends all of it") func retried() throws
  {
    let fixture = try TestEngine()
    _ = try fixture.saveMany([
      ["_id": "a", "poison": true], ["_id": "b", "poison": true], ["_id": "c"],
    ])
    let refused = try fixture.engine.push(Call())
    #expect(refused.pushed == 1 && refused.errors.count == 2 && refused.quarantined == 2)
    #expect(try fixture.engine.push(Call()).quarantined == 2)
    var call = Call()
    call.retriesQuarantined = true
    let again = try fixture.engine.push(call)
    #expect(again.pushed == 0 && again.errors.count == 2 && again.quarantined == 2)
    try fixture.save(["_id": "a", "n": 1])
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 1, quarantined: 1))
    // Set aside for a reason that passes.
    #expect(try fixture.engine.pendingCount() == 1)
    fixture.remote.refusal = { $0.mentions("\"d\"") ? ScriptedRemote.error(.forbidden, 403) : nil }
    try fixture.save(["_id": "d"])
    #expect(try fixture.engine.push(Call()).quarantined == 2)
    fixture.remote.refusal = { _ in nil }
    let last = try fixture.engine.push(call)
    #expect(last.pushed == 1 && last.quarantined == 1)
  }

  @Test("does not keep a sync from pulling; what waits does") func syncs() throws {
    let fixture = try TestEngine()
    try fixture.save(["_id": "a", "poison": true])
    _ = try fixture.remote.backend.create(JSONValue.object(["_id": "theirs"]).bytes, by: "eve")
    let refused = try fixture.engine.sync(Query(), Call())
    #expect(refused.push.errors.count == 1 && refused.push.quarantined == 1)
    #expect(refused.pull == PullResult(pulled: 1))
    try fixture.save(["_id": "b"])
    fixture.remote.refusal = { write in
      guard case .update("b", _, _, _) = write else { return nil }
      return ScriptedRemote.error(.server, 500)
    }
    let late = try fixture.engine.sync(Query(), Call())
    #expect(late.push.errors.count == 1 && late.pull == nil)
  }

  @Test(
    "tells a refusal of the entity from what may pass",
    arguments: [
      (StoreError.Kind.invalid, 400, true), (.forbidden, 403, true), (.conflict, 409, true),
      (.tooLarge, 413, true), (.invalid, 422, true), (.notFound, 404, true),
      (.server, 500, false), (.server, 429, false), (.proto, 404, false),
      (.unsupported, 403, false),
    ])
  func kinds(_ kind: StoreError.Kind, status: Int, isForGood: Bool) throws {
    let fixture = try TestEngine()
    try fixture.save(["_id": "a"])
    try fixture.save(["_id": "b"])
    fixture.remote.refusal = { write in
      guard case .update("a", _, _, _) = write else { return nil }
      return ScriptedRemote.error(kind, status)
    }
    let result = try? fixture.engine.push(Call())
    if let result { #expect(result.pushed == 1) }
    #expect(
      try fixture.engine.pending("a").write.state == (isForGood ? .refused : .waiting)
        || kind == .conflict)
    #expect(try fixture.engine.pending("a").write.lastError != nil || result == nil)
  }

  @Test("ids that only look the same are two entities") func lookAlikes() throws {
    let fixture = try TestEngine()
    let one = "caf\u{E9}"
    let other = "cafe\u{301}"
    _ = try fixture.saveMany([["_id": .string(one), "n": 1], ["_id": .string(other), "n": 2]])
    fixture.remote.refusal = { request in
      if case .update(let id, _, _, _) = request, id.utf8.elementsEqual(other.utf8) {
        return ScriptedRemote.error(.forbidden, 403)
      }
      return nil
    }
    let result = try fixture.engine.push(Call())
    #expect(result.pushed == 1)
    #expect(result.errors.map { Array(($0.id ?? "").utf8) } == [Array(other.utf8)])
    #expect(result.errors.map(\.index) == [1])
    #expect(try fixture.engine.pending(after: nil, limit: 0).map(\.state) == [.refused])
  }
}
