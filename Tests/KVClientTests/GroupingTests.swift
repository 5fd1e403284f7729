import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("Groups and distinct values") struct GroupingTests {
  private static let grouping = """
    {"keys":["state","at.zone"],"aggregates":{"n":"count","sum":{"sum":"n"},"mean":{"avg":"n"},
     "least":{"min":"n"},"most":{"max":"at.height"}}}
    """

  private func group(
    _ store: DataStore, _ text: String, of query: Query = Query(),
    early: ([UInt8]) -> Void = { _ in }
  ) throws -> (text: String, isLocal: Bool) {
    let answer = try store.group(GroupRequest(parsing: text), query, run: .init(), early: early)
    return (String(decoding: answer.value, as: UTF8.self), answer.isLocal)
  }

  private func distinct(_ store: DataStore, _ path: String, of query: Query = Query()) throws
    -> String
  {
    String(decoding: try store.distinct(path, query, run: .init()).value, as: UTF8.self)
  }

  @Test("are the same computed locally, by the server, and by both for what no backend can select")
  func same() throws {
    var seed = Seed()
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let local = try client.store("things", type: "sync", nil)
    let remote = try client.store("things", type: "network", nil)
    _ = try local.saveMany((0..<300).map { _ in thing(&seed) })
    _ = try local.push(.init())
    for filter in ["{}", #"{"n":{"$gt":3}}"#, #"{"state":null}"#, #"{"state":"nowhere"}"#] {
      let query = try Query(filter: filter)
      let (mine, isLocal) = try group(local, Self.grouping, of: query)
      let (theirs, isTheirs) = try group(remote, Self.grouping, of: query)
      #expect(mine == theirs && isLocal && !isTheirs, "\(filter), \(seed)")
      for path in ["state", "tags", "tags.0", "parts.x", "parts.0.x", "at", "n"] {
        #expect(
          try distinct(local, path, of: query) == distinct(remote, path, of: query),
          "\(path), \(seed)")
      }
    }
    let odd = try Query(format: "n > at.height")
    #expect(
      try group(local, Self.grouping, of: odd).text == group(remote, Self.grouping, of: odd).text)
    let named = #"{"aggregates":{"s":{"sum":"sch\u00f6n"}}}"#
    #expect(try group(remote, named).text == #"[{"s":0}]"#)
  }

  @Test("have no sum beyond all doubles, wherever it is computed, but a mean")
  func overflow() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let local = try client.store("things", type: "sync", nil)
    let remote = try client.store("things", type: "network", nil)
    _ = try local.saveMany([["n": 1e308], ["n": 1e308], ["n": 1e308]])
    _ = try local.push(.init())
    let grouping = #"{"aggregates":{"s":{"sum":"n"},"m":{"avg":"n"},"n":"count"}}"#
    for store in [local, remote] {
      #expect(try group(store, grouping).text == #"[{"s":null,"m":1e+308,"n":3}]"#)
    }
  }

  private func thing(_ seed: inout Seed) -> JSONValue {
    func some(_ values: [JSONValue]) -> JSONValue {
      values[Int.random(in: 0..<values.count, using: &seed)]
    }
    var thing: JSONObject = ["n": some([1, 2, 5, 7.5, 0.1, 1e300, 1e308, "many", .null, true])]
    if Int.random(in: 0..<4, using: &seed) > 0 {
      thing["state"] = some(["MA", "NY", .null, 1, 1.0, "ma"])
    }
    if Int.random(in: 0..<3, using: &seed) > 0 {
      thing["at"] = .object([
        "zone": some([1, "x", .array([1]), .array([])]), "height": some([3, 9, "high"]),
      ])
    }
    thing["tags"] = some([.array(["a", "b"]), "a", .array([]), .array([.array(["a"])])])
    thing["parts"] = some([.array([["x": 1], ["x": 2], [:]]), ["x": .array([2, 3])], 4])
    return .object(thing)
  }

  @Test("come twice from a cache store, and from the local data of an auto store that is offline")
  func policies() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let cache = try client.store("things", type: "cache", nil)
    let auto = try client.store("things", type: "auto", nil)
    _ = try cache.save(["state": "MA"])
    let count = #"{"keys":["state"],"aggregates":{"n":"count"}}"#
    var early: [String] = []
    let answer = try group(cache, count) { early.append(String(decoding: $0, as: UTF8.self)) }
    #expect(early == [#"[{"state":"MA","n":1}]"#] && answer.text == early[0] && !answer.isLocal)
    world.stop()
    let offline = try group(auto, count)
    #expect(offline.text == #"[{"state":"MA","n":1}]"# && offline.isLocal)
    #expect(try auto.distinct("state", Query(), run: .init()).isLocal)
  }

  @Test("by a function of the caller's go to the backend as they are, which may refuse them")
  func scripts() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("things", type: "network", nil)
    _ = try store.save(["a": 4])
    let known =
      #"{"keys":["a"],"initial":{"result":10},"reduce":"function(doc,out){ out.result++; }"}"#
    #expect(try group(store, known).text == #"[{"a":4,"result":11}]"#)
    let unknown = #"{"initial":{"x":0},"reduce":"function(doc,out){ out.x = doc.a * 2; }"}"#
    #expect(failure { _ = try group(store, unknown) }?.kind == .unsupported)
    let local = try client.store("things", type: "sync", nil)
    #expect(failure { _ = try group(local, known) }?.kind == .unsupported)
  }

  @Test("refuse a page, an empty path, and what is no grouping")
  func refused() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("things", type: "sync", nil)
    let page = try Query(filter: nil, modifiers: #"{"limit":1}"#)
    #expect(failure { _ = try group(store, Self.grouping, of: page) }?.kind == .invalid)
    #expect(failure { _ = try distinct(store, "a", of: page) }?.kind == .invalid)
    #expect(failure { _ = try distinct(store, "") }?.kind == .invalid)
    #expect(failure { _ = try group(store, #"{"keys":[1]}"#) }?.position == 9)
  }
}
