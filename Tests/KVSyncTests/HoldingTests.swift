import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVWorlds
import Testing

@Suite("What several queries hold") struct HoldingTests {
  private func query(_ filter: String) throws -> Query { try Query(filter: filter) }

  /// `a` is in both of two queries that were read, and is then changed on the backend.
  private func scene(changedTo entity: JSONObject?) throws -> TestEngine {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1, "m": 1], ["_id": "b", "n": 1, "m": 2])
    _ = try fixture.engine.pull(try query(#"{"n":1}"#), Call())
    _ = try fixture.engine.pull(try query(#"{"m":1}"#), Call())
    if let entity { try fixture.publish(entity) } else { _ = fixture.remote.backend.delete("a") }
    return fixture
  }

  @Test(
    "what has left one query stays for the other, as it is now",
    arguments: [CollectionEngine.Paging.off, .pages(of: 1, ranges: 1)])
  func kept(_ paging: CollectionEngine.Paging) throws {
    let fixture = try scene(changedTo: ["_id": "a", "n": 2, "m": 1])
    let result = try fixture.engine.pull(try query(#"{"n":1}"#), Call(), how: .init(paging: paging))
    #expect(result.removed == 0)
    #expect(try fixture.found(try query(#"{"m":1}"#)).map { $0["n"] } == [2])
  }

  @Test("what has left both goes, and so does what was deleted") func gone() throws {
    for entity: JSONObject? in [["_id": "a", "n": 2, "m": 2], nil] {
      let fixture = try scene(changedTo: entity)
      #expect(try fixture.engine.pull(try query(#"{"n":1}"#), Call()).removed == 1)
      #expect(try fixture.local("_id") == ["\"b\""])
    }
  }

  @Test("nobody is asked where no other query was read") func alone() throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1])
    _ = try fixture.engine.pull(try query(#"{"n":1}"#), Call())
    try fixture.publish(["_id": "a", "n": 2])
    let before = fixture.remote.queries.count
    #expect(try fixture.engine.pull(try query(#"{"n":1}"#), Call()).removed == 1)
    #expect(fixture.remote.queries.count == before + 1)
  }

  @Test("if asking fails, nothing goes") func offline() throws {
    let fixture = try scene(changedTo: ["_id": "a", "n": 2, "m": 1])
    fixture.remote.readEnd = { [weak remote = fixture.remote] in
      let isForIds = remote?.queries.last?.filterText.contains("$in") == true
      return isForIds ? ScriptedRemote.error(.network) : nil
    }
    #expect(
      failure { _ = try fixture.engine.pull(try query(#"{"n":1}"#), Call()) }?.kind == .network)
    #expect(try fixture.local("_id") == ["\"a\"", "\"b\""])
  }
}

@Suite("Changes without a history") struct ComparingTests {
  private let how = CollectionEngine.Refreshing(comparesVersions: true)

  private func scene(_ count: Int) throws -> TestEngine {
    let fixture = try TestEngine()
    for n in 0..<count {
      try fixture.publish(["_id": .string("id\(1000 + n)"), "n": .int(Int64(n))])
    }
    _ = try fixture.engine.pull(Query(), Call())
    return fixture
  }

  /// How many ids each fetch asked for.
  private func fetches(_ fixture: TestEngine, after count: Int) -> [Int] {
    fixture.remote.queries.dropFirst(count).compactMap { query in
      guard query.fields.isEmpty, query.filterText.contains("$in") else { return nil }
      return query.filterText.split(separator: ",").count
    }
  }

  @Test("fetch what differs, and no more") func differs() throws {
    let fixture = try scene(500)
    try fixture.publish(
      ["_id": "id1007", "n": -7], ["_id": "id1400", "n": -400], ["_id": "new", "n": 1])
    _ = fixture.remote.backend.delete("id1100")
    let before = fixture.remote.queries.count
    let result = try fixture.engine.pull(Query(), Call(), how: how)
    #expect(result == PullResult(pulled: 3, removed: 1))
    #expect(fetches(fixture, after: before) == [3])
    #expect(try fixture.found().count == 500)
    #expect(try fixture.found(try Query(filter: #"{"n":{"$lt":0}}"#)).count == 2)
    #expect(try fixture.engine.pull(Query(), Call(), how: how) == PullResult())
  }

  @Test("100 at a time, and pages of ids") func batches() throws {
    let fixture = try scene(1000)
    for n in 100..<550 { try fixture.publish(["_id": .string("id\(1000 + n)"), "n": -1]) }
    let before = fixture.remote.queries.count
    var paged = how
    paged.paging = .pages(of: 600, ranges: 3)
    #expect(try fixture.engine.pull(Query(), Call(), how: paged) == PullResult(pulled: 450))
    #expect(fetches(fixture, after: before) == [100, 100, 100, 100, 50])
    let lists = fixture.remote.queries.dropFirst(before).filter { !$0.fields.isEmpty }
    #expect(lists.map(\.limit) == [600, 600, 600])
  }

  @Test("nothing has changed: one request") func unchanged() throws {
    let fixture = try scene(50)
    let before = fixture.remote.queries.count
    fixture.remote.duringCount = { Issue.record("counted") }
    #expect(try fixture.engine.pull(Query(), Call(), how: how) == PullResult())
    #expect(fixture.remote.queries.count == before + 1)
    try fixture.publish(["_id": "id1007", "n": 8])
    #expect(try fixture.engine.pull(Query(), Call(), how: how) == PullResult(pulled: 1))
    #expect(fixture.remote.queries.count == before + 3)
  }

  @Test("all differ: one ordinary read") func allDiffer() throws {
    let fixture = try scene(50)
    for n in 0..<50 { try fixture.publish(["_id": .string("id\(1000 + n)"), "n": -1]) }
    let before = fixture.remote.queries.count
    #expect(try fixture.engine.pull(Query(), Call(), how: how) == PullResult(pulled: 50))
    #expect(fixture.remote.queries.count == before + 2)
  }

  @Test("nothing is here yet: one ordinary read") func first() throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a"])
    #expect(try fixture.engine.pull(Query(), Call(), how: how) == PullResult(pulled: 1))
    #expect(fixture.remote.queries.count == 1)
  }

  @Test("of a filter concern that filter only") func filtered() throws {
    let fixture = try scene(10)
    let few = try Query(filter: #"{"n":{"$lt":5}}"#)
    try fixture.publish(["_id": "id1001", "n": 100], ["_id": "id1008", "n": 800])
    #expect(try fixture.engine.pull(few, Call(), how: how).removed == 0)
    // It left the filter, but everything was read before: as it is now, it is held by that.
    #expect(try fixture.found(try Query(filter: #"{"n":100}"#)).count == 1)
    #expect(try fixture.found(try Query(filter: #"{"n":800}"#)).isEmpty)
  }

  @Test("leave what was set aside alone") func pending() throws {
    let fixture = try scene(3)
    try fixture.save(["_id": "id1001", "n": 7, "poison": true])
    fixture.remote.refusal = { $0.mentions("poison") ? ScriptedRemote.error(.invalid, 400) : nil }
    _ = try fixture.engine.push(Call())
    try fixture.publish(["_id": "id1001", "n": 8])
    #expect(try fixture.engine.pull(Query(), Call(), how: how) == PullResult())
    #expect(try fixture.local("n") == ["0", "2", "7"])
    #expect(try fixture.engine.pending("id1001").theirs != nil)
  }
}
