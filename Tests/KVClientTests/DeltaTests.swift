import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import Testing

@Suite("Changes from a real server") struct DeltaTests {
  private func run(paged: Bool = false) -> DataStore.Run {
    var options = Options()
    options.deltaSet = true
    if paged {
      options.autoPagination = true
      options.maxSizePerResultSet = 10
    }
    return DataStore.Run(options)
  }

  @Test("a pull brings what was changed and deleted, and no more", arguments: [false, true])
  func pull(paged: Bool) throws {
    let world = try World(historyDays: 15)
    let client = try world.member()
    defer { client.close() }
    let writer = try client.store("notes", type: "network", nil)
    _ = try writer.saveMany((0..<50).map { ["n": .int($0)] })
    let store = try client.store("notes", type: "sync", nil)
    #expect(try store.pull(Query(), run(paged: paged)) == PullResult(pulled: 50))
    _ = try writer.remove(try Query(filter: #"{"n":{"$lt":10}}"#), DataStore.Run())
    _ = try writer.save(["_id": "new", "n": 100])
    let changes = try store.pull(Query(), run(paged: paged))
    #expect(changes.removed == 10)
    // What was written close to the first read may come twice, but not everything does.
    #expect((1..<41).contains(changes.pulled))
    #expect(try store.all().count == 41)
    // A find on the network, too.
    _ = try writer.save(["_id": "new", "n": 101])
    var options = run(paged: paged)
    options.options?.readPolicy = .forceNetwork
    let found = try store.all(try Query(filter: #"{"n":{"$gt":99}}"#), options)
    #expect(found.map { $0["n"] } == [101])
  }

  @Test("without a history everything is read, and right") func noHistory() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let writer = try client.store("notes", type: "network", nil)
    _ = try writer.saveMany([["_id": "a"], ["_id": "b"]])
    let store = try client.store("notes", type: "sync", nil)
    #expect(try store.pull(Query(), run()) == PullResult(pulled: 2))
    _ = try writer.remove(id: "a", DataStore.Run())
    #expect(try store.pull(Query(), run()) == PullResult(pulled: 1, removed: 1))
  }

  @Test("each request is in the debug log, and why everything is read instead of changes")
  func log() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let store = try client.store("notes", type: "sync", nil)
    _ = try client.store("notes", type: "network", nil).save(["_id": "a", "secret": "value"])
    _ = try store.pull(Query(), run())
    let lines = Monitor<[String]>([])
    client.log.set(level: Log.Level.debug.rawValue) { level, line in
      lines.withLock { $0.append("\(level) \(line)") }
    }
    _ = try store.pull(try Query(filter: "{}"), run())
    client.log.set(level: 0, nil)
    let heard = lines.withLock { $0 }
    #expect(heard.contains("4 changes of notes: MissingConfiguration: reading everything"))
    let requests = heard.filter { $0.hasPrefix("4 GET /appdata/") }
    let paths = requests.map { $0.split(separator: " ").prefix(4).joined(separator: " ") }
    let collection = "4 GET /appdata/kid_test/notes"
    #expect(paths == ["\(collection)/_deltaset 403,", "\(collection) 200,"], "\(heard)")
    #expect(requests.allSatisfy { $0.hasSuffix(" bytes") && $0.contains(" ms, ") })
    #expect(!heard.contains { $0.contains("value") })
  }

  @Test("what has left a query leaves the store with it") func left() throws {
    let world = try World(historyDays: 15)
    let client = try world.member()
    defer { client.close() }
    let writer = try client.store("notes", type: "network", nil)
    _ = try writer.save(["_id": "a", "done": false])
    let store = try client.store("notes", type: "sync", nil)
    let open = try Query(filter: #"{"done":false}"#)
    #expect(try store.pull(open, run()) == PullResult(pulled: 1))
    _ = try writer.save(["_id": "a", "done": true])
    #expect(try store.pull(open, run()) == PullResult(removed: 1))
    #expect(try store.all().isEmpty)
  }

  @Test("somebody else's first read is a whole one") func otherUser() throws {
    let world = try World(historyDays: 15)
    let client = try world.member("ana", ["sharedDevice": true])
    let other = try world.member("bob")
    defer {
      client.close()
      other.close()
    }
    _ = try client.store("notes", type: "network", nil)
      .save(["_id": "private", "_acl": ["gr": false]])
    let store = try client.store("notes", type: "sync", nil)
    #expect(try store.pull(Query(), run()).pulled == 1)
    _ = try client.login(
      ["username": "bob", "password": "pw"], options: Options(), cancellation: Cancellation())
    #expect(try store.pull(Query(), run()) == PullResult(removed: 1))
  }
}
