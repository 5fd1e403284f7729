import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("A write that a real server carries out after the deletion of its entity")
struct LateWritesTests {
  @Test(
    "ends deleted on both sides",
    arguments: ["clientWins", "serverWins", "merge", "optimistic"],
    [["deltaSet": true], ["deltaSetCaching": true], [:]] as [JSONObject])
  func create(_ strategy: String, _ more: JSONObject) throws {
    try endsDeleted(strategy, more, isUpdate: false)
  }

  @Test("does so as well if it is an update, which makes the entity again") func update() throws {
    try endsDeleted("clientWins", ["deltaSet": true], isUpdate: true)
  }

  private func endsDeleted(_ strategy: String, _ more: JSONObject, isUpdate: Bool) throws {
    let world = try World(historyDays: 15)
    let client = try world.client()
    let other = try world.client("other")
    defer { [client, other].forEach { $0.close() } }
    let user: JSONObject = ["username": "ana", "password": "pw"]
    _ = try client.signup(user, options: Options(), cancellation: Cancellation())
    _ = try other.login(user, options: Options(), cancellation: Cancellation())
    var options = more
    options["conflicts"] = .string(strategy)
    let store = try client.store("notes", type: "sync", options)
    let network = try other.store("notes", type: "network", nil)
    _ = try network.save(["_id": "kept", "n": 0])
    _ = try store.pull(Query(), DataStore.Run())

    var sent = try store.save(["n": 1, "text": "ü"])
    let id = try #require(sent["_id"]?.stringValue)
    if isUpdate {
      #expect(try store.push(DataStore.Run()).errors == [])
      sent = try store.save(["_id": .string(id), "n": 2])
    }
    world.stop()
    #expect(failure { _ = try store.push(DataStore.Run()) }?.kind == .network)
    try world.start()
    _ = try store.remove(id: id, DataStore.Run())
    #expect(try store.push(DataStore.Run()).errors == [])

    // What was sent then arrives now.
    _ = try network.save(sent)
    #expect(try network.all().count == 2)
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try store.all().map { $0["_id"] } == ["kept"])
    #expect(try store.push(DataStore.Run()).errors == [])
    #expect(try network.all().map { $0["_id"] } == ["kept"])
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try store.all().map { $0["_id"] } == ["kept"])
    #expect(try store.pendingCount() == 0)
  }
}
