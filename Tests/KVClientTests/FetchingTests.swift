import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@testable import KVClient

@Suite("Results that load little by little") struct FetchingTests {
  private let directory = TemporaryDirectory(inMemory: true)
  private let client: Client
  private let store: DataStore

  init() throws {
    client = try Client([
      "appKey": "kid_test", "host": .null, "dataDirectory": .string(directory.path),
      "durability": "normal",
    ])
    store = try client.store("things", type: "sync", nil)
  }

  private func save(_ range: Range<Int>, text: String = "x") throws {
    let entities = range.map { #"{"_id":"k\#($0)","n":\#($0),"g":\#($0 % 4),"t":"\#(text)"}"# }
    try save("[\(entities.joined(separator: ","))]")
  }

  private func save(_ entities: String) throws {
    let bytes = Array(entities.utf8)
    _ = try bytes.withUnsafeBytes { try store.saveMany($0, .init()) }
  }

  private func fetch(
    _ request: String = "{}", _ filter: String = "{}", by modifiers: String? = nil
  ) throws -> FetchedResults {
    let query = try Query(filter: filter, modifiers: modifiers)
    let object = try #require(try JSONValue(parsing: request).objectValue)
    return try store.fetch(ResultsRequest(object, for: query), query, run: .init()).value
  }

  private func text(_ results: FetchedResults, _ position: Int) throws -> String {
    let batch = try results.batch(at: position)
    return String(decoding: try batch.text(at: position), as: UTF8.self)
  }

  private func all(_ results: FetchedResults) throws -> [String] {
    try (0..<results.count).map { try text(results, $0) }
  }

  @Test(
    "10,000 records read in order make one read for each batch", arguments: [1, 7, 100, 20_000])
  func counting(batch: Int) throws {
    try save(0..<10_000)
    let results = try fetch(
      #"{"fetchBatchSize":\#(batch),"cacheBytes":100000}"#, "{}", by: #"{"sort":{"n":1}}"#)
    #expect(results.count == 10_000)
    for position in 0..<results.count {
      let record = try text(results, position)
      if !record.contains(#""n":\#(position),"#) { Issue.record("\(position) is \(record)") }
    }
    // A batch that has more bytes than the cache may hold is read in parts.
    if batch < 1000 { #expect(results.statistics.reads == (10_000 + batch - 1) / batch) }
    #expect(results.statistics.cachedBytes <= 100_000)
  }

  @Test("What is in the cache is not read again, and what was evicted is")
  func evicting() throws {
    try save(0..<1000, text: String(repeating: "x", count: 1000))
    let results = try fetch(#"{"fetchBatchSize":10,"cacheBytes":100000}"#)
    for position in [0, 5, 9, 0] { _ = try text(results, position) }
    #expect(results.statistics.reads == 1)
    _ = try all(results)
    #expect(results.statistics.reads == 100)
    #expect(results.statistics.cachedBytes <= 100_000)
    _ = try text(results, 0)
    #expect(results.statistics.reads == 101)
    results.refresh()
    #expect(results.statistics.cachedRecords == 0)
  }

  @Test("Reading in any order gives what a find gives, with and without an index")
  func anyOrder() throws {
    var seed = Seed()
    try save(0..<700)
    for index in [nil, #"{"keys":{"g":1,"n":-1}}"#] {
      if let index { _ = try store.createIndex(index) }
      for modifiers in [
        #"{"sort":{"g":1}}"#, #"{"sort":{"g":1,"n":-1}}"#, #"{"sort":{"n":1},"skip":5,"limit":90}"#,
        #"{"fields":["n"]}"#,
      ] {
        let query = try Query(filter: #"{"n":{"$lt":600}}"#, modifiers: modifiers)
        let cursor = try store.find(query, .init()).value
        var expected: [String] = []
        while let found = try cursor.next({ String(decoding: $0, as: UTF8.self) }) {
          expected.append(found)
        }
        let results = try fetch(
          #"{"fetchBatchSize":16,"cacheBytes":4000}"#, #"{"n":{"$lt":600}}"#, by: modifiers)
        #expect(results.count == expected.count)
        for _ in 0..<200 {
          let position = Int.random(in: 0..<results.count, using: &seed)
          #expect(try text(results, position) == expected[position], "\(modifiers), \(seed)")
        }
      }
    }
  }

  @Test(
    "Long lists and far pages in the order of an index are those of a sort",
    arguments: [#"{"g":1}"#, #"{"g":-1}"#, #"{"n":-1}"#])
  func longLists(sort: String) throws {
    // Ids in another order than the rows; one key of many, and many of one.
    let ids = (0..<3000).map { ($0 * 7919) % 3001 }
    let entities = ids.map { #"{"_id":"k\#($0)","g":\#($0 < 1800 ? 0 : $0 / 3),"n":\#($0 % 40)}"# }
    try save("[\(entities.joined(separator: ","))]")
    for id in 0..<40 { _ = try store.remove(id: "k\(id * 70)", .init()) }
    let modifiers = #"{"sort":\#(sort)}"#
    let sorted = try all(fetch(by: modifiers))
    _ = try store.createIndex(#"{"keys":{"g":1}}"#)
    _ = try store.createIndex(#"{"keys":{"n":1}}"#)
    let results = try fetch(by: modifiers)
    #expect(try all(results) == sorted)
    #expect(
      try (0..<results.count).allSatisfy { try results.batch(at: $0).state(at: $0) == .unchanged })
    for skip in [300, 1000, 1700, 1790, 2000, 2900, sorted.count - 5, sorted.count, 5000] {
      let page = #"{"sort":\#(sort),"skip":\#(skip),"limit":100}"#
      let cursor = try store.find(try Query(filter: "{}", modifiers: page), .init()).value
      var found: [String] = []
      while let text = try cursor.next({ String(decoding: $0, as: UTF8.self) }) {
        found.append(text)
      }
      #expect(found == Array(sorted.dropFirst(skip).prefix(100)), "\(skip)")
    }
  }

  @Test("A record that was deleted or changed meanwhile is told as such; the list stays")
  func changes() throws {
    try save(0..<5)
    let results = try fetch(#"{"fetchBatchSize":1}"#, "{}", by: #"{"sort":{"n":1}}"#)
    try save(#"[{"_id":"k1","n":100},{"_id":"k9","n":2}]"#)
    _ = try store.remove(id: "k3", .init())
    #expect(results.count == 5)
    let states = try (0..<5).map { try results.batch(at: $0).state(at: $0) }
    #expect(states == [.unchanged, .changed, .unchanged, .deleted, .unchanged])
    #expect(try text(results, 1) == #"{"_id":"k1","n":100}"#)
    #expect(try text(results, 3) == "null")
    // One that is made anew is another record.
    try save(#"[{"_id":"k3","n":3}]"#)
    results.refresh()
    #expect(try results.batch(at: 3).state(at: 3) == .deleted)
    _ = try store.clear(nil)
    results.refresh()
    for position in 0..<5 {
      #expect(try results.batch(at: position).state(at: position) == .deleted)
    }
  }

  private func compact(seconds: Double) throws {
    var options = Options()
    options.timeout = seconds
    _ = try client.compact(options, Cancellation())
  }

  @Test("Open results hold no snapshot: the log is written back past them")
  func snapshot() throws {
    try save(0..<100)
    let results = try fetch()
    _ = try text(results, 0)
    let cursor = try store.find(Query(), .init()).value
    _ = try cursor.block()
    #expect(throws: StoreError.self) { try compact(seconds: 0.05) }
    cursor.close()
    try compact(seconds: 30)
    #expect(try text(results, 99).contains("k99"))
  }

  @Test(
    "The forms of results",
    arguments: [
      (#"{"resultType":"objectId"}"#, #"{"sort":{"n":-1},"limit":2}"#, [#""k7""#, #""k6""#]),
      (#"{"resultType":"count"}"#, "{}", ["8"]),
      (#"{"resultType":"dictionary"}"#, #"{"limit":1}"#, [#"{"n":0,"g":0,"t":"x"}"#]),
      (#"{"resultType":"dictionary"}"#, #"{"limit":1,"fields":["n"]}"#, [#"{"n":0}"#]),
      (
        #"{"resultType":"dictionary","distinct":true}"#,
        #"{"fields":["g"],"sort":{"g":-1},"skip":1,"limit":2}"#,
        [#"{"g":2}"#, #"{"g":1}"#]
      ),
      (
        #"{"resultType":"dictionary","groupBy":["g"],"aggregates":{"s":{"sum":"n"}},"having":{"s":{"$gt":4}}}"#,
        #"{"sort":{"s":-1}}"#, [#"{"g":3,"s":10}"#, #"{"g":2,"s":8}"#, #"{"g":1,"s":6}"#]
      ),
      (#"{"resultType":"dictionary","aggregates":{"n":"count"}}"#, "{}", [#"{"n":8}"#]),
      (
        #"{"resultType":"dictionary","groupBy":["a.b"],"aggregates":{"n":"count"},"having":{"a.b":null}}"#,
        #"{"sort":{"a.b":1}}"#, [#"{"a.b":null,"n":8}"#]
      ),
    ])
  func forms(request: String, modifiers: String, expected: [String]) throws {
    try save(0..<8)
    #expect(try all(fetch(request, "{}", by: modifiers)) == expected)
  }

  @Test(
    "A request that makes no sense is refused",
    arguments: [
      #"{"resultType":"rows"}"#, #"{"resultType":1}"#, #"{"fetchBatchSize":0}"#,
      #"{"cacheBytes":-1}"#,
      #"{"fetchBatchSize":"many"}"#, #"{"size":1}"#, #"{"distinct":true}"#, #"{"distinct":1}"#,
      #"{"resultType":"dictionary","distinct":true}"#, #"{"groupBy":["g"]}"#,
      #"{"resultType":"dictionary","groupBy":[1]}"#,
      #"{"resultType":"dictionary","having":{"n":1}}"#,
      #"{"resultType":"dictionary","groupBy":["g"],"having":{"n":{"$nope":1}}}"#,
      #"{"resultType":"dictionary","groupBy":["g"],"having":1}"#,
    ])
  func refused(request: String) throws {
    let error = #expect(throws: StoreError.self) { try fetch(request) }
    #expect(error?.kind == .invalid)
  }

  @Test(
    "Results of the backend: of a network store, of a sync store's whole collection and of a page")
  func remote() throws {
    let world = try World()
    let member = try world.member()
    defer { member.close() }
    let network = try member.store("notes", type: "network", nil)
    for number in 0..<5 {
      let entity = Array(#"{"_id":"k\#(number)","n":\#(number)}"#.utf8)
      _ = try entity.withUnsafeBytes { try network.save($0, .init()) }
    }
    let sync = try member.store("notes", type: "sync", nil)
    var options = Options()
    options.readPolicy = .forceNetwork
    for (store, run) in [(network, DataStore.Run()), (sync, DataStore.Run(options))] {
      for page in ["", #","skip":1,"limit":2"#] {
        let query = try Query(filter: nil, modifiers: #"{"sort":{"n":-1}\#(page)}"#)
        var request = ResultsRequest()
        request.content = .ids
        let results = try store.fetch(request, query, run: run).value
        let expected = page.isEmpty ? ["4", "3", "2", "1", "0"] : ["3", "2"]
        #expect(try all(results) == expected.map { #""k\#($0)""# })
      }
    }
  }
}
