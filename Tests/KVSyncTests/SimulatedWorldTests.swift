import Glibc
import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// Several clients on one backend, on real database files, over a network that loses requests and answers,
/// in processes that die between any two transactions; everything by one seed. Some reads ask for everything,
/// some for pages, some for changes only.
///
/// Every client changes and deletes its own entities only, and saves to a few that all share. Then the
/// weather clears and everybody synchronises. Each world has its strategy for conflicts, on a backend that
/// keeps the conditions of writes or one that does not; what is left open is decided at the end, at random.
/// Nobody else changes an entity of one's own, so that no strategy may lose anything of these.
@Suite("A simulated world") struct SimulatedWorldTests {
  /// How many worlds: `KV_WORLDS` sets it, for longer runs.
  static let worlds = getenv("KV_WORLDS").flatMap { Int(String(cString: $0)) } ?? 300

  @Test("loses nothing, doubles nothing, and ends with everybody of one mind")
  func everySeed() throws {
    var seeds = Seed()
    let given = getenv("KV_TEST_SEED") != nil
    for _ in 0..<(given ? 1 : Self.worlds) {
      let seed = given ? seeds : Seed(seeds.next())
      try SimulatedWorld(seed).run()
    }
  }
}

/// One of them.
private final class SimulatedWorld {
  private let seed: Seed
  private var random: Seed
  private let backend = FakeBackend()
  private let directory = TemporaryDirectory(inMemory: true)
  private let strategy: ConflictStrategy
  private var members: [Member] = []

  init(_ seed: Seed) throws {
    self.seed = seed
    random = seed
    strategy =
      ConflictStrategy.allCases[Int(random.next() % UInt64(ConflictStrategy.allCases.count))]
    let keepsConditions = random.next() % 2 == 0
    for number in 0..<Int(2 + random.next() % 3) {
      let network = FakeNetwork(backend, user: "user\(number)", seed: random.next())
      network.keepsConditions = keepsConditions
      members.append(
        try Member(number, directory.file("\(number).kvs"), network, strategy, random.next()))
    }
  }

  func run() throws {
    for _ in 0..<40 {
      let member = members[Int(random.next() % UInt64(members.count))]
      member.network.weather = FakeNetwork.Weather(
        lostRequests: random.next() % 30, lostAnswers: random.next() % 30,
        serverErrors: random.next() % 10)
      if random.next() % 8 == 0 {
        member.store.callsLeft = Int(random.next() % 12)
        member.store.diesAfterwards = random.next() % 2 == 0
      }
      try member.act(&random)
      if member.store.isDead { try member.restart() }
    }
    try heal()
    check()
  }

  private func heal() throws {
    for member in members {
      member.network.weather = FakeNetwork.Weather()
      member.network.meanwhile = { _ in }
      member.store.callsLeft = nil
      let result = try member.engine.push(member.call)
      let isAllowed = strategy != .clientWins && strategy != .serverWins
      #expect(result.errors.allSatisfy { isAllowed && $0.kind == .conflict }, "\(seed)")
      try member.decideConflicts(&random, in: seed)
    }
    // Twice: what one pushes after another has pulled is pulled the second time.
    for _ in 0..<2 {
      for member in members {
        let result = try member.engine.sync(Query(), member.call, Member.how(&random))
        #expect(result.push.errors.isEmpty, "\(seed)")
      }
    }
  }

  private func check() {
    for member in members {
      #expect((try? member.engine.pendingCount()) == 0, "queue not empty: \(seed)")
      #expect(member.contents == backendContents, "client and backend differ: \(seed)")
      for (id, expected) in member.acknowledged {
        let found = backend.entities[id]?["value"]
        #expect(
          expected.contains(found ?? .null), "acknowledged \(expected), found \(found): \(seed)")
      }
    }
    let names = backend.entities.values.compactMap { $0["name"]?.stringValue }
    #expect(Set(names).count == names.count, "a create happened twice: \(seed)")
  }

  private var backendContents: [String: JSONValue] { backend.entities.mapValues { .object($0) } }
}

/// One process with its file.
private final class Member {
  let network: FakeNetwork
  private(set) var store: DyingStore
  private(set) var engine: CollectionEngine
  /// For each of its own entities what it may be at the end: the last acknowledged state (null:
  /// deleted) and whatever was tried after it without an acknowledgement.
  private(set) var acknowledged: [String: [JSONValue]] = [:]
  private let number: Int
  private let path: String
  private var made = 0
  let call: Call
  /// What the handler of conflicts answers.
  private let answers: Monitor<Seed>

  init(
    _ number: Int, _ path: String, _ network: FakeNetwork, _ strategy: ConflictStrategy,
    _ seed: UInt64
  ) throws {
    self.number = number
    self.path = path
    self.network = network
    call = Call(conflicts: strategy)
    answers = Monitor(Seed(seed))
    store = DyingStore(try Storage(path: path, durability: .normal))
    engine = Member.engine(store, network, number)
    engine.setConflictHandler(handler)
    network.meanwhile = { [unowned self] random in
      random.next() % 2 == 0
        ? update(&random, .forceLocal) : delete(&random, .forceLocal)
    }
  }

  private static func engine(
    _ store: DyingStore, _ network: FakeNetwork, _ number: Int
  ) -> CollectionEngine {
    CollectionEngine(
      collection: "things", type: .sync, local: store, remote: network, inFlight: InFlight(),
      writer: { "user\(number)" })
  }

  func restart() throws {
    store = DyingStore(try Storage(path: path, durability: .normal))
    engine = Member.engine(store, network, number)
    engine.setConflictHandler(handler)
  }

  private var handler: ConflictHandler {
    { [answers] conflict, _ in
      switch answers.peek({ $0.next() }) % 5 {
      case 0: .keep
      case 1: .take
      case 2: .merged(conflict.remote ?? conflict.local ?? Array("{}".utf8))
      case 3: .delete
      default: .leave
      }
    }
  }

  /// Retries or reverts what is in conflict, which is only what several have saved to.
  func decideConflicts(_ random: inout Seed, in seed: Seed) throws {
    for write in try engine.pending(after: nil, most: 0) {
      #expect(write.state == .conflict && write.id.hasPrefix("shared-"), "\(seed)")
      // Somebody else may have been faster since.
      if random.next() % 2 == 0, (try? engine.retryPending(write.id, call)) != nil { continue }
      try engine.revertPending(write.id)
    }
  }

  var contents: [String: JSONValue] {
    guard let cursor = try? engine.find(Query(), options(.forceLocal)).value else { return [:] }
    var found: [String: JSONValue] = [:]
    while let bytes = try? cursor.next({ Array($0) }) {
      guard let entity = try? JSONValue(parsing: bytes) else { continue }
      found[entity["_id"]?.stringValue ?? ""] = entity
    }
    return found
  }

  private func options(_ write: WritePolicy) -> CallOptions {
    CallOptions(readPolicy: .forceLocal, writePolicy: write, call: call)
  }

  /// Does one thing; failures are part of the game.
  func act(_ random: inout Seed) throws {
    let write: WritePolicy = random.next() % 3 == 0 ? .silentLocalThenNetwork : .forceLocal
    switch random.next() % 10 {
    case 0...2: create(write)
    case 3, 4: update(&random, write)
    case 5: delete(&random, write)
    case 6: share(&random)
    case 7:
      // All of it, or what a filter selects that entities enter and leave.
      let filter = random.next() % 2 == 0 ? nil : #"{"value":{"$lt":5}}"#
      _ = try? engine.pull(try Query(filter: filter), call, Self.how(&random))
    default: _ = try? engine.push(call)
    }
  }

  static func how(_ random: inout Seed) -> CollectionEngine.Refreshing {
    .init(
      paging: random.next() % 2 == 0 ? .off : .pages(of: 3), usesChanges: random.next() % 2 == 0,
      comparesVersions: random.next() % 4 == 0)
  }

  private func create(_ write: WritePolicy) {
    made += 1
    let entity: JSONObject = ["name": .string("\(number)-\(made)"), "value": 0]
    guard let saved = save(entity, write), let id = saved["_id"]?.stringValue else { return }
    acknowledged[id] = [0]
  }

  private func update(_ random: inout Seed, _ write: WritePolicy) {
    guard let id = mine(&random), let name = contents[id]?["name"] else { return }
    made += 1
    let value = JSONValue.int(Int64(made))
    acknowledged[id]?.append(value)
    if save(["_id": .string(id), "name": name, "value": value], write) != nil {
      acknowledge(value, of: id)
    }
  }

  /// What was possible before this state no longer is. A later one may have been acknowledged meanwhile.
  private func acknowledge(_ state: JSONValue, of id: String) {
    guard let place = acknowledged[id]?.firstIndex(of: state) else { return }
    acknowledged[id]?.removeFirst(place)
  }

  private func delete(_ random: inout Seed, _ write: WritePolicy) {
    guard let id = mine(&random) else { return }
    acknowledged[id]?.append(.null)
    if let count = try? engine.remove(id: id, options(write)).value, count == 1 {
      acknowledge(.null, of: id)
    }
  }

  /// Saves to what others save to as well: whoever comes last wins.
  private func share(_ random: inout Seed) {
    let entity: JSONObject = [
      "_id": .string("shared-\(random.next() % 3)"), "by": .int(Int64(number)),
    ]
    _ = save(entity, .forceLocal)
  }

  private func save(_ entity: JSONObject, _ write: WritePolicy) -> JSONValue? {
    let bytes = JSONValue.object(entity).bytes
    guard let outline = try? EntityScanner.outline(of: bytes) else { return nil }
    let saved = bytes.withUnsafeBytes { try? engine.save($0, outline, options(write)).value }
    return saved.flatMap { try? JSONValue(parsing: $0) }
  }

  private func mine(_ random: inout Seed) -> String? {
    let ids = acknowledged.keys.sorted().filter { acknowledged[$0] != [.null] }
    return ids.isEmpty ? nil : ids[Int(random.next() % UInt64(ids.count))]
  }
}
