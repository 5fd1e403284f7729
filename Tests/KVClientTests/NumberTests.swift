import KVClient
import KVJSON
import KVQuery
import KVServer
import KVSync
import Testing

@Suite("Numbers that a program saves") struct NumberTests {
  private let world: World
  private let client: Client
  private let store: DataStore

  init() throws {
    world = try World()
    client = try world.client()
    store = try client.store("numbers", type: "sync", nil)
  }

  private func refusal(_ text: String, many: Bool = false) -> StoreError? {
    failure {
      try Array(text.utf8).withUnsafeBytes { bytes in
        if many {
          _ = try store.saveMany(bytes, DataStore.Run())
        } else {
          _ = try store.save(bytes, DataStore.Run())
        }
      }
    }
  }

  @Test("are in the range of 64-bit floating point, or refused by name") func refused() throws {
    defer { client.close() }
    let message = "a.b[2]: the number is outside the range of 64-bit floating point"
    for number in ["1e400", "-1e400", String(repeating: "7", count: 5_000)] {
      let entity = #"{"a":{"b":[1,2,\#(number)]}}"#
      let one = refusal(entity)
      #expect(one?.kind == .invalid && one?.message == message && one?.position == 15)
      #expect(refusal("[{},\(entity)]", many: true)?.message == "[1].\(message)")
    }
    #expect(try store.count(Query(), DataStore.Run()).value == 0)
  }

  @Test("and all other members are refused if they come twice in an object") func repeated() throws
  {
    defer { client.close() }
    let entity = #"{"a":{"b":[1,{"c":1,"c":1}]}}"#
    let one = refusal(entity)
    #expect(one?.kind == .invalid && one?.message.contains("a.b[1].c occurs twice") == true)
    #expect(refusal("[{},\(entity)]", many: true)?.kind == .invalid)
    #expect(try store.count(Query(), DataStore.Run()).value == 0)
  }

  @Test("are stored as they were written, compared and summed as doubles") func large() throws {
    defer { client.close() }
    let text = #"{"_id":"x","n":18446744073709551616}"#
    #expect(refusal(text) == nil)
    for query in [
      try Query(filter: #"{"n":18446744073709551616}"#),
      try Query(format: "n = 18446744073709551616"),
      try Query(format: "n > 9223372036854775807"), try Query(format: "n = 18446744073709551617"),
    ] {
      let cursor = try store.find(query, DataStore.Run()).value
      #expect(try cursor.next { String(decoding: $0, as: UTF8.self) } == text)
      cursor.close()
    }
    let sum = try GroupRequest(parsing: #"{"aggregates":{"sum":{"sum":"n"}}}"#)
    let groups = try store.group(sum, Query(), run: DataStore.Run()).value
    #expect(try JSONValue(parsing: groups) == [["sum": .double(18_446_744_073_709_551_616)]])
  }

  @Test("do not become infinite by an update") func update() throws {
    defer { client.close() }
    _ = try store.save(["_id": "x", "n": 1e308, "i": .int(.max)])
    for text in [#"{"$mul":{"n":10}}"#, #"{"$inc":{"n":1.7e308}}"#] {
      let update = try EntityUpdate(text)
      #expect(
        failure { _ = try store.update(Query(), update, run: DataStore.Run()) }?.kind == .invalid)
    }
    let error = #expect(throws: QueryError.self) { try EntityUpdate(#"{"$set":{"n":1e400}}"#) }
    #expect(
      error?.message == "$set.n: the number is outside the range of 64-bit floating point")
    #expect(try store.all().first?["n"] == 1e308)
  }
}
