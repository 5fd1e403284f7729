import Glibc
import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// A user with a store, a server, and somebody else who writes past it.
private struct Scene {
  let world: World
  let client: Client
  let notes: DataStore
  let theirs: DataStore

  init() throws {
    world = try World()
    client = try world.member()
    notes = try client.store("notes", type: "sync", nil)
    theirs = try client.store("notes", type: "network", nil)
    _ = try theirs.save(["_id": "a", "n": 1, "m": 1])
    _ = try notes.pull(Query(), DataStore.Run())
  }

  func run(_ strategy: ConflictStrategy) -> DataStore.Run {
    var options = Options()
    options.conflicts = strategy
    return DataStore.Run(options)
  }

  /// Members of `a` here and there; nil: it is not there.
  func both(_ member: String) throws -> [JSONValue?] {
    [try notes.all().first?[member], try theirs.all().first?[member]]
  }

  func detail(_ id: String) throws -> JSONValue { try JSONValue(parsing: notes.pending(id)) }
}

@Suite("Conflicts on a real server") struct ServerConflictTests {
  @Test("end as the strategy says", arguments: ConflictStrategy.allCases)
  func strategies(_ strategy: ConflictStrategy) throws {
    let scene = try Scene()
    defer { scene.client.close() }
    // A first conflict by reading before writing, a second one by the server's own comparison.
    for round in 0..<2 {
      let (ours, theirs) = (Int64(10 * round + 2), Int64(10 * round + 3))
      _ = try scene.theirs.save(["_id": "a", "n": .int(theirs), "m": 1])
      _ = try scene.notes.save(["_id": "a", "n": .int(ours), "m": 2])
      let result = try scene.notes.push(scene.run(strategy))
      switch strategy {
      case .clientWins:
        #expect(try scene.both("n") == [.int(ours), .int(ours)])
      case .serverWins:
        #expect(try scene.both("n") == [.int(theirs), .int(theirs)])
        #expect(try scene.both("m") == [1, 1])
        #expect(result.discarded == 1)
      case .automerge:
        #expect(try scene.both("n") == [.int(theirs), .int(theirs)])
        #expect(try scene.both("m") == (round == 0 ? [2, 2] : [1, 1]))
        #expect(result.discarded == 1)
      case .merge, .optimistic, .handler:
        #expect(result.errors.map(\.kind) == [.conflict])
        #expect(try scene.detail("a")["state"] == "conflict")
        #expect(try scene.detail("a")["remote"]?["n"] == .int(theirs))
        try scene.notes.revertPending("a")
        #expect(try scene.both("n") == [.int(theirs), .int(theirs)])
      }
      #expect(try scene.notes.pendingCount() == 0)
      // Something that is no conflict, after which the server is known to compare.
      _ = try scene.notes.save(["_id": "other", "n": 0])
      #expect(try scene.notes.push(scene.run(strategy)).pushed == 1)
      _ = try scene.theirs.remove(id: "other", DataStore.Run())
      _ = try scene.notes.pull(Query(), DataStore.Run())
    }
  }

  @Test("are merged member by member") func merge() throws {
    let scene = try Scene()
    defer { scene.client.close() }
    _ = try scene.theirs.save(["_id": "a", "n": 3, "m": 1])
    _ = try scene.notes.save(["_id": "a", "n": 1, "m": 2])
    #expect(try scene.notes.push(scene.run(.merge)) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [3, 3])
    #expect(try scene.both("m") == [2, 2])
  }

  @Test("of a deletion with a change are noticed both ways") func deletions() throws {
    let scene = try Scene()
    defer { scene.client.close() }
    _ = try scene.theirs.save(["_id": "a", "n": 3])
    _ = try scene.notes.remove(id: "a", DataStore.Run())
    #expect(try scene.notes.push(scene.run(.optimistic)).errors.map(\.kind) == [.conflict])
    #expect(try scene.detail("a")["remote"]?["n"] == 3)
    try scene.notes.retryPending("a", scene.run(.optimistic))
    #expect(try scene.both("n") == [nil, nil])

    _ = try scene.theirs.save(["_id": "b", "n": 1])
    _ = try scene.notes.pull(Query(), DataStore.Run())
    _ = try scene.notes.save(["_id": "b", "n": 2])
    _ = try scene.theirs.remove(id: "b", DataStore.Run())
    #expect(try scene.notes.push(scene.run(.optimistic)).errors.map(\.kind) == [.conflict])
    #expect(try scene.detail("b")["remote"] == .null)
    try scene.notes.retryPending("b", scene.run(.optimistic))
    #expect(try scene.both("n") == [2, 2])
  }

  @Test("are met by an Auto store at once, and the save is kept") func auto() throws {
    let scene = try Scene()
    defer { scene.client.close() }
    let auto = try scene.client.store("notes", type: "auto", ["conflicts": "optimistic"])
    _ = try scene.theirs.save(["_id": "a", "n": 3])
    #expect(failure { _ = try auto.save(["_id": "a", "n": 2]) }?.kind == .conflict)
    #expect(try scene.detail("a")["state"] == "conflict")
    #expect(try scene.both("n") == [2, 3])
  }

  @Test(
    "are decided as the application's store says when its client pushes by itself",
    arguments: [true, false])
  func automatic(_ hasHandler: Bool) throws {
    let world = try World()
    let client = try world.member("client", ["pushAutomatically": true])
    defer { client.close() }
    let theirs = try client.store("notes", type: "network", nil)
    let notes = try client.store(
      "notes", type: "sync", hasHandler ? nil : ["conflicts": "serverWins"])
    if hasHandler { notes.setConflictHandler { _, _ in .take } }
    _ = try theirs.save(["_id": "a", "n": 1])
    _ = try notes.pull(Query(), DataStore.Run())
    _ = try theirs.save(["_id": "a", "n": 3])
    _ = try notes.save(["_id": "a", "n": 2])
    while try notes.pendingCount() > 0 { usleep(1000) }
    #expect(try notes.all().map { $0["n"] } == [3])
    #expect(try theirs.all().map { $0["n"] } == [3])
  }
}

@Suite("Writes whose answers are lost") struct LostAnswerTests {
  private func scene() throws -> (World, Relay, Client, DataStore) {
    let world = try World()
    let port = try #require(UInt16(world.url.split(separator: ":").last ?? ""))
    let relay = try Relay(to: port)
    let client = try world.member("client", ["host": .string(relay.url)])
    return (world, relay, client, try client.store("notes", type: "sync", nil))
  }

  private func onServer(_ world: World) throws -> [JSONValue] {
    let client = try world.client("other", ["masterSecret": "master"])
    defer { client.close() }
    return try client.store("notes", type: "network", nil).all()
  }

  @Test("creates happen once, under the ids that the application has", arguments: [0, 2])
  func creates(_ retries: Int) throws {
    let (world, relay, client, notes) = try scene()
    defer {
      client.close()
      relay.stop()
    }
    var options = Options()
    options.retries = retries
    let run = DataStore.Run(options)
    let saved = try notes.saveMany((0..<250).map { ["n": .int($0)] }).entities
    let ids = Set(
      saved.compactMap { $0.flatMap { try? JSONValue(parsing: $0)["_id"]?.stringValue } })
    relay.losingAnswers {
      #expect(failure { _ = try notes.push(run) }?.kind == .network)
    }
    #expect(relay.lost > 0)
    // One of them is changed, another one deleted, before it is known that they arrived.
    let changed = try #require(ids.sorted().first)
    let deleted = try #require(ids.sorted().last)
    _ = try notes.save(["_id": .string(changed), "n": -1])
    _ = try notes.remove(id: deleted, DataStore.Run())
    #expect(try notes.push(run).errors.isEmpty)
    #expect(try notes.pendingCount() == 0)
    let there = try onServer(world)
    #expect(Set(there.compactMap { $0["_id"]?.stringValue }) == ids.subtracting([deleted]))
    #expect(there.count == 249)
    #expect(there.first { $0["_id"]?.stringValue == changed }?["n"] == -1)
    #expect(try notes.pull(Query(), DataStore.Run()).removed == 0)
    #expect(try notes.all().count == 249)
  }

  @Test(
    "updates and deletions are no conflicts with themselves",
    arguments: [ConflictStrategy.optimistic, .serverWins, .merge])
  func updates(_ strategy: ConflictStrategy) throws {
    let (world, relay, client, notes) = try scene()
    defer {
      client.close()
      relay.stop()
    }
    var options = Options()
    options.conflicts = strategy
    let run = DataStore.Run(options)
    _ = try notes.saveMany([["_id": "a", "n": 1], ["_id": "b", "n": 1], ["_id": "c", "n": 1]])
    #expect(try notes.push(run).pushed == 3)
    _ = try notes.saveMany([["_id": "a", "n": 2], ["_id": "b", "n": 2]])
    _ = try notes.remove(id: "c", DataStore.Run())
    relay.losingAnswers { #expect(failure { _ = try notes.push(run) }?.kind == .network) }
    _ = try notes.save(["_id": "b", "n": 3])
    _ = try notes.save(["_id": "c", "n": 4])
    #expect(try notes.push(run).errors.isEmpty)
    #expect(try notes.pendingCount() == 0)
    let values = try onServer(world).compactMap { $0["n"]?.intValue }.sorted()
    #expect(values == [2, 3, 4])
    #expect(try notes.all().compactMap { $0["n"]?.intValue }.sorted() == [2, 3, 4])
  }

  @Test(
    "a deletion by query is no conflict with what is saved again",
    arguments: [ConflictStrategy.optimistic, .serverWins, .merge], ["auto", "cache"])
  func removals(_ strategy: ConflictStrategy, _ type: String) throws {
    let (world, relay, client, _) = try scene()
    defer {
      client.close()
      relay.stop()
    }
    let notes = try client.store("notes", type: type, nil)
    var options = Options()
    options.conflicts = strategy
    let run = DataStore.Run(options)
    _ = try notes.save(["_id": "x", "g": 1, "n": 1], run)
    #expect(try notes.push(run).errors.isEmpty)
    relay.losingAnswers {
      _ = failure { _ = try notes.remove(Query(filter: #"{"g":1}"#), run) }
    }
    #expect(try onServer(world).isEmpty)
    options.writePolicy = .forceLocal
    _ = try notes.save(["_id": "x", "g": 1, "n": 2], DataStore.Run(options))
    #expect(try notes.push(run).errors.isEmpty)
    #expect(try notes.pendingCount() == 0)
    #expect(try onServer(world).map { $0["n"] } == [2])
    #expect(try notes.all().map { $0["n"] } == [2])
  }
}

@Suite("Unsent work") struct UnsentWorkTests {
  @Test("is taken by nothing that was not told to: what was set aside as little as what waits")
  func kept() throws {
    let world = try World()
    let client = try world.member()
    defer { client.close() }
    let notes = try client.store("notes", type: "sync", nil)
    _ = try notes.saveMany([["_id": "bad", "_geoloc": [500, 500]], ["_id": "waits"]])
    _ = try client.store("notes", type: "sync", nil).push(DataStore.Run())
    _ = try notes.save(["_id": "waits", "n": 2])
    let queue = try notes.pending(after: nil, limit: 0)

    // Pulls, logins, restarts.
    #expect(failure { _ = try notes.pull(Query(), DataStore.Run()) }?.kind == .pending)
    #expect(failure { try client.logout(.init(), Cancellation()) }?.kind == .pending)
    _ = try client.login(
      ["username": "client", "password": "pw"], options: Options(), cancellation: Cancellation())
    #expect(try notes.pending(after: nil, limit: 0) == queue)
    client.close()
    let again = try world.client()
    defer { again.close() }
    let reopened = try again.store("notes", type: "sync", nil)
    #expect(try reopened.pending(after: nil, limit: 0) == queue)
    try reopened.retryPending("waits", DataStore.Run())
    // Now nothing waits: a pull may run, and leaves what was set aside alone.
    _ = try reopened.pull(Query(), DataStore.Run())
    #expect(try reopened.pendingCount() == 1)
    #expect(try reopened.all().count == 2)
    #expect(failure { try again.logout(.init(), Cancellation()) }?.kind == .pending)
  }
}
