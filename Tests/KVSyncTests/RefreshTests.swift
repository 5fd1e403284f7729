import KVBase
import KVJSON
import KVQuery
import KVSync
import KVWorlds
import Testing

@Suite("A pull") struct RefreshTests {
  private func pull(
    _ fixture: TestEngine, _ filter: String? = nil, modifiers: String? = nil,
    paging: CollectionEngine.Paging = .off
  ) throws -> PullResult {
    try fixture.engine.pull(
      try Query(filter: filter, modifiers: modifiers), Call(), how: .init(paging: paging))
  }

  @Test("does not run over pending writes, and says how many there are") func pending() throws {
    let fixture = try TestEngine()
    try fixture.save(["n": 1])
    try fixture.save(["n": 2])
    let error = failure { _ = try pull(fixture) }
    #expect(error?.kind == .pending)
    #expect(error?.message.hasPrefix("2 ") == true)
  }

  @Test("removes what the backend no longer has, as far as the query reaches") func removes() throws
  {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1], ["_id": "b", "n": 1], ["_id": "c", "n": 2])
    #expect(try pull(fixture) == PullResult(pulled: 3))
    for id in ["a", "c"] { _ = fixture.remote.backend.delete(id) }
    #expect(try pull(fixture, #"{"n":1}"#) == PullResult(pulled: 1, removed: 1))
    #expect(try fixture.local("_id") == [#""b""#, #""c""#])
    #expect(try pull(fixture, nil, modifiers: #"{"limit":5}"#) == PullResult(pulled: 1))
    #expect(try fixture.local("_id") == [#""b""#, #""c""#])
    #expect(try pull(fixture) == PullResult(pulled: 1, removed: 1))
  }

  @Test("stores whole entities, whatever fields are asked for") func fields() throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1, "text": "whole"])
    _ = try pull(fixture, nil, modifiers: #"{"fields":["n"]}"#)
    #expect(try fixture.local("text") == [#""whole""#])
    let shown = try fixture.found(
      try Query(filter: nil, modifiers: #"{"fields":["n"]}"#), .forceNetwork)
    #expect(shown.first?["text"] == nil)
    #expect(shown.first?["n"] == 1)
    #expect(try fixture.local("text") == [#""whole""#])
  }

  @Test("removes nothing if the answer may have been cut at the backend's limit") func limit()
    throws
  {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "zzz"])
    _ = try pull(fixture)
    _ = fixture.remote.backend.delete("zzz")
    let all = (0..<10_000).map { #"{"_id":"\#($0)"}"# }.joined(separator: ",")
    fixture.remote.answer = { _, _ in Array("[\(all)]".utf8) }
    #expect(try pull(fixture) == PullResult(pulled: 10_000))
    #expect(try fixture.engine.find(id: "zzz", fixture.options()).isLocal)
    // One that answers with more has no such limit.
    fixture.remote.answer = { _, _ in Array(#"[\#(all),{"_id":"one more"}]"#.utf8) }
    #expect(try pull(fixture).removed == 1)
  }

  @Test(
    "removes nothing if the backend has left out what is damaged there",
    arguments: [
      CollectionEngine.Refreshing(), .init(paging: .pages(of: 1)),
      .init(comparesVersions: true), .init(paging: .pages(of: 1), comparesVersions: true),
    ])
  func damagedThere(how: CollectionEngine.Refreshing) throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1], ["_id": "b", "n": 1])
    let query = Query()
    _ = try fixture.engine.pull(query, Call(), how: how)
    _ = fixture.remote.backend.delete("b")
    fixture.remote.lacksDamaged = true
    #expect(try fixture.engine.pull(query, Call(), how: how).removed == 0)
    #expect(try fixture.local("_id") == [#""a""#, #""b""#])
    fixture.remote.lacksDamaged = false
    #expect(try fixture.engine.pull(query, Call(), how: how).removed == 1)
  }

  @Test(
    "removes nothing if the answer is no answer",
    arguments: [
      #"[{"_id":"b"}"#, #"[{"_id":"b"},"#, "<html>down</html>", "", "{}", #"[{"n":1}]"#,
      #"[{"_id":"b"}]]"#, "[1]", "\u{FEFF}[]", #"[{"_id":7}]"#,
    ]
  ) func lies(_ answer: String) throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a"])
    _ = try pull(fixture)
    fixture.remote.answer = { _, _ in Array(answer.utf8) }
    let error = failure { _ = try pull(fixture) }
    #expect(error?.kind == .proto)
    #expect(error?.isOffline == false)
    #expect(try fixture.local("_id").contains(#""a""#))
  }

  @Test("of a network store is none if an entity of the answer has no _id") func nameless() throws {
    let fixture = try TestEngine()
    let engine = CollectionEngine(
      collection: TestEngine.collection, type: .network, local: nil,
      remote: layers(around: fixture.remote),
      sendGate: SendGate(), writer: { () throws(StoreError) in "ana" })
    fixture.remote.answer = { _, _ in Array(#"[{"_id":"a"},{"n":1}]"#.utf8) }
    let error = failure { _ = try engine.find(Query(), fixture.options(read: .forceNetwork)) }
    #expect(error?.kind == .proto)
  }

  // MARK: Writes meanwhile

  @Test("does not undo a change that was pushed while its answer was on the way") func olderAnswer()
    throws
  {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1])
    _ = try pull(fixture)
    fixture.remote.meanwhile = {
      fixture.remote.meanwhile = {}
      _ = try? fixture.save(["_id": "a", "n": 2])
      _ = try? fixture.engine.push(Call())
    }
    _ = try pull(fixture)
    #expect(fixture.backendValue("a", "n") == 2)
    #expect(try fixture.local("n") == ["2"])
  }

  @Test("does not bring back what was deleted while its answer was on the way")
  func deletedMeanwhile() throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1])
    _ = try pull(fixture)
    fixture.remote.meanwhile = {
      fixture.remote.meanwhile = {}
      _ = try? fixture.engine.remove(id: "a", options: fixture.options())
      _ = try? fixture.engine.push(Call())
    }
    _ = try pull(fixture)
    #expect(try fixture.local("_id").isEmpty)
  }

  @Test("keeps what was saved while its answer was on the way") func savedMeanwhile() throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1])
    fixture.remote.meanwhile = {
      fixture.remote.meanwhile = {}
      _ = try? fixture.save(["n": 5])
      _ = try? fixture.save(["_id": "a", "n": 6])
    }
    #expect(try pull(fixture).removed == 0)
    #expect(try fixture.local("n") == ["5", "6"])
    #expect(try fixture.engine.pendingCount() == 2)
  }

  // MARK: Pages

  private func numbered(_ count: Int) throws -> TestEngine {
    let fixture = try TestEngine()
    for n in 0..<count {
      try fixture.publish(["_id": .string("id\(1000 + n)"), "n": .int(Int64(n))])
    }
    return fixture
  }

  @Test("reads page by page in the order of ids") func pages() throws {
    let fixture = try numbered(25)
    #expect(try pull(fixture, paging: .pages(of: 10)) == PullResult(pulled: 25))
    #expect(fixture.remote.queries.allSatisfy { $0.limit == 10 && $0.skip == 0 })
    _ = fixture.remote.backend.delete("id1003")
    #expect(
      try pull(fixture, #"{"n":{"$lt":20}}"#, paging: .pages(of: 10))
        == PullResult(pulled: 19, removed: 1))
    #expect(try fixture.local("n").count == 24)
  }

  @Test("divides the ids into ranges, which are read at the same time", arguments: [1, 4])
  func ranges(connections: Int) throws {
    let fixture = try numbered(95)
    fixture.remote.limits.connections = connections
    let call = Call()
    let how = CollectionEngine.Refreshing(paging: .pages(of: 10, ranges: 3))
    #expect(try fixture.engine.pull(Query(), call, how: how) == PullResult(pulled: 95))
    #expect(try fixture.local("n").count == 95)
    #expect(call.progress.snapshot.entitiesDone == 95 && call.progress.snapshot.entitiesTotal == 95)
    let bounds = fixture.remote.queries.filter { $0.skip > 0 }.map(\.skip)
    #expect(bounds == [31, 62])
    #expect(fixture.remote.queries.filter { $0.filterText.contains("$lte") }.count >= 8)
  }

  @Test("keeps what came and removes nothing when a page fails; the next pull makes it whole")
  func failedPage() throws {
    for connections in [1, 4] {
      let fixture = try numbered(60)
      fixture.remote.limits.connections = connections
      _ = try pull(fixture)
      _ = fixture.remote.backend.delete("id1001")
      fixture.remote.answer = { query, found in
        if query.filterText.contains("id1030") { return Array("broken".utf8) }
        return Array("[".utf8) + found.joined(separator: Array(",".utf8)) + Array("]".utf8)
      }
      #expect(failure { _ = try pull(fixture, paging: .pages(of: 10, ranges: 2)) }?.kind == .proto)
      #expect(try fixture.local("n").count == 60)
      fixture.remote.answer = nil
      #expect(
        try pull(fixture, paging: .pages(of: 10, ranges: 2)) == PullResult(pulled: 59, removed: 1))
    }
  }

  @Test("misses and repeats nothing while others write between the pages") func writesMeanwhile()
    throws
  {
    for ranges in [1, 3] {
      let fixture = try numbered(60)
      var round = 0
      fixture.remote.meanwhile = {
        // Deletes what was read, and adds before and after it: pages that count off would shift.
        round += 1
        _ = fixture.remote.backend.delete("id\(1000 + round)")
        try? fixture.publish(["_id": .string("id0\(round)")], ["_id": .string("id2\(round)")])
      }
      _ = try pull(fixture, paging: .pages(of: 7, ranges: ranges))
      fixture.remote.meanwhile = {}
      let there = fixture.remote.backend.ids.filter { $0.hasPrefix("id1") }
      let local = Set(try fixture.found().map(\.id))
      #expect(there.isSubset(of: local), "\(there.subtracting(local)) missed")
    }
  }

  @Test("counts on where a backend does not compare ids") func incomparableIds() throws {
    let fixture = try numbered(25)
    fixture.remote.answer = { query, found in
      let isBehind = query.filterText.contains("$gt")
      let shown = isBehind ? [] : found
      return Array("[".utf8) + shown.joined(separator: Array(",".utf8)) + Array("]".utf8)
    }
    #expect(try pull(fixture, paging: .pages(of: 10)) == PullResult(pulled: 25))
  }

  @Test("removes nothing if fewer came than the backend had counted") func hidden() throws {
    let fixture = try numbered(5)
    _ = try pull(fixture)
    _ = fixture.remote.backend.delete("id1001")
    fixture.remote.counted = 5
    #expect(try pull(fixture, paging: .pages(of: 10)) == PullResult(pulled: 4))
    #expect(try fixture.local("n").count == 5)
    fixture.remote.counted = nil
    // Deleted between the count and the page: the backend counts again, and is complete.
    fixture.remote.counts = [5, 4]
    #expect(try pull(fixture, paging: .pages(of: 10)) == PullResult(pulled: 4, removed: 1))
  }

  @Test("is nothing but an empty result for an empty collection") func empty() throws {
    let fixture = try TestEngine()
    #expect(try pull(fixture, paging: .pages(of: 10)) == PullResult())
    #expect(try pull(fixture) == PullResult())
  }
}
