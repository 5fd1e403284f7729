import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import KVWorlds
import Testing

@Suite("A push") struct PushTests {
  @Test("joins creates to requests of at most 100, and sends the rest one by one") func batches()
    throws
  {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "old", "n": 0], ["_id": "gone", "n": 0])
    _ = try fixture.engine.pull(Query(), Call())
    _ = try fixture.saveMany((0..<250).map { ["n": .int($0)] })
    try fixture.save(["_id": "old", "n": 1])
    _ = try fixture.engine.remove(id: "gone", options: fixture.options())
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 252))
    let creates = fixture.remote.requests.compactMap { request -> Int? in
      if case .createMany(let bodies) = request { bodies.count } else { nil }
    }
    #expect(creates == [100, 100, 50])
    #expect(fixture.remote.requests.count == 5)
    #expect(fixture.remote.backend.ids.count == 251)
    #expect(try fixture.engine.pendingCount() == 0)
  }

  @Test("that meets a certificate which is not trusted fails with that, once, and keeps all writes")
  func certificate() throws {
    let fixture = try TestEngine()
    for id in ["a", "b"] { try fixture.save(["_id": .string(id)]) }
    fixture.remote.refusal = { _ in ScriptedRemote.error(.certificate) }
    let call = Call(retry: Retry(limit: 3))
    #expect(failure { _ = try fixture.engine.push(call) }?.kind == .certificate)
    #expect(try fixture.engine.pending("a").write.state == .waiting)
    #expect(try fixture.engine.pendingCount() == 2)
    // Each write may be sent once, at the same time; none is repeated.
    #expect(fixture.remote.requests.count <= 2)
    fixture.remote.refusal = { _ in nil }
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 2))
  }

  @Test("joins writes of every kind where the backend takes them so, in their order")
  func mixedBatches() throws {
    let fixture = try TestEngine()
    fixture.remote.limits.writesPerBatch = 500
    try fixture.publish(["_id": "old", "n": 0], ["_id": "gone", "n": 0])
    _ = try fixture.engine.pull(Query(), Call())
    try fixture.save(["_id": "old", "n": 1])
    _ = try fixture.saveMany((0..<120).map { ["_id": .string("id\($0)"), "n": .int($0)] })
    _ = try fixture.engine.remove(id: "gone", options: fixture.options())
    _ = try fixture.saveMany((0..<30).map { ["n": .int($0)] })
    #expect(
      try fixture.engine.push(Call(conflicts: .optimistic)) == PushResult(pushed: 152))
    let batches = fixture.remote.requests.compactMap { request -> [RemoteWrite]? in
      if case .batch(let writes) = request { writes } else { nil }
    }
    // At most 100 to a request, and the first page is of 100 writes.
    #expect(batches.map(\.count) == [100, 52])
    #expect(fixture.remote.requests.count == 2)
    guard case .update("old", _, .version, _) = batches[0][0] else {
      Issue.record("not an update: \(batches[0][0])")
      return
    }
    #expect(fixture.remote.backend.ids.count == 151)
    #expect(fixture.backendValue("old", "n") == 1)
    #expect(try fixture.engine.pendingCount() == 0)
  }

  @Test("settles each write of a batch as if it had gone alone")
  func batchResults() throws {
    let fixture = try TestEngine()
    fixture.remote.limits.writesPerBatch = 100
    try fixture.publish(["_id": "a", "n": 0], ["_id": "b", "n": 0], ["_id": "c", "n": 0])
    _ = try fixture.engine.pull(Query(), Call())
    for id in ["a", "b"] { try fixture.save(["_id": .string(id), "n": 1]) }
    try fixture.save(["_id": "bad", "poison": true])
    _ = try fixture.engine.remove(id: "c", options: fixture.options())
    try fixture.publish(["_id": "b", "n": 7])
    _ = fixture.remote.backend.delete("c")
    let result = try fixture.engine.push(Call(conflicts: .optimistic))
    #expect(result.pushed == 2)
    #expect(result.errors.map(\.id) == ["b", "bad"])
    #expect(result.errors.map(\.kind) == [.conflict, .invalid])
    #expect(result.errors.map(\.index) == [1, 2])
    #expect(try fixture.engine.pending(after: nil, limit: 0).map(\.state) == [.conflict, .refused])
    #expect(fixture.backendValue("a", "n") == 1 && fixture.backendValue("b", "n") == 7)
  }

  @Test("of a batch whose answer is lost does everything once, and loses nothing")
  func lostBatch() throws {
    for strategy in ConflictStrategy.allCases {
      let fixture = try TestEngine()
      fixture.remote.limits.writesPerBatch = 100
      try fixture.publish(["_id": "old", "n": 0], ["_id": "gone", "n": 0])
      _ = try fixture.engine.pull(Query(), Call())
      try fixture.save(["_id": "old", "n": 1])
      try fixture.save(["_id": "own", "n": 1])
      let made = try fixture.save(["n": 1]).id
      _ = try fixture.engine.remove(id: "gone", options: fixture.options())
      fixture.remote.losesAnswer = { _ in true }
      #expect(throws: StoreError.self) { try fixture.engine.push(Call(conflicts: strategy)) }
      fixture.remote.losesAnswer = { _ in false }
      try fixture.save(["_id": "old", "n": 2])
      let result = try fixture.engine.push(Call(conflicts: strategy))
      #expect(result.errors.isEmpty && result.pushed == 4, "\(strategy): \(result)")
      #expect(fixture.remote.backend.ids == ["old", "own", made], "\(strategy)")
      #expect(fixture.backendValue("old", "n") == 2, "\(strategy)")
      #expect(try fixture.engine.pendingCount() == 0)
    }
  }

  @Test("sends one by one what was refused as a batch, and goes on without batches")
  func refusedBatch() throws {
    for kind in [StoreError.Kind.unsupported, .tooLarge, .invalid] {
      let fixture = try TestEngine()
      fixture.remote.limits.writesPerBatch = 100
      fixture.remote.refusal = { [weak remote = fixture.remote] write in
        guard case .batch = write else { return nil }
        if kind == .unsupported { remote?.limits.writesPerBatch = 1 }
        var error = StoreError(kind, "No.")
        if kind == .tooLarge { error.statedClass = .refused }
        return error
      }
      _ = try fixture.saveMany((0..<150).map { ["_id": .string("id\($0)"), "n": .int($0)] })
      #expect(try fixture.engine.push(Call()) == PushResult(pushed: 150))
      #expect(fixture.remote.requests.count == (kind == .unsupported ? 151 : 152))
    }
  }

  @Test("bounds the bytes of a request, too") func largeEntities() throws {
    let fixture = try TestEngine()
    let text = JSONValue.string(String(repeating: "x", count: 1 << 20))
    _ = try fixture.saveMany((0..<10).map { ["n": .int($0), "text": text] })
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 10))
    for request in fixture.remote.requests {
      #expect(request.bodies.reduce(0) { $0 + $1.count } <= 4 << 20)
    }
  }

  @Test("reports what was refused with its id and index; it stays, and holds up nothing")
  func refused() throws {
    let fixture = try TestEngine()
    _ = try fixture.saveMany([["n": 0], ["n": 1, "poison": true], ["n": 2]])
    let result = try fixture.engine.push(Call())
    #expect(result.pushed == 2)
    #expect(result.errors.map(\.index) == [1])
    let left = try fixture.engine.pending(after: nil, limit: 0)
    #expect(left.map(\.id) == result.errors.map(\.id))
    #expect(left.first?.attempts == 1)
    #expect(left.first?.lastError?.contains("Poison") == true)
  }

  @Test("goes on after an entity on which the connection breaks") func poisoned() throws {
    let fixture = try TestEngine()
    for n in 0..<5 { try fixture.save(["_id": .string("id\(n)"), "n": .int(Int64(n))]) }
    fixture.remote.refusal = { $0.mentions(#""n":1"#) ? ScriptedRemote.error(.network) : nil }
    let result = try fixture.engine.push(Call())
    #expect(result.pushed == 4)
    #expect(result.errors.map(\.kind) == [.network])
    #expect(result.errors.map(\.id) == ["id1"])
  }

  @Test("knows the index of what had no answer, also when the answer that follows is pages later")
  func poisonedEndOfPage() throws {
    let fixture = try TestEngine()
    _ = try fixture.saveMany((0..<510).map { ["_id": .string("id\($0)"), "n": .int($0)] })
    fixture.remote.refusal = { $0.mentions(#""n":499}"#) ? ScriptedRemote.error(.network) : nil }
    let result = try fixture.engine.push(Call())
    #expect(result.pushed == 509)
    #expect(result.errors.map(\.index) == [499])
  }

  @Test("sends creates alone that were refused together") func refusedTogether() throws {
    let fixture = try TestEngine()
    fixture.remote.refusal = { request in
      request.bodies.count > 1 ? ScriptedRemote.error(.tooLarge, 413) : nil
    }
    _ = try fixture.saveMany((0..<3).map { ["n": .int($0)] })
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 3))
    #expect(fixture.remote.requests.count == 4)
  }

  @Test("stops when nobody answers, and keeps what was accepted before") func offline() throws {
    let fixture = try TestEngine()
    for n in 0..<50 { try fixture.save(["_id": .string("id\(n)"), "n": .int(Int64(n))]) }
    fixture.remote.refusal = { [remote = fixture.remote] _ in
      remote.requests.count > 10 ? ScriptedRemote.error(.network) : nil
    }
    #expect(failure { _ = try fixture.engine.push(Call()) }?.kind == .network)
    #expect(fixture.remote.requests.count < 20)
    #expect(fixture.remote.backend.ids.count == 10)
    #expect(try fixture.engine.pendingCount() == 40)
    fixture.remote.refusal = { _ in nil }
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 40))
  }

  @Test("stops at once when the session has ended, and loses nothing") func unauthorized() throws {
    let fixture = try TestEngine()
    for n in 0..<20 { try fixture.save(["_id": .string("id\(n)")]) }
    fixture.remote.refusal = { _ in ScriptedRemote.error(.unauthorized, 401) }
    #expect(failure { _ = try fixture.engine.push(Call()) }?.kind == .unauthorized)
    #expect(fixture.remote.requests.count == 1)
    #expect(try fixture.engine.pendingCount() == 20)
  }

  @Test("needs a user before it sends anything") func noUser() throws {
    let fixture = try TestEngine(isLoggedIn: false)
    try fixture.save(["n": 1])
    #expect(failure { _ = try fixture.engine.push(Call()) }?.kind == .noUser)
    #expect(fixture.remote.requests.isEmpty)
  }

  @Test("leaves a change alone that was made while it was under way") func savedMeanwhile() throws {
    let fixture = try TestEngine()
    let id = try fixture.save(["n": 1]).id
    fixture.remote.meanwhile = {
      fixture.remote.meanwhile = {}
      _ = try? fixture.save(["_id": .string(id), "n": 2])
    }
    #expect(try fixture.engine.push(Call()).pushed == 1)
    #expect(fixture.backendValue(id, "n") == 1)
    #expect(try fixture.local("n") == ["2"])
    #expect(try fixture.engine.pending(id).write.operation == .update)
    #expect(try fixture.engine.push(Call()).pushed == 1)
    #expect(fixture.backendValue(id, "n") == 2)
  }

  @Test("counts a deletion of what is not there as done") func deletedElsewhere() throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a"])
    _ = try fixture.engine.pull(Query(), Call())
    _ = try fixture.engine.remove(id: "a", options: fixture.options())
    _ = fixture.remote.backend.delete("a")
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 1))
  }

  // MARK: Creates that were sent before

  /// Saves something whose create arrives, while its answer does not.
  private func lostCreate(_ fixture: TestEngine) throws -> String {
    let id = try fixture.save(["n": 1]).id
    fixture.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try fixture.engine.push(Call()) }?.kind == .network)
    fixture.remote.losesAnswer = { _ in false }
    #expect(try fixture.engine.pendingCount() == 1)
    return id
  }

  @Test("recognises its own create, and takes over what others made of it since")
  func ownCreateChangedByOthers() throws {
    let fixture = try TestEngine()
    let id = try lostCreate(fixture)
    _ = try fixture.remote.backend.replace(Array(#"{"_id":"\#(id)","n":7}"#.utf8), id, by: "bob")
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 1))
    #expect(try fixture.local("n") == ["7"])
    #expect(fixture.backendValue(id, "n") == 7)
    #expect(fixture.remote.backend.ids.count == 1)
  }

  @Test("sends what was changed here since its create as an update") func ownCreateChangedHere()
    throws
  {
    let fixture = try TestEngine()
    let id = try lostCreate(fixture)
    try fixture.save(["_id": .string(id), "n": 2])
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 1))
    #expect(fixture.backendValue(id, "n") == 2)
    #expect(fixture.remote.backend.ids.count == 1)
  }

  @Test("does not touch what somebody else made under the same id") func foreignEntity() throws {
    let fixture = try TestEngine()
    let id = try fixture.save(["n": 1]).id
    _ = try fixture.remote.backend.create(Array(#"{"_id":"\#(id)","n":9}"#.utf8), by: "bob")
    let result = try fixture.engine.push(Call())
    #expect(result.errors.map(\.kind) == [.conflict])
    #expect(fixture.backendValue(id, "n") == 9)
    #expect(try fixture.engine.pendingCount() == 1)
  }

  @Test("deletes on the backend what was deleted here after a create without an answer")
  func deletedAfterLostCreate() throws {
    let fixture = try TestEngine()
    let id = try lostCreate(fixture)
    _ = try fixture.engine.remove(id: id, options: fixture.options())
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 1))
    #expect(fixture.remote.backend.ids.isEmpty)
  }

  // MARK: One at a time

  @Test("waits for another push of the collection, and for no longer than its time")
  func oneAtATime() throws {
    let fixture = try TestEngine()
    try fixture.save(["n": 1])
    var second: StoreError?
    let engine = fixture.engine
    fixture.remote.meanwhile = {
      fixture.remote.meanwhile = {}
      // On a thread of its own: the push that waits would wait for this one.
      let results = concurrently(1) { _ in
        failure { _ = try engine.push(Call(deadline: .after(seconds: 0.05))) }
      }
      second = results.first
    }
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 1))
    #expect(second?.kind == .timeout)
  }

  @Test("can be cancelled, and knows what the backend accepted") func cancelled() throws {
    let fixture = try TestEngine()
    for n in 0..<10 { try fixture.save(["_id": .string("id\(n)")]) }
    let call = Call()
    fixture.remote.meanwhile = { call.cancellation.cancel() }
    #expect(failure { _ = try fixture.engine.push(call) }?.kind == .cancelled)
    #expect(fixture.remote.backend.ids.count == 1)
    #expect(try fixture.engine.pendingCount() == 9)
  }
}
