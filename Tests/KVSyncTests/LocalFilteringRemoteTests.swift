import KVBase
import KVJSON
import KVQuery
import Testing

@testable import KVSync

@Suite("Queries that a backend cannot answer whole") struct FinishingRemoteTests {
  @Test("are finished here: filtered, ordered, paged, projected") func finishesFind() throws {
    let shelf = Shelf((0..<30).map { #"{"_id":"\#($0)","a":\#($0),"b":\#(30 - $0),"c":1}"# })
    let query = try Query(
      format: "a > b AND c = 1", modifiers: #"{"sort":{"b":1},"skip":1,"limit":2,"fields":["a"]}"#)
    #expect(try find(query, on: shelf) == #"[{"_id":"28","a":28},{"_id":"27","a":27}]"#)
    #expect(shelf.asked == [#"{"filter":{"c":1}}"#])
  }

  @Test("are counted and removed by what they select") func countsAndRemoves() throws {
    let shelf = Shelf((0..<30).map { #"{"_id":"\#($0)","a":\#($0),"b":15}"# })
    let remote = LocalFilteringRemote(shelf)
    let query = try Query(format: "a > b")
    #expect(try remote.count(query, in: "c", call: Call()).count == 14)
    #expect(try remote.remove(query, in: "c", call: Call()) == 14)
    #expect(try remote.count(query, in: "c", call: Call()).count == 0)
    #expect(try remote.count(Query(), in: "c", call: Call()).count == 16)
  }

  @Test("are fetched in pages when an answer may be cut") func fetchesPages() throws {
    let shelf = Shelf((0..<25_000).map { #"{"_id":"\#(100_000 + $0)","a":\#($0),"b":24000}"# })
    #expect(
      try LocalFilteringRemote(shelf).count(Query(format: "a > b"), in: "c", call: Call()).count
        == 999)
  }

  @Test("leave all others to the backend") func passesOn() throws {
    let shelf = Shelf([#"{"_id":"1","a":1}"#])
    let query = try Query(filter: #"{"a":1}"#, modifiers: #"{"limit":1}"#)
    #expect(try find(query, on: shelf) == #"[{"_id":"1","a":1}]"#)
    #expect(shelf.asked == [query.text])
  }

  private func find(_ query: Query, on shelf: Shelf) throws -> String {
    var texts: [String] = []
    _ = try LocalFilteringRemote(shelf).find(query, in: "c", call: Call()) { batch in
      texts += batch.outlines.map { String(decoding: batch.record($0), as: UTF8.self) }
    }
    return "[\(texts.joined(separator: ","))]"
  }
}

/// A backend in memory that answers what MongoDB's language can say, 10,000 entities at the most.
private final class Shelf: IDPagedRemote {
  private struct State {
    var entities: [[UInt8]]
    var asked: [String] = []
  }
  private let state: Monitor<State>

  init(_ entities: [String]) {
    state = Monitor(State(entities: entities.map { Array($0.utf8) }))
  }

  var asked: [String] { state.withLock { $0.asked } }

  private func selected(_ query: Query) throws(StoreError) -> [[UInt8]] {
    #expect(query.isRemote)
    let matcher = Matcher(query.filter)
    let entities = state.withLock { state in
      state.asked.append(query.text)
      return state.entities
    }
    var found = entities.filter { (try? matcher.matches($0)) == true }
    if let sorter = query.sorter {
      found.sort { sorter.key(of: $0).lexicographicallyPrecedes(sorter.key(of: $1)) }
    }
    return Array(found.dropFirst(query.skip).prefix(min(query.limit ?? .max, 10_000)))
  }

  func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let texts = try selected(query).map { String(decoding: $0, as: UTF8.self) }
    try RecordBatch.lend(Array("[\(texts.joined(separator: ","))]".utf8), to: receive)
    return ReadAnswer(mayBeCut: texts.count == 10_000)
  }

  func find(id: String, in collection: String, call: Call) throws(StoreError) -> [UInt8] {
    throw StoreError(.notFound, "not asked for here")
  }

  func count(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> CountAnswer {
    CountAnswer(count: try selected(query).count, startedAt: nil)
  }

  func remove(_ query: Query, in collection: String, call: Call) throws(StoreError) -> Int {
    let gone = Set(try selected(query))
    state.withLock { $0.entities.removeAll { gone.contains($0) } }
    return gone.count
  }

  func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {}
}
