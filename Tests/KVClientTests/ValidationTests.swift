import KVClient
import KVJSON
import KVQuery
import KVSync
import Testing

@Suite("What a store lets in") struct ValidationTests {
  private static let whole: JSONObject = [
    "validation": .object(["name": ["$type": "string"], "n": ["$gte": 0]])
  ]

  @Test("is what the filter selects: a read with anything else ends, and stores nothing of it")
  func refuses() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let others = try client.store("things", type: "network", nil)
    _ = try others.save(["_id": "a", "name": "x", "n": 1])
    let strict = try client.store("things", type: "sync", Self.whole)
    #expect(try strict.pull(Query(), .init()).pulled == 1)
    _ = try others.save(["_id": "b", "name": 7, "n": 1])
    let refused = failure { _ = try strict.pull(Query(), .init()) }
    #expect(refused?.kind == .proto && refused?.id == "b")
    #expect(try strict.all().count == 1)
    let direct = try client.store("things", type: "network", Self.whole)
    #expect(failure { _ = try direct.all() }?.id == "b")
    #expect(failure { _ = try direct.find(id: "b", .init()) }?.id == "b")
    #expect(try direct.find(id: "a", .init()).value.isEmpty == false)
  }

  @Test(
    "is an option that has to be a filter",
    arguments: [JSONValue.int(7), .object(["a": ["$no": 1]])])
  func malformed(value: JSONValue) throws {
    let world = try World()
    let client = try world.client()
    defer { client.close() }
    let error = failure { _ = try client.store("things", type: "sync", ["validation": value]) }
    #expect(error?.kind == .invalid)
  }
}
