import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("Counts, groups and values on the network") struct UnsentTests {
  private static let sums = #"{"aggregates":{"n":"count","s":{"sum":"n"},"m":{"max":"n"}}}"#

  /// What a store of this type answers from the network.
  private struct Answers: Equatable {
    var found: [String]
    var count: Int
    var groups: String
    var values: String

    init(_ store: DataStore, _ query: Query) throws {
      let run = Self.online
      found = try store.all(query, run).map { $0["_id"]?.stringValue ?? "" }.sorted()
      count = try store.count(query, run).value
      let grouping = try GroupRequest(parsing: UnsentTests.sums)
      groups = String(decoding: try store.group(grouping, query, run: run).value, as: UTF8.self)
      values = String(decoding: try store.distinct("n", query, run: run).value, as: UTF8.self)
    }

    private static var online: DataStore.Run {
      var options = Options()
      options.readPolicy = .forceNetwork
      return DataStore.Run(options)
    }
  }

  private static var queued: DataStore.Run {
    var options = Options()
    options.writePolicy = .forceLocal
    return DataStore.Run(options)
  }

  @Test("see what waits to be sent, as a find does", arguments: ["auto", "cache", "sync"])
  func seeTheQueue(type: String) throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let network = try client.store("things", type: "network", nil)
    for n in 1...6 { _ = try network.save(["_id": .string("k\(n)"), "n": .int(Int64(n))]) }
    let store = try client.store("things", type: type, nil)
    _ = try store.all()
    _ = try store.save(["_id": "new", "n": 9], Self.queued)
    _ = try store.save(["_id": "k1", "n": 0.5], Self.queued)
    _ = try store.save(["_id": "k6", "n": -1], Self.queued)
    _ = try store.remove(id: "k2", Self.queued)
    for filter in ["{}", #"{"n":{"$gt":3}}"#, #"{"n":{"$lt":1}}"#, #"{"n":2}"#, #"{"n":77}"#] {
      let answers = try Answers(store, Query(filter: filter))
      let local = try client.store("things", type: "sync", nil)
      let expected = try local.all(Query(filter: filter))
      #expect(answers.count == answers.found.count && answers.count == expected.count, "\(filter)")
      let sum = expected.compactMap { $0["n"]?.doubleValue }.reduce(0, +)
      #expect(answers.groups.contains(#""n":\#(expected.count),"#) || expected.isEmpty, "\(filter)")
      #expect(
        answers.groups.contains(#""s":\#(JSONValue.double(sum).plain.text),"#) || expected.isEmpty)
    }
    let odd = try Answers(store, Query(format: "n + 1 > 4"))
    #expect(odd.found == ["k4", "k5", "new"] && odd.count == 3)
    #expect(odd.groups == #"[{"n":3,"s":18,"m":9}]"# && odd.values == "[4,5,9]")
  }

  @Test("see one created entity, and none where the only one waits to be deleted")
  func single() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("things", type: "auto", nil)
    _ = try store.save(["_id": "a"])
    _ = try store.save(["_id": "b"], Self.queued)
    #expect(try Answers(store, Query()).count == 2)
    _ = try store.remove(id: "a", Self.queued)
    _ = try store.remove(id: "b", Self.queued)
    let nothing = try Answers(store, Query())
    #expect(nothing.found.isEmpty && nothing.count == 0)
    #expect(nothing.groups == "[]" && nothing.values == "[]")
  }

  @Test("see a queue that is too long to be a part of a query")
  func many() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("things", type: "auto", nil)
    _ = try store.saveMany((0..<300).map { ["_id": .string("k\($0)"), "n": .int($0)] })
    _ = try store.saveMany(
      (200..<500).map { ["_id": .string("k\($0)"), "n": .int(-$0)] }, Self.queued)
    let answers = try Answers(store, Query(filter: #"{"n":{"$gte":0}}"#))
    #expect(answers.found.count == 200 && answers.count == 200)
    #expect(answers.groups == #"[{"n":200,"s":19900,"m":199}]"#)
    #expect(try Answers(store, Query()).count == 500)
  }
}
