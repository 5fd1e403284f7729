import KVBase
import KVCallback
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("A backend of callbacks") struct CallbackRemoteTests {
  @Test("is pushed to and pulled from, page by page") func syncs() throws {
    let fixture = try TestEngine()
    for n in 0..<5 { fixture.backend.put(["_id": .string("b\(n)"), "n": .int(Int64(n))]) }
    try fixture.save(["_id": "a", "n": 9])
    #expect(try fixture.engine.push(Call()) == PushResult(pushed: 1))
    #expect(fixture.backend.state.withLock { $0.records["a"]?["n"] } == 9)
    _ = try fixture.engine.pull(Query(), Call())
    #expect(try fixture.found(nil, #"{"sort":{"n":1}}"#) == ["0", "1", "2", "3", "4", "9"])
    #expect(fixture.backend.requests.count(where: { $0.operation == .fetch }) == 3)
  }

  @Test("deletes here what others have deleted there") func pullsDeletions() throws {
    let fixture = try TestEngine()
    fixture.backend.put(["_id": "a", "n": 1])
    fixture.backend.put(["_id": "b", "n": 2])
    _ = try fixture.engine.pull(Query(), Call())
    fixture.backend.delete("a")
    _ = try fixture.engine.pull(Query(), Call())
    #expect(try fixture.found() == ["2"])
  }

  @Test("gives what has changed since the last time, also what has left a query")
  func changes() throws {
    let fixture = try TestEngine()
    let how = CollectionEngine.Refreshing(usesChanges: true)
    let small = try Query(filter: #"{"n":{"$lt":5}}"#)
    for n in 0..<4 { fixture.backend.put(["_id": .string("\(n)"), "n": .int(Int64(n))]) }
    _ = try fixture.engine.pull(small, Call(), how: how)
    fixture.backend.put(["_id": "0", "n": 7])
    fixture.backend.put(["_id": "4", "n": 4])
    fixture.backend.delete("1")
    let before = fixture.backend.requests.count
    _ = try fixture.engine.pull(small, Call(), how: how)
    #expect(fixture.backend.requests.dropFirst(before).map(\.operation) == [.changes])
    #expect(try fixture.found(nil, #"{"sort":{"n":1}}"#) == ["2", "3", "4"])
  }

  @Test(
    "is read in pages: one that failed is asked for again by itself, and the first has the token")
  func pages() throws {
    let fixture = try TestEngine()
    for n in 0..<5 { fixture.backend.put(["_id": .string("b\(n)"), "n": .int(Int64(n))]) }
    let failures = Monitor(1)
    fixture.backend.intercept { operation, number, request in
      guard operation == .fetch, request["after"] == "b1",
        failures.withLockNotifyingAll({ left in
          left -= 1
          return left >= 0
        })
      else { return false }
      let error = StoreError(.network, "Away.")
      return PendingRequests.complete(number, failing: error) == .accepted
    }
    let call = Call(retry: Retry(limit: 1, clock: FakeRetryClock()))
    let how = CollectionEngine.Refreshing(paging: .pages(of: 2, ranges: 3), usesChanges: true)
    #expect(try fixture.engine.pull(Query(), call, how: how) == PullResult(pulled: 5))
    let tokens = fixture.backend.requests.filter { $0.operation == .fetch }.map {
      $0.request["after"]
    }
    #expect(tokens == [.null, "b1", "b1", "b3"])
    fixture.backend.delete("b0")
    #expect(try fixture.engine.pull(Query(), call, how: how) == PullResult(removed: 1))
    #expect(fixture.backend.requests.last?.operation == .changes)
  }

  @Test("is asked for changes since the first page, also if that was empty") func emptyPage() throws
  {
    let fixture = try TestEngine()
    fixture.backend.put(["_id": "b", "n": 1])
    fixture.backend.intercept { [unowned backend = fixture.backend] operation, number, request in
      guard operation == .fetch, request["after"] == .null else { return false }
      let first = #"{"records":[],"next":"a","token":"1"}"#
      guard complete(number, first) == .accepted else { return false }
      backend.put(["_id": "c", "n": 2])
      return true
    }
    let how = CollectionEngine.Refreshing(paging: .pages(of: 2), usesChanges: true)
    for _ in 0..<2 { _ = try fixture.engine.pull(Query(), Call(), how: how) }
    #expect(fixture.backend.requests.last?.request["since"] == "1")
  }

  @Test("is read whole where it does not know the token") func unknownToken() throws {
    let fixture = try TestEngine()
    let how = CollectionEngine.Refreshing(usesChanges: true)
    fixture.backend.put(["_id": "a", "n": 1])
    _ = try fixture.engine.pull(Query(), Call(), how: how)
    fixture.backend.intercept { operation, number, _ in
      operation == .changes && complete(number, #"{"unknown":true}"#) == .accepted
    }
    fixture.backend.put(["_id": "b", "n": 2])
    _ = try fixture.engine.pull(Query(), Call(), how: how)
    #expect(try fixture.found(nil, #"{"sort":{"n":1}}"#) == ["1", "2"])
  }

  @Test("need not evaluate queries: filter, order, page and fields are evaluated here")
  func finishes() throws {
    let fixture = try TestEngine(type: .network)
    for n in 0..<6 { fixture.backend.put(["_id": .string("\(n)"), "n": .int(Int64(n)), "m": 1]) }
    let found = try fixture.found(
      #"{"n":{"$gte":1}}"#, #"{"sort":{"n":-1},"skip":1,"limit":2,"fields":["n"]}"#,
      policy: .forceNetwork)
    #expect(found == ["4", "3"])
    let request = try #require(fixture.backend.requests.first?.request)
    #expect(request["filter"] == ["n": ["$gte": 1]])
    #expect(request["sort"] == nil && request["limit"] == nil)
  }

  @Test("may evaluate them") func evaluates() throws {
    let fixture = try TestEngine(MemoryBackend(), ["queries": true], type: .network)
    fixture.backend.intercept { operation, number, _ in
      complete(number, #"{"records":[{"_id":"x","n":3}]}"#) == .accepted
    }
    #expect(
      try fixture.found(#"{"n":4}"#, #"{"sort":{"n":-1},"limit":2}"#, policy: .forceNetwork) == [
        "3"
      ])
    let request = try #require(fixture.backend.requests.first?.request)
    #expect(request["sort"] == ["n": -1] && request["limit"] == 2)
  }

  @Test(
    "without versions is written over, whatever the strategy", arguments: ConflictStrategy.allCases)
  func versionless(_ strategy: ConflictStrategy) throws {
    let fixture = try TestEngine()
    fixture.backend.put(["_id": "a", "n": 1])
    _ = try fixture.engine.pull(Query(), Call())
    try fixture.save(["_id": "a", "n": 2])
    #expect(try fixture.engine.push(Call(conflicts: strategy)) == PushResult(pushed: 1))
    #expect(fixture.backend.state.withLock { $0.records["a"]?["n"] } == 2)
  }

  @Test("is asked for what a query names, not for everything") func namedIDs() throws {
    let fixture = try TestEngine(type: .network)
    for id in ["a", "b", "c"] { fixture.backend.put(["_id": .string(id), "n": 1]) }
    #expect(
      try fixture.found(#"{"_id":{"$in":["a","c","a"]}}"#, nil, policy: .forceNetwork) == [
        "1", "1",
      ])
    #expect(fixture.backend.requests.map(\.operation) == [.fetchIDs])
  }

  @Test("answers each write of a batch: stored, refused, in conflict, later") func results() throws
  {
    let fixture = try TestEngine()
    for id in ["fine", "poison", "taken", "later"] {
      try fixture.save(["_id": .string(id), "n": 1])
    }
    fixture.backend.intercept { operation, number, request in
      guard operation == .write else { return false }
      let results = (request["writes"]?.arrayValue ?? []).map { write -> JSONValue in
        switch write["id"]?.stringValue {
        case "poison": ["refused": ["message": "No.", "status": 16]]
        case "taken": ["conflict": .null]
        case "later": ["later": ["message": "Not now.", "after": 0]]
        default: ["stored": write["record"] ?? .null]
        }
      }
      return complete(number, JSONValue.object(["results": .array(results)]).text) == .accepted
    }
    let result = try fixture.engine.push(Call())
    #expect(result.pushed == 1)
    #expect(Set(result.errors.map(\.id)) == ["poison", "taken", "later"])
    #expect(try fixture.engine.pending("poison").write.state == .refused)
    #expect(result.errors.first { $0.id == "poison" }?.kind == .forbidden)
    #expect(try fixture.engine.pending("later").write.state == .waiting)
  }
}
