import KVClient
import KVJSON
import KVQuery
import KVSync
import Testing

@Suite("Queries of every type of store") struct QueriesTests {
  private static let types = ["sync", "auto", "cache", "network"]

  @Test("may use names of the application's own, wherever there is a name", arguments: types)
  func names(type: String) throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("books", type: type, ["keyMap": ["title": "t", "pages": "p"]])
    for number in 1...3 {
      _ = try store.save(["t": .string("b\(number)"), "p": .int(Int64(number))])
    }
    let byFilter = try Query(
      filter: #"{"title":{"$gt":"b1"}}"#, modifiers: #"{"sort":{"pages":-1},"fields":["title"]}"#)
    let found = try store.all(byFilter)
    #expect(found.map { $0["t"] } == ["b3", "b2"])
    #expect(found.allSatisfy { $0["p"] == nil })
    let byFormat = try Query(format: "title BEGINSWITH 'b' AND pages * 2 = 4")
    #expect(try store.all(byFormat).map { $0["t"] } == ["b2"])
    #expect(try store.count(byFormat, DataStore.Run()).value == 1)
    let grouping = #"{"keys":["title"],"aggregates":{"t2":{"max":"pages"}}}"#
    let groups = try store.group(GroupRequest(parsing: grouping), byFilter, run: DataStore.Run())
    #expect(
      try JSONValue(parsing: groups.value)
        == [["title": "b2", "t2": 2], ["title": "b3", "t2": 3]])
    #expect(
      try store.distinct("title", byFormat, run: DataStore.Run()).value == Array(#"["b2"]"#.utf8))
    #expect(try store.remove(byFilter, DataStore.Run()).value == 2)
    #expect(try store.all().map { $0["t"] } == ["b1"])
  }

  @Test(
    "have names that are names",
    arguments: ["7", #"{"a":1}"#, #"{"a.b":"c"}"#, #"{"a":"$c"}"#, #"{"":"c"}"#, #"{"a":""}"#])
  func badNames(text: String) throws {
    let world = try World()
    let client = try world.client()
    defer { client.close() }
    let error = failure {
      _ = try client.store("books", type: "sync", ["keyMap": try JSONValue(parsing: text)])
    }
    #expect(error?.kind == .invalid)
    #expect(error?.message.contains("keyMap") == true)
  }

  @Test(
    "that show some fields leave whole entities in the local store", arguments: ["auto", "cache"])
  func fields(type: String) throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let writer = try client.store("books", type: "network", nil)
    _ = try writer.save(["_id": "x", "t": "whole", "p": 1])
    let store = try client.store("books", type: type, nil)
    let some = try Query(filter: nil, modifiers: #"{"fields":["p"]}"#)
    var local = Options()
    local.readPolicy = .forceLocal
    for pages in [1, 2] {
      let shown = try store.all(some)
      #expect(shown.first?["t"] == nil)
      #expect(shown.first?["p"] == .int(Int64(pages)))
      #expect(try store.all(Query(), DataStore.Run(local)).first?["t"] == "whole")
      _ = try writer.save(["_id": "x", "t": "whole", "p": 2])
    }
  }

  @Test("are sent as the original client sends them, if that is wished", arguments: [false, true])
  func originalForms(isOriginal: Bool) throws {
    let world = try World()
    let client = try world.member("client", ["originalForms": .bool(isOriginal)])
    defer { client.close() }
    let store = try client.store("books", type: "network", nil)
    _ = try store.saveMany([["t": "x"], ["t": "xy"], ["t": "/x/"]])
    #expect(
      try store.all(try Query(format: "t LIKE 'x'")).map { $0["t"] }
        == (isOriginal ? ["/x/"] : ["x"]))
    #expect(try store.all(try Query(filter: #"{"t":{"$regex":"^x$"}}"#)).count == 1)
  }
}
