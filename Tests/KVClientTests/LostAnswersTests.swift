import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// A real server, over a connection that breaks before its answers arrive.
@Suite("A write to kvstored whose answer was lost") struct LostAnswersTests {
  private let world: World
  private let portal: Portal
  private let client: Client
  private let store: DataStore

  init() throws {
    world = try World()
    portal = try Portal(to: world.url)
    client = try world.member("ana", ["host": .string(portal.url), "retries": 3])
    store = try client.store("things", type: "network", nil)
    _ = try store.save(["_id": "x", "n": 1])
  }

  private static let path = "/appdata/kid_test/things/x"

  /// What sends each request once.
  private static var once: DataStore.Run {
    var options = Options()
    options.retries = 0
    return DataStore.Run(options)
  }

  private func end() {
    client.close()
    portal.stop()
  }

  private func value() throws -> JSONValue? { try store.all().first?["n"] }

  @Test("increments once") func increment() throws {
    defer { end() }
    portal.loseAnswers(to: "PUT", Self.path)
    let update = try store.parsedUpdate(#"{"$inc":{"n":1}}"#)
    let result = try store.update(Query(filter: #"{"_id":"x"}"#), update, run: .init()).value
    #expect(result.modified == ["x"])
    #expect(try value() == 2)
    #expect(portal.waitForEnd())
  }

  @Test("increments beside others once") func others() throws {
    defer { end() }
    let other = try world.administrator()
    defer { other.close() }
    let theirs = try other.store("things", type: "network", nil)
    let update = try store.parsedUpdate(#"{"$inc":{"n":1}}"#)
    for round in 1...5 {
      portal.loseAnswers(to: "PUT", Self.path)
      _ = try store.update(Query(filter: #"{"_id":"x"}"#), update, run: .init())
      _ = try theirs.update(Query(filter: #"{"_id":"x"}"#), update, run: .init())
      #expect(try value() == .int(Int64(1 + 2 * round)))
    }
  }

  @Test("saves and removes on a condition") func conditional() throws {
    defer { end() }
    portal.loseAnswers(to: "PUT", Self.path)
    let one = WriteCondition.matches(try Query(filter: #"{"n":1}"#))
    let entity: JSONValue = ["_id": "x", "n": 2]
    let saved = try entity.bytes.withUnsafeBytes { try store.save($0, if: one, .init()).value }
    #expect(try JSONValue(parsing: saved)["n"] == 2)
    portal.loseAnswers(to: "DELETE", Self.path)
    let two = WriteCondition.matches(try Query(filter: #"{"n":2}"#))
    #expect(try store.remove(id: "x", if: two, .init()).value == 1)
    #expect(try store.all().isEmpty)
  }

  @Test("of the queue is settled though others have changed the entity since") func queued() throws
  {
    defer { end() }
    let queue = try client.store("things", type: "sync", nil)
    _ = try queue.pull(Query(), .init())
    _ = try queue.save(["_id": "x", "n": 5])
    portal.loseAnswers(to: "PUT", Self.path, times: 100)
    #expect(throws: StoreError.self) { try queue.push(Self.once) }
    portal.obey()
    let other = try world.administrator()
    defer { other.close() }
    _ = try other.store("things", type: "network", nil).save(["_id": "x", "n": 9])
    #expect(try queue.push(.init()) == PushResult(pushed: 1))
    #expect(try value() == 9)
    #expect(try queue.all().first?["n"] == 9)
  }

  @Test("of the queue is settled though others have deleted the entity since") func gone() throws {
    defer { end() }
    let queue = try client.store("things", type: "sync", nil)
    _ = try queue.pull(Query(), .init())
    _ = try queue.save(["_id": "x", "n": 5])
    _ = try queue.save(["_id": "y", "n": 6])
    for method in ["PUT", "POST"] { portal.loseAnswers(to: method, "/appdata", times: 100) }
    #expect(throws: StoreError.self) { try queue.push(Self.once) }
    portal.obey()
    #expect(try store.remove(Query(), .init()).value == 2)
    #expect(try queue.push(.init()) == PushResult(pushed: 2))
    #expect(try store.all().isEmpty)
    #expect(try queue.all().isEmpty)
  }
}
