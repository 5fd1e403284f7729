import KVBase
import KVJSON
import KVQuery
import KVSync
import Testing

@Suite("A pull") struct RefreshTests {
  private func pull(
    _ bench: TestEngine, _ filter: String? = nil, _ modifiers: String? = nil,
    paging: CollectionEngine.Paging = .off
  ) throws -> PullResult {
    try bench.engine.pull(
      try Query(filter: filter, modifiers: modifiers), Call(), .init(paging: paging))
  }

  @Test("does not run over pending writes, and says how many there are") func pending() throws {
    let bench = try TestEngine()
    try bench.save(["n": 1])
    try bench.save(["n": 2])
    let error = failure { _ = try pull(bench) }
    #expect(error?.kind == .pending)
    #expect(error?.message.hasPrefix("2 ") == true)
  }

  @Test("removes what the backend no longer has, as far as the query reaches") func removes() throws
  {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1], ["_id": "b", "n": 1], ["_id": "c", "n": 2])
    #expect(try pull(bench) == PullResult(pulled: 3))
    for id in ["a", "c"] { _ = bench.remote.backend.delete(id) }
    #expect(try pull(bench, #"{"n":1}"#) == PullResult(pulled: 1, removed: 1))
    #expect(try bench.local("_id") == [#""b""#, #""c""#])
    #expect(try pull(bench, nil, #"{"limit":5}"#) == PullResult(pulled: 1))
    #expect(try bench.local("_id") == [#""b""#, #""c""#])
    #expect(try pull(bench) == PullResult(pulled: 1, removed: 1))
  }

  @Test("stores whole entities, whatever fields are asked for") func fields() throws {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1, "text": "whole"])
    _ = try pull(bench, nil, #"{"fields":["n"]}"#)
    #expect(try bench.local("text") == [#""whole""#])
    let shown = try bench.found(
      try Query(filter: nil, modifiers: #"{"fields":["n"]}"#), .forceNetwork)
    #expect(shown.first?["text"] == nil)
    #expect(shown.first?["n"] == 1)
    #expect(try bench.local("text") == [#""whole""#])
  }

  @Test("removes nothing if the answer may have been cut at the backend's limit") func limit()
    throws
  {
    let bench = try TestEngine()
    try bench.publish(["_id": "zzz"])
    _ = try pull(bench)
    _ = bench.remote.backend.delete("zzz")
    let all = (0..<10_000).map { #"{"_id":"\#($0)"}"# }.joined(separator: ",")
    bench.remote.answer = { _, _ in Array("[\(all)]".utf8) }
    #expect(try pull(bench) == PullResult(pulled: 10_000))
    #expect(try bench.engine.find(id: "zzz", bench.options()).isLocal)
    // One that answers with more has no such limit.
    bench.remote.answer = { _, _ in Array(#"[\#(all),{"_id":"one more"}]"#.utf8) }
    #expect(try pull(bench).removed == 1)
  }

  @Test(
    "removes nothing if the answer is no answer",
    arguments: [
      #"[{"_id":"b"}"#, #"[{"_id":"b"},"#, "<html>down</html>", "", "{}", #"[{"n":1}]"#,
      #"[{"_id":"b"}]]"#, "[1]", "\u{FEFF}[]", #"[{"_id":7}]"#,
    ]
  ) func lies(_ answer: String) throws {
    let bench = try TestEngine()
    try bench.publish(["_id": "a"])
    _ = try pull(bench)
    bench.remote.answer = { _, _ in Array(answer.utf8) }
    let error = failure { _ = try pull(bench) }
    #expect(error?.kind == .proto)
    #expect(error?.isOffline == false)
    #expect(try bench.local("_id").contains(#""a""#))
  }

  @Test("of a network store is none if an entity of the answer has no _id") func nameless() throws {
    let bench = try TestEngine()
    let engine = CollectionEngine(
      collection: TestEngine.collection, type: .network, local: nil,
      remote: layers(around: bench.remote),
      inFlight: SendGate(), writer: { () throws(StoreError) in "ana" })
    bench.remote.answer = { _, _ in Array(#"[{"_id":"a"},{"n":1}]"#.utf8) }
    let error = failure { _ = try engine.find(Query(), bench.options(read: .forceNetwork)) }
    #expect(error?.kind == .proto)
  }

  // MARK: Writes meanwhile

  @Test("does not undo a change that was pushed while its answer was on the way") func olderAnswer()
    throws
  {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1])
    _ = try pull(bench)
    bench.remote.meanwhile = {
      bench.remote.meanwhile = {}
      _ = try? bench.save(["_id": "a", "n": 2])
      _ = try? bench.engine.push(Call())
    }
    _ = try pull(bench)
    #expect(bench.backendValue("a", "n") == 2)
    #expect(try bench.local("n") == ["2"])
  }

  @Test("does not bring back what was deleted while its answer was on the way")
  func deletedMeanwhile() throws {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1])
    _ = try pull(bench)
    bench.remote.meanwhile = {
      bench.remote.meanwhile = {}
      _ = try? bench.engine.remove(id: "a", bench.options())
      _ = try? bench.engine.push(Call())
    }
    _ = try pull(bench)
    #expect(try bench.local("_id").isEmpty)
  }

  @Test("keeps what was saved while its answer was on the way") func savedMeanwhile() throws {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1])
    bench.remote.meanwhile = {
      bench.remote.meanwhile = {}
      _ = try? bench.save(["n": 5])
      _ = try? bench.save(["_id": "a", "n": 6])
    }
    #expect(try pull(bench).removed == 0)
    #expect(try bench.local("n") == ["5", "6"])
    #expect(try bench.engine.pendingCount() == 2)
  }

  // MARK: Pages

  private func numbered(_ count: Int) throws -> TestEngine {
    let bench = try TestEngine()
    for n in 0..<count {
      try bench.publish(["_id": .string("id\(1000 + n)"), "n": .int(Int64(n))])
    }
    return bench
  }

  @Test("reads page by page in the order of ids") func pages() throws {
    let bench = try numbered(25)
    #expect(try pull(bench, paging: .pages(of: 10)) == PullResult(pulled: 25))
    #expect(bench.remote.queries.allSatisfy { $0.limit == 10 && $0.skip == 0 })
    _ = bench.remote.backend.delete("id1003")
    #expect(
      try pull(bench, #"{"n":{"$lt":20}}"#, paging: .pages(of: 10))
        == PullResult(pulled: 19, removed: 1))
    #expect(try bench.local("n").count == 24)
  }

  @Test("divides the ids into ranges, which are read at the same time", arguments: [1, 4])
  func ranges(connections: Int) throws {
    let bench = try numbered(95)
    bench.remote.limits.connections = connections
    let call = Call()
    let how = CollectionEngine.Refreshing(paging: .pages(of: 10, ranges: 3))
    #expect(try bench.engine.pull(Query(), call, how) == PullResult(pulled: 95))
    #expect(try bench.local("n").count == 95)
    #expect(call.progress.snapshot.entitiesDone == 95 && call.progress.snapshot.entitiesTotal == 95)
    let bounds = bench.remote.queries.filter { $0.skip > 0 }.map(\.skip)
    #expect(bounds == [31, 62])
    #expect(bench.remote.queries.filter { $0.filterText.contains("$lte") }.count >= 8)
  }

  @Test("keeps what came and removes nothing when a page fails; the next pull makes it whole")
  func failedPage() throws {
    for connections in [1, 4] {
      let bench = try numbered(60)
      bench.remote.limits.connections = connections
      _ = try pull(bench)
      _ = bench.remote.backend.delete("id1001")
      bench.remote.answer = { query, found in
        if query.filterText.contains("id1030") { return Array("broken".utf8) }
        return Array("[".utf8) + found.joined(separator: Array(",".utf8)) + Array("]".utf8)
      }
      #expect(failure { _ = try pull(bench, paging: .pages(of: 10, ranges: 2)) }?.kind == .proto)
      #expect(try bench.local("n").count == 60)
      bench.remote.answer = nil
      #expect(
        try pull(bench, paging: .pages(of: 10, ranges: 2)) == PullResult(pulled: 59, removed: 1))
    }
  }

  @Test("misses and repeats nothing while others write between the pages") func writesMeanwhile()
    throws
  {
    for ranges in [1, 3] {
      let bench = try numbered(60)
      var round = 0
      bench.remote.meanwhile = {
        // Deletes what was read, and adds before and behind it: pages that count off would shift.
        round += 1
        _ = bench.remote.backend.delete("id\(1000 + round)")
        try? bench.publish(["_id": .string("id0\(round)")], ["_id": .string("id2\(round)")])
      }
      _ = try pull(bench, paging: .pages(of: 7, ranges: ranges))
      bench.remote.meanwhile = {}
      let there = bench.remote.backend.ids.filter { $0.hasPrefix("id1") }
      let local = Set(try bench.found().map(\.id))
      #expect(there.isSubset(of: local), "\(there.subtracting(local)) missed")
    }
  }

  @Test("counts on where a backend does not compare ids") func incomparableIds() throws {
    let bench = try numbered(25)
    bench.remote.answer = { query, found in
      let isBehind = query.filterText.contains("$gt")
      let shown = isBehind ? [] : found
      return Array("[".utf8) + shown.joined(separator: Array(",".utf8)) + Array("]".utf8)
    }
    #expect(try pull(bench, paging: .pages(of: 10)) == PullResult(pulled: 25))
  }

  @Test("removes nothing if fewer came than the backend had counted") func hidden() throws {
    let bench = try numbered(5)
    _ = try pull(bench)
    _ = bench.remote.backend.delete("id1001")
    bench.remote.counted = 5
    #expect(try pull(bench, paging: .pages(of: 10)) == PullResult(pulled: 4))
    #expect(try bench.local("n").count == 5)
    bench.remote.counted = nil
    // Deleted between the count and the page: the backend counts again, and is complete.
    bench.remote.counts = [5, 4]
    #expect(try pull(bench, paging: .pages(of: 10)) == PullResult(pulled: 4, removed: 1))
  }

  @Test("is nothing but an empty result for an empty collection") func empty() throws {
    let bench = try TestEngine()
    #expect(try pull(bench, paging: .pages(of: 10)) == PullResult())
    #expect(try pull(bench) == PullResult())
  }
}
