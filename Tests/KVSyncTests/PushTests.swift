import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("A push") struct PushTests {
  @Test("joins creates to requests of at most 100, and sends the rest one by one") func batches()
    throws
  {
    let bench = try TestEngine()
    try bench.publish(["_id": "old", "n": 0], ["_id": "gone", "n": 0])
    _ = try bench.engine.pull(Query(), Call())
    _ = try bench.saveMany((0..<250).map { ["n": .int($0)] })
    try bench.save(["_id": "old", "n": 1])
    _ = try bench.engine.remove(id: "gone", bench.options())
    #expect(try bench.engine.push(Call()) == PushResult(pushed: 252))
    let creates = bench.remote.requests.compactMap { request -> Int? in
      if case .createMany(let bodies) = request { bodies.count } else { nil }
    }
    #expect(creates == [100, 100, 50])
    #expect(bench.remote.requests.count == 5)
    #expect(bench.remote.backend.ids.count == 251)
    #expect(try bench.engine.pendingCount() == 0)
  }

  @Test("joins writes of every kind where the backend takes them so, in their order")
  func mixedBatches() throws {
    let bench = try TestEngine()
    bench.remote.limits.writesPerBatch = 500
    try bench.publish(["_id": "old", "n": 0], ["_id": "gone", "n": 0])
    _ = try bench.engine.pull(Query(), Call())
    try bench.save(["_id": "old", "n": 1])
    _ = try bench.saveMany((0..<120).map { ["_id": .string("id\($0)"), "n": .int($0)] })
    _ = try bench.engine.remove(id: "gone", bench.options())
    _ = try bench.saveMany((0..<30).map { ["n": .int($0)] })
    #expect(
      try bench.engine.push(Call(conflicts: .optimistic)) == PushResult(pushed: 152))
    let batches = bench.remote.requests.compactMap { request -> [RemoteWrite]? in
      if case .batch(let writes) = request { writes } else { nil }
    }
    // At most 100 to a request, and the first page is of 100 writes.
    #expect(batches.map(\.count) == [100, 52])
    #expect(bench.remote.requests.count == 2)
    guard case .update("old", _, .version) = batches[0][0] else {
      Issue.record("not an update: \(batches[0][0])")
      return
    }
    #expect(bench.remote.backend.ids.count == 151)
    #expect(bench.backendValue("old", "n") == 1)
    #expect(try bench.engine.pendingCount() == 0)
  }

  @Test("settles each write of a batch as if it had gone alone")
  func batchResults() throws {
    let bench = try TestEngine()
    bench.remote.limits.writesPerBatch = 100
    try bench.publish(["_id": "a", "n": 0], ["_id": "b", "n": 0], ["_id": "c", "n": 0])
    _ = try bench.engine.pull(Query(), Call())
    for id in ["a", "b"] { try bench.save(["_id": .string(id), "n": 1]) }
    try bench.save(["_id": "bad", "poison": true])
    _ = try bench.engine.remove(id: "c", bench.options())
    try bench.publish(["_id": "b", "n": 7])
    _ = bench.remote.backend.delete("c")
    let result = try bench.engine.push(Call(conflicts: .optimistic))
    #expect(result.pushed == 2)
    #expect(result.errors.map(\.id) == ["b", "bad"])
    #expect(result.errors.map(\.kind) == [.conflict, .invalid])
    #expect(result.errors.map(\.index) == [1, 2])
    #expect(try bench.engine.pending(after: nil, most: 0).map(\.state) == [.conflict, .refused])
    #expect(bench.backendValue("a", "n") == 1 && bench.backendValue("b", "n") == 7)
  }

  @Test("of a batch whose answer is lost does everything once, and loses nothing")
  func lostBatch() throws {
    for strategy in ConflictStrategy.allCases {
      let bench = try TestEngine()
      bench.remote.limits.writesPerBatch = 100
      try bench.publish(["_id": "old", "n": 0], ["_id": "gone", "n": 0])
      _ = try bench.engine.pull(Query(), Call())
      try bench.save(["_id": "old", "n": 1])
      try bench.save(["_id": "own", "n": 1])
      let made = try bench.save(["n": 1]).id
      _ = try bench.engine.remove(id: "gone", bench.options())
      bench.remote.losesAnswer = { _ in true }
      #expect(throws: StoreError.self) { try bench.engine.push(Call(conflicts: strategy)) }
      bench.remote.losesAnswer = { _ in false }
      try bench.save(["_id": "old", "n": 2])
      let result = try bench.engine.push(Call(conflicts: strategy))
      #expect(result.errors.isEmpty && result.pushed == 4, "\(strategy): \(result)")
      #expect(bench.remote.backend.ids == ["old", "own", made], "\(strategy)")
      #expect(bench.backendValue("old", "n") == 2, "\(strategy)")
      #expect(try bench.engine.pendingCount() == 0)
    }
  }

  @Test("sends one by one what was refused as a batch, and goes on without batches")
  func refusedBatch() throws {
    for kind in [StoreError.Kind.unsupported, .tooLarge, .invalid] {
      let bench = try TestEngine()
      bench.remote.limits.writesPerBatch = 100
      bench.remote.refusal = { [weak remote = bench.remote] write in
        guard case .batch = write else { return nil }
        if kind == .unsupported { remote?.limits.writesPerBatch = 1 }
        var error = StoreError(kind, "No.")
        if kind == .tooLarge { error.statedClass = .refused }
        return error
      }
      _ = try bench.saveMany((0..<150).map { ["_id": .string("id\($0)"), "n": .int($0)] })
      #expect(try bench.engine.push(Call()) == PushResult(pushed: 150))
      #expect(bench.remote.requests.count == (kind == .unsupported ? 151 : 152))
    }
  }

  @Test("bounds the bytes of a request, too") func largeEntities() throws {
    let bench = try TestEngine()
    let text = JSONValue.string(String(repeating: "x", count: 1 << 20))
    _ = try bench.saveMany((0..<10).map { ["n": .int($0), "text": text] })
    #expect(try bench.engine.push(Call()) == PushResult(pushed: 10))
    for request in bench.remote.requests {
      #expect(request.bodies.reduce(0) { $0 + $1.count } <= 4 << 20)
    }
  }

  @Test("reports what was refused with its id and place; it stays, and holds up nothing")
  func refused() throws {
    let bench = try TestEngine()
    _ = try bench.saveMany([["n": 0], ["n": 1, "poison": true], ["n": 2]])
    let result = try bench.engine.push(Call())
    #expect(result.pushed == 2)
    #expect(result.errors.map(\.index) == [1])
    let left = try bench.engine.pending(after: nil, most: 0)
    #expect(left.map(\.id) == result.errors.map(\.id))
    #expect(left.first?.attempts == 1)
    #expect(left.first?.lastError?.contains("Poison") == true)
  }

  @Test("goes on behind an entity on which the connection breaks") func poisoned() throws {
    let bench = try TestEngine()
    for n in 0..<5 { try bench.save(["_id": .string("id\(n)"), "n": .int(Int64(n))]) }
    bench.remote.refusal = { $0.mentions(#""n":1"#) ? ScriptedRemote.error(.network) : nil }
    let result = try bench.engine.push(Call())
    #expect(result.pushed == 4)
    #expect(result.errors.map(\.kind) == [.network])
    #expect(result.errors.map(\.id) == ["id1"])
  }

  @Test("knows the place of what had no answer, also when the answer that follows is pages later")
  func poisonedEndOfPage() throws {
    let bench = try TestEngine()
    _ = try bench.saveMany((0..<510).map { ["_id": .string("id\($0)"), "n": .int($0)] })
    bench.remote.refusal = { $0.mentions(#""n":499}"#) ? ScriptedRemote.error(.network) : nil }
    let result = try bench.engine.push(Call())
    #expect(result.pushed == 509)
    #expect(result.errors.map(\.index) == [499])
  }

  @Test("sends creates alone that were refused together") func refusedTogether() throws {
    let bench = try TestEngine()
    bench.remote.refusal = { request in
      request.bodies.count > 1 ? ScriptedRemote.error(.tooLarge, 413) : nil
    }
    _ = try bench.saveMany((0..<3).map { ["n": .int($0)] })
    #expect(try bench.engine.push(Call()) == PushResult(pushed: 3))
    #expect(bench.remote.requests.count == 4)
  }

  @Test("stops when nobody answers, and keeps what was accepted before") func offline() throws {
    let bench = try TestEngine()
    for n in 0..<50 { try bench.save(["_id": .string("id\(n)"), "n": .int(Int64(n))]) }
    bench.remote.refusal = { [remote = bench.remote] _ in
      remote.requests.count > 10 ? ScriptedRemote.error(.network) : nil
    }
    #expect(failure { _ = try bench.engine.push(Call()) }?.kind == .network)
    #expect(bench.remote.requests.count < 20)
    #expect(bench.remote.backend.ids.count == 10)
    #expect(try bench.engine.pendingCount() == 40)
    bench.remote.refusal = { _ in nil }
    #expect(try bench.engine.push(Call()) == PushResult(pushed: 40))
  }

  @Test("stops at once when the session has ended, and loses nothing") func unauthorized() throws {
    let bench = try TestEngine()
    for n in 0..<20 { try bench.save(["_id": .string("id\(n)")]) }
    bench.remote.refusal = { _ in ScriptedRemote.error(.unauthorized, 401) }
    #expect(failure { _ = try bench.engine.push(Call()) }?.kind == .unauthorized)
    #expect(bench.remote.requests.count == 1)
    #expect(try bench.engine.pendingCount() == 20)
  }

  @Test("needs a user before it sends anything") func noUser() throws {
    let bench = try TestEngine(isLoggedIn: false)
    try bench.save(["n": 1])
    #expect(failure { _ = try bench.engine.push(Call()) }?.kind == .noUser)
    #expect(bench.remote.requests.isEmpty)
  }

  @Test("leaves a change alone that was made while it was under way") func savedMeanwhile() throws {
    let bench = try TestEngine()
    let id = try bench.save(["n": 1]).id
    bench.remote.meanwhile = {
      bench.remote.meanwhile = {}
      _ = try? bench.save(["_id": .string(id), "n": 2])
    }
    #expect(try bench.engine.push(Call()).pushed == 1)
    #expect(bench.backendValue(id, "n") == 1)
    #expect(try bench.local("n") == ["2"])
    #expect(try bench.engine.pending(id).write.operation == .update)
    #expect(try bench.engine.push(Call()).pushed == 1)
    #expect(bench.backendValue(id, "n") == 2)
  }

  @Test("counts a deletion of what is not there as done") func deletedElsewhere() throws {
    let bench = try TestEngine()
    try bench.publish(["_id": "a"])
    _ = try bench.engine.pull(Query(), Call())
    _ = try bench.engine.remove(id: "a", bench.options())
    _ = bench.remote.backend.delete("a")
    #expect(try bench.engine.push(Call()) == PushResult(pushed: 1))
  }

  // MARK: Creates that were sent before

  /// Saves something whose create arrives, while its answer does not.
  private func lostCreate(_ bench: TestEngine) throws -> String {
    let id = try bench.save(["n": 1]).id
    bench.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try bench.engine.push(Call()) }?.kind == .network)
    bench.remote.losesAnswer = { _ in false }
    #expect(try bench.engine.pendingCount() == 1)
    return id
  }

  @Test("recognises its own create, and takes over what others made of it since")
  func ownCreateChangedByOthers() throws {
    let bench = try TestEngine()
    let id = try lostCreate(bench)
    _ = try bench.remote.backend.replace(Array(#"{"_id":"\#(id)","n":7}"#.utf8), id, by: "bob")
    #expect(try bench.engine.push(Call()) == PushResult(pushed: 1))
    #expect(try bench.local("n") == ["7"])
    #expect(bench.backendValue(id, "n") == 7)
    #expect(bench.remote.backend.ids.count == 1)
  }

  @Test("sends what was changed here since its create as an update") func ownCreateChangedHere()
    throws
  {
    let bench = try TestEngine()
    let id = try lostCreate(bench)
    try bench.save(["_id": .string(id), "n": 2])
    #expect(try bench.engine.push(Call()) == PushResult(pushed: 1))
    #expect(bench.backendValue(id, "n") == 2)
    #expect(bench.remote.backend.ids.count == 1)
  }

  @Test("does not touch what somebody else made under the same id") func foreignEntity() throws {
    let bench = try TestEngine()
    let id = try bench.save(["n": 1]).id
    _ = try bench.remote.backend.create(Array(#"{"_id":"\#(id)","n":9}"#.utf8), by: "bob")
    let result = try bench.engine.push(Call())
    #expect(result.errors.map(\.kind) == [.conflict])
    #expect(bench.backendValue(id, "n") == 9)
    #expect(try bench.engine.pendingCount() == 1)
  }

  @Test("deletes on the backend what was deleted here after a create without an answer")
  func deletedAfterLostCreate() throws {
    let bench = try TestEngine()
    let id = try lostCreate(bench)
    _ = try bench.engine.remove(id: id, bench.options())
    #expect(try bench.engine.push(Call()) == PushResult(pushed: 1))
    #expect(bench.remote.backend.ids.isEmpty)
  }

  // MARK: One at a time

  @Test("waits for another push of the collection, and for no longer than its time")
  func oneAtATime() throws {
    let bench = try TestEngine()
    try bench.save(["n": 1])
    var second: StoreError?
    let engine = bench.engine
    bench.remote.meanwhile = {
      bench.remote.meanwhile = {}
      // On a thread of its own: the push that waits would wait for this one.
      let results = concurrently(1) { _ in
        failure { _ = try engine.push(Call(deadline: .after(seconds: 0.05))) }
      }
      second = results.first
    }
    #expect(try bench.engine.push(Call()) == PushResult(pushed: 1))
    #expect(second?.kind == .timeout)
  }

  @Test("can be cancelled, and knows what the backend accepted") func cancelled() throws {
    let bench = try TestEngine()
    for n in 0..<10 { try bench.save(["_id": .string("id\(n)")]) }
    let call = Call()
    bench.remote.meanwhile = { call.cancellation.cancel() }
    #expect(failure { _ = try bench.engine.push(call) }?.kind == .cancelled)
    #expect(bench.remote.backend.ids.count == 1)
    #expect(try bench.engine.pendingCount() == 9)
  }
}
