import KVBase
import KVJSON
import KVQuery
import Testing

@testable import KVSync

@Suite("Queries that a backend cannot answer whole") struct LocalFilteringRemoteTests {
  @Test("are finished here: filtered, ordered, paged, projected") func finishesFind() throws {
    let shelf = Shelf((0..<30).map { #"{"_id":"\#($0)","a":\#($0),"b":\#(30 - $0),"c":1}"# })
    let query = try Query(
      format: "a > b AND c = 1", modifiers: #"{"sort":{"b":1},"skip":1,"limit":2,"fields":["a"]}"#)
    #expect(try find(query, on: shelf) == #"[{"_id":"28","a":28},{"_id":"27","a":27}]"#)
    #expect(shelf.asked == [#"{"filter":{"c":1}}"#])
  }

  @Test("have what is computed added here; the backend selects and orders what it can")
  func computes() throws {
    let shelf = Shelf([
      #"{"_id":"1","t":"fox b","p":[0,2]}"#, #"{"_id":"2","t":"fox","p":[0,1],"c":1}"#,
      #"{"_id":"3","t":"dog","p":[0,0]}"#,
    ])
    let scored = try Query(
      filter: #"{"$text":{"$search":"fo*"}}"#,
      modifiers:
        #"{"sort":{"x":{"$meta":"textScore"}},"fields":["t"],"computed":{"s":{"$meta":"textScore"}}}"#
    )
    #expect(
      try find(scored, on: shelf)
        == #"[{"_id":"2","t":"fox","s":1.1},{"_id":"1","t":"fox b","s":0.75}]"#)
    let near = try Query(
      filter: #"{"p":{"$nearSphere":[0,0]}}"#,
      modifiers: #"{"limit":1,"fields":["t"],"computed":{"away":{"$meta":"geoNearDistance"}}}"#)
    #expect(try find(near, on: shelf) == #"[{"_id":"3","t":"dog","away":0.0}]"#)
    #expect(
      shelf.asked == ["{}", #"{"filter":{"p":{"$nearSphere":[0.0,0.0]}},"limit":1}"#])
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

  @Test("are not complete if the backend lacks something of any part")
  func lacksWhatAPartLacks() throws {
    let shelf = Shelf(
      (0..<25_000).map { #"{"_id":"\#(100_000 + $0)","a":\#($0),"b":24000}"# }, damaged: "124500")
    let many = (124_400..<124_700).map { #""\#($0)""# }.joined(separator: ",")
    for query in [
      try Query(format: "a > b"), try Query(filter: #"{"_id":{"$in":[\#(many)]}}"#),
    ] {
      let answer = try LocalFilteringRemote(shelf).find(query, in: "c", call: Call()) { _ in }
      #expect(!answer.isComplete, "\(query.filterText.prefix(40))")
    }
  }

  @Test("that name too many ids for one request are asked in parts") func asksInParts() throws {
    let shelf = Shelf((0..<250).map { #"{"_id":"\#(1_000 + $0)","a":\#($0)}"# })
    let remote = LocalFilteringRemote(shelf)
    // Each twice, and some that are not there.
    let ids = (0..<300).map { #""\#(1_000 + $0)""# }
    let list = (ids + ids).joined(separator: ",")
    let exact = try Query(filter: #"{"_id":{"$in":[\#(list)]}}"#)
    let others = try Query(filter: #"{"_id":{"$in":[\#(list)]},"a":{"$gte":240}}"#)
    let ordered = try Query(
      filter: exact.filterText, modifiers: #"{"sort":{"a":-1},"skip":2,"limit":1,"fields":["a"]}"#)
    #expect(try remote.count(exact, in: "c", call: Call()).count == 250)
    #expect(try remote.count(others, in: "c", call: Call()).count == 10)
    #expect(try find(exact, on: shelf).split(separator: "{").count == 251)
    #expect(try find(ordered, on: shelf) == #"[{"_id":"1247","a":247}]"#)
    var read = 0
    try remote.each(of: others, in: "c", call: Call()) { _ in read += 1 }
    #expect(read == 10)
    #expect(
      try remote.changes(of: exact, since: BackendMoment("x"), in: "c", call: Call()) { _ in }
        == nil)
    #expect(try remote.remove(others, in: "c", call: Call()) == 10)
    #expect(try remote.remove(exact, in: "c", call: Call()) == 240)
    #expect(shelf.asked.allSatisfy { $0.utf8.count < 2_000 })
  }

  @Test("that name many ids are read in pages of so many ids") func readsPagesOfIDs() throws {
    let shelf = Shelf((0..<250).map { #"{"_id":"\#(1_000 + $0)","a":\#($0)}"# })
    let remote = LocalFilteringRemote(shelf)
    let list = (0..<250).map { #""\#(1_000 + $0)""# }.joined(separator: ",")
    let query = try Query(filter: #"{"_id":{"$in":[\#(list)]}}"#)
    let pages = try remote.pages(of: query, PageWish(size: 120), in: "c", call: Call())
    var counts: [Int] = []
    var next: PageToken? = pages.starts.first
    while let token = next {
      let page = try remote.page(at: token, of: query, wish: pages.wish, in: "c", call: Call()) {
        _ in
      }
      counts.append(page.count)
      next = page.next
    }
    #expect(counts == [120, 120, 10])
    #expect(pages.starts.count == 1)
    guard case .complete = try remote.end(of: pages, query, having: 249, in: "c", call: Call())
    else {
      Issue.record("Pages of ids that are gone are no reason to read again.")
      return
    }
  }

  @Test("leave all others to the backend") func passesOn() throws {
    let shelf = Shelf([#"{"_id":"1","a":1}"#])
    let query = try Query(filter: #"{"a":1}"#, modifiers: #"{"limit":1}"#)
    #expect(try find(query, on: shelf) == #"[{"_id":"1","a":1}]"#)
    #expect(shelf.asked == [query.text])
  }

  @Test("in an order by language are the backend's where it has the same one, and the same here")
  func ordersByLanguage() throws {
    let names = ["Zoe", "Ärger", "anna", "ärger", "Öl", "zon"]
    let entities = names.enumerated().map { #"{"_id":"\#($0.offset)","name":"\#($0.element)"}"# }
    let query = try Query(
      filter: #"{"name":{"$lt":"zom"}}"#,
      modifiers: #"{"sort":{"name":1},"skip":1,"limit":2,"collation":"de"}"#)
    let expected = #"[{"_id":"3","name":"ärger"},{"_id":"1","name":"Ärger"}]"#
    for (knows, refuses) in [(false, false), (true, false), (true, true)] {
      let shelf = Shelf(entities, knowsCollations: knows)
      shelf.refusesCollations = refuses
      #expect(try find(query, on: shelf) == expected)
      #expect(shelf.asked == (knows && !refuses ? [query.text] : ["{}"]))
      let remote = LocalFilteringRemote(shelf)
      #expect(remote.isAnsweredWhole(query) == knows)
      #expect(try remote.count(query.selection, in: "c", call: Call()).count == 5)
      // Pages and deltas of a pull are not left to it, nor is what is to be removed.
      #expect(
        try remote.changes(of: query, since: BackendMoment("x"), in: "c", call: Call()) { _ in }
          == nil)
      var read = 0
      try remote.each(of: query, in: "c", call: Call()) { _ in read += 1 }
      #expect(read == 5)
      #expect(try remote.remove(query.selection, in: "c", call: Call()) == 5)
      #expect(try find(Query(), on: shelf) == #"[{"_id":"5","name":"zon"}]"#)
    }
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

  /// An entity that finds leave out, and say so.
  private let damaged: String?

  /// Whether it says that it orders by language.
  let comparesByLanguage: Bool
  /// Whether it turns out not to.
  nonisolated(unsafe) var refusesCollations = false

  init(_ entities: [String], damaged: String? = nil, knowsCollations: Bool = false) {
    self.damaged = damaged
    comparesByLanguage = knowsCollations
    state = Monitor(State(entities: entities.map { Array($0.utf8) }))
  }

  var asked: [String] { state.withLock { $0.asked } }

  private func selected(_ query: Query) throws(StoreError) -> [[UInt8]] {
    #expect(query.isRemote(withCollations: comparesByLanguage))
    guard query.isRemote || !refusesCollations else {
      throw StoreError(.unsupported, "It has another order.")
    }
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
    let found = try selected(query).map { String(decoding: $0, as: UTF8.self) }
    let texts = found.filter { text in damaged.map { !text.contains("\"\($0)\"") } ?? true }
    try RecordBatch.lend(Array("[\(texts.joined(separator: ","))]".utf8), to: receive)
    return ReadAnswer(mayBeCut: found.count == 10_000, lacksDamaged: texts.count < found.count)
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
