import KVJSON
import KVQuery
import KVStorage
import KVSync
import Testing

@Suite("What several queries hold") struct HoldingTests {
  private func query(_ filter: String) throws -> Query { try Query(filter: filter) }

  /// `a` is in both of two queries that were read, and is then changed on the backend.
  private func scene(changedTo entity: JSONObject?) throws -> TestEngine {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1, "m": 1], ["_id": "b", "n": 1, "m": 2])
    _ = try bench.engine.pull(try query(#"{"n":1}"#), Call())
    _ = try bench.engine.pull(try query(#"{"m":1}"#), Call())
    if let entity { try bench.publish(entity) } else { _ = bench.remote.backend.delete("a") }
    return bench
  }

  @Test(
    "what has left one query stays for the other, as it is now",
    arguments: [CollectionEngine.Paging.off, .pages(of: 1, ranges: 1)])
  func kept(_ paging: CollectionEngine.Paging) throws {
    let bench = try scene(changedTo: ["_id": "a", "n": 2, "m": 1])
    let result = try bench.engine.pull(try query(#"{"n":1}"#), Call(), .init(paging: paging))
    #expect(result.removed == 0)
    #expect(try bench.found(try query(#"{"m":1}"#)).map { $0["n"] } == [2])
  }

  @Test("what has left both goes, and so does what was deleted") func gone() throws {
    for entity: JSONObject? in [["_id": "a", "n": 2, "m": 2], nil] {
      let bench = try scene(changedTo: entity)
      #expect(try bench.engine.pull(try query(#"{"n":1}"#), Call()).removed == 1)
      #expect(try bench.local("_id") == ["\"b\""])
    }
  }

  @Test("nobody is asked where no other query was read") func alone() throws {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1])
    _ = try bench.engine.pull(try query(#"{"n":1}"#), Call())
    try bench.publish(["_id": "a", "n": 2])
    let before = bench.remote.queries.count
    #expect(try bench.engine.pull(try query(#"{"n":1}"#), Call()).removed == 1)
    #expect(bench.remote.queries.count == before + 1)
  }

  @Test("if asking fails, nothing goes") func offline() throws {
    let bench = try scene(changedTo: ["_id": "a", "n": 2, "m": 1])
    bench.remote.readEnd = { [weak remote = bench.remote] in
      let isForIds = remote?.queries.last?.filterText.contains("$in") == true
      return isForIds ? ScriptedRemote.error(.network) : nil
    }
    #expect(failure { _ = try bench.engine.pull(try query(#"{"n":1}"#), Call()) }?.kind == .network)
    #expect(try bench.local("_id") == ["\"a\"", "\"b\""])
  }
}

@Suite("Changes without a history") struct ComparingTests {
  private let how = CollectionEngine.Refreshing(comparesVersions: true)

  private func scene(_ count: Int) throws -> TestEngine {
    let bench = try TestEngine()
    for n in 0..<count {
      try bench.publish(["_id": .string("id\(1000 + n)"), "n": .int(Int64(n))])
    }
    _ = try bench.engine.pull(Query(), Call())
    return bench
  }

  /// How many ids each fetch asked for.
  private func fetches(_ bench: TestEngine, after count: Int) -> [Int] {
    bench.remote.queries.dropFirst(count).compactMap { query in
      guard query.fields.isEmpty, query.filterText.contains("$in") else { return nil }
      return query.filterText.split(separator: ",").count
    }
  }

  @Test("fetch what differs, and no more") func differs() throws {
    let bench = try scene(500)
    try bench.publish(
      ["_id": "id1007", "n": -7], ["_id": "id1400", "n": -400], ["_id": "new", "n": 1])
    _ = bench.remote.backend.delete("id1100")
    let before = bench.remote.queries.count
    let result = try bench.engine.pull(Query(), Call(), how)
    #expect(result == PullResult(pulled: 3, removed: 1))
    #expect(fetches(bench, after: before) == [3])
    #expect(try bench.found().count == 500)
    #expect(try bench.found(try Query(filter: #"{"n":{"$lt":0}}"#)).count == 2)
    #expect(try bench.engine.pull(Query(), Call(), how) == PullResult())
  }

  @Test("100 at a time, and pages of ids") func batches() throws {
    let bench = try scene(1000)
    for n in 100..<550 { try bench.publish(["_id": .string("id\(1000 + n)"), "n": -1]) }
    let before = bench.remote.queries.count
    var paged = how
    paged.paging = .pages(of: 600, ranges: 3)
    #expect(try bench.engine.pull(Query(), Call(), paged) == PullResult(pulled: 450))
    #expect(fetches(bench, after: before) == [100, 100, 100, 100, 50])
    let lists = bench.remote.queries.dropFirst(before).filter { !$0.fields.isEmpty }
    #expect(lists.map(\.limit) == [600, 600, 600])
  }

  @Test("nothing has changed: one request") func unchanged() throws {
    let bench = try scene(50)
    let before = bench.remote.queries.count
    bench.remote.duringCount = { Issue.record("counted") }
    #expect(try bench.engine.pull(Query(), Call(), how) == PullResult())
    #expect(bench.remote.queries.count == before + 1)
    try bench.publish(["_id": "id1007", "n": 8])
    #expect(try bench.engine.pull(Query(), Call(), how) == PullResult(pulled: 1))
    #expect(bench.remote.queries.count == before + 3)
  }

  @Test("all differ: one ordinary read") func allDiffer() throws {
    let bench = try scene(50)
    for n in 0..<50 { try bench.publish(["_id": .string("id\(1000 + n)"), "n": -1]) }
    let before = bench.remote.queries.count
    #expect(try bench.engine.pull(Query(), Call(), how) == PullResult(pulled: 50))
    #expect(bench.remote.queries.count == before + 2)
  }

  @Test("nothing is here yet: one ordinary read") func first() throws {
    let bench = try TestEngine()
    try bench.publish(["_id": "a"])
    #expect(try bench.engine.pull(Query(), Call(), how) == PullResult(pulled: 1))
    #expect(bench.remote.queries.count == 1)
  }

  @Test("of a filter concern that filter only") func filtered() throws {
    let bench = try scene(10)
    let few = try Query(filter: #"{"n":{"$lt":5}}"#)
    try bench.publish(["_id": "id1001", "n": 100], ["_id": "id1008", "n": 800])
    #expect(try bench.engine.pull(few, Call(), how).removed == 0)
    // It left the filter, but everything was read before: as it is now, it is held by that.
    #expect(try bench.found(try Query(filter: #"{"n":100}"#)).count == 1)
    #expect(try bench.found(try Query(filter: #"{"n":800}"#)).isEmpty)
  }

  @Test("leave what was set aside alone") func pending() throws {
    let bench = try scene(3)
    try bench.save(["_id": "id1001", "n": 7, "poison": true])
    bench.remote.refusal = { $0.mentions("poison") ? ScriptedRemote.error(.invalid, 400) : nil }
    _ = try bench.engine.push(Call())
    try bench.publish(["_id": "id1001", "n": 8])
    #expect(try bench.engine.pull(Query(), Call(), how) == PullResult())
    #expect(try bench.local("n") == ["0", "2", "7"])
    #expect(try bench.engine.pending("id1001").theirs != nil)
  }
}
