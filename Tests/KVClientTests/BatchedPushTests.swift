import KVBase
import KVClient
import KVJSON
import KVQuery
import KVServer
import KVServerHTTP
import KVSync
import KVTestSupport
import Testing

@Suite("A push to kvstored") struct BatchedPushTests {
  private func entity(_ number: Int, _ value: Int) -> JSONValue {
    ["_id": .string("id\(number)"), "n": .int(Int64(value))]
  }

  private func moments(_ member: String, _ store: DataStore) throws -> Set<String> {
    Set(try store.all().compactMap { $0["_kmd"]?[member]?.stringValue })
  }

  @Test("sends creates with ids of their own, updates and deletions together")
  func together() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("things", type: "sync", nil)
    _ = try store.saveMany((0..<90).map { entity($0, 0) })
    #expect(try store.push(.init()).pushed == 90)
    // All of a batch are written at the same time.
    #expect(try moments("ect", store).count == 1)
    _ = try store.saveMany((0..<50).map { entity($0, 1) })
    for number in 50..<60 { _ = try store.remove(id: "id\(number)", .init()) }
    _ = try store.save(["made": true])
    #expect(try store.push(.init()).pushed == 61)
    // And what is made after deletions at a later one: it may be one of them, made anew.
    #expect(try moments("lmt", store).count == 3)
    let other = try world.member("other")
    defer { other.close() }
    let pulled = try other.store("things", type: "sync", nil)
    _ = try pulled.pull(Query(), .init())
    let found = try pulled.all()
    #expect(found == (try store.all()) && found.count == 81)
    #expect(try pulled.count(Query(filter: #"{"n":1}"#), .init()).value == 50)
  }

  @Test(
    "settles each write by itself, whatever the strategy",
    arguments: ["clientWins", "serverWins", "optimistic"])
  func conflicts(strategy: String) throws {
    let world = try World()
    let client = try world.member("ana", ["conflicts": .string(strategy)])
    defer { client.close() }
    let store = try client.store("things", type: "sync", nil)
    _ = try store.saveMany(
      (0..<5).map { .object(["_id": .string("id\($0)"), "_acl": ["gw": true]]) })
    _ = try store.push(.init())
    let other = try world.member("ben")
    defer { other.close() }
    let network = try other.store("things", type: "network", nil)
    _ = try network.save(entity(2, 9))
    _ = try network.remove(id: "id3", .init())
    _ = try store.saveMany((0..<5).map { entity($0, 1) })
    _ = try store.save(["_id": "bad", "_geoloc": [-300, 0]])
    let result = try store.push(.init())
    let errors = strategy == "optimistic" ? ["id2", "id3", "bad"] : ["bad"]
    #expect(result.errors.map(\.id) == errors)
    let values = try network.all().map { "\($0["_id"]?.stringValue ?? "")=\($0["n"]?.text ?? "")" }
    let theirs = strategy == "clientWins" ? ["id2=1", "id3=1"] : ["id2=9"]
    #expect(values.sorted() == (["id0=1", "id1=1"] + theirs + ["id4=1"]).sorted())
  }

  @Test("that is refused in part names each entity that was, and why") func refusals() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let network = try client.store("things", type: "network", nil)
    let result = try network.saveMany([
      ["_id": "a"], ["_id": "bad", "_geoloc": [-300, 0]], ["_id": "c"],
    ])
    let error = try #require(result.errors.first)
    #expect(result.errors.count == 1)
    #expect(error.index == 1 && error.id == "bad")
    #expect(error.message.hasPrefix("The backend refused this entity of a batch, "))
    #expect(error.answer?.error == "ParameterValueOutOfRange")
    #expect(error.answer?.debug?.contains("_geoloc") == true, "\(error)")
    #expect(try network.all().map { $0["_id"] } == ["a", "c"])
  }

  @Test("does nothing twice and loses nothing when the answer to a batch is lost, or half of it")
  func lostAnswers() throws {
    for isHalf in [false, true] {
      let world = try World()
      let relay = try Relay(to: try #require(world.server?.address.port))
      defer { relay.stop() }
      let client = try world.member(
        "ana", ["host": .string(relay.url), "conflicts": "optimistic"])
      defer { client.close() }
      let store = try client.store("things", type: "sync", nil)
      _ = try store.saveMany((0..<20).map { entity($0, 0) })
      _ = try store.push(.init())
      _ = try store.saveMany((0..<15).map { entity($0, 1) })
      _ = try store.remove(id: "id19", .init())
      _ = try store.saveMany((20..<30).map { entity($0, 0) })
      _ = try store.save(["made": true])
      if isHalf {
        relay.halveNextAnswer()
        #expect(throws: StoreError.self) { try store.push(.init()) }
      } else {
        _ = relay.losingAnswers {
          #expect(throws: StoreError.self) { try store.push(.init()) }
        }
      }
      let count = try store.pendingCount()
      #expect(count == 27)
      _ = try store.save(entity(0, 2))
      let result = try store.push(.init())
      #expect(result.errors.isEmpty && result.pushed == 27)
      let there = try client.store("things", type: "network", nil)
      let found = try there.all()
      #expect(found.count == 30)
      #expect(found.first { $0["_id"] == "id0" }?["n"] == 2)
      #expect(try there.count(Query(filter: #"{"n":1}"#), .init()).value == 14)
    }
  }
}
