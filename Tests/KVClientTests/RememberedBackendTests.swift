import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// What a process knows of its backend when it starts.
@Suite("A client that starts with the data of an earlier one") struct RememberedBackendTests {
  @Test("says what its first push has overwritten") func firstPush() throws {
    let world = try World()
    do {
      let client = try world.member("ana")
      defer { client.close() }
      let store = try client.store("things", type: "sync", nil)
      _ = try store.saveMany([["_id": "x", "n": 1], ["_id": "y", "n": 1]])
      #expect(try store.push(.init()).pushed == 2)
      _ = try store.save(["_id": "x", "n": 2])
      _ = try store.remove(id: "y", .init())
    }
    let other = try world.administrator()
    defer { other.close() }
    let theirs = try other.store("things", type: "network", nil)
    for id in ["x", "y"] { _ = try theirs.save(["_id": .string(id), "n": 7]) }
    let client = try world.client("ana")
    defer { client.close() }
    let store = try client.store("things", type: "sync", nil)
    #expect(try store.push(.init()) == PushResult(pushed: 2, overwritten: 2))
    #expect(try theirs.all().map { $0["n"] } == [2])
  }
}
