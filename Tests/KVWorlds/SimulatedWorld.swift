import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
package import KVTestSupport

/// What the clients of a world speak to.
package enum WorldKind: String, CaseIterable, Sendable {
  case keyValue, appSync

  fileprivate func backend(_ random: inout Seed) throws -> any WorldBackend {
    switch self {
    case .keyValue: KeyValueWorld(&random)
    case .appSync: try AppSyncWorld(&random)
    }
  }
}

/// Several clients on one backend – one as Kinvey's, or an API of AppSync at the transport –, on real database files, over a
/// network that loses, delays, doubles, cuts and reorders messages, creates for as long as it likes, with a server that restarts,
/// in processes that die between any two transactions; everything by one seed. Some reads ask for everything, some for pages,
/// some for changes only; some calls repeat what failed. Some clients take in live data, whose messages arrive at any time, in the
/// middle of requests too.
///
/// Some clients see the backend through functions that speak JSON. Some backends take batches of writes, and their answers may
/// lack some of them.
///
/// Every client changes and deletes its own entities only, and saves to a few that all share. Then the
/// weather clears and everybody synchronises. Each world has its strategy for conflicts, on a backend that
/// keeps the conditions of writes or one that does not; what is left open is decided at the end, at random.
/// Nobody else changes an entity of one's own, so that no strategy may lose anything of these.
package final class SimulatedWorld {
  private let seed: Seed
  private var random: Seed
  private let backend: any WorldBackend
  private let directory = TemporaryDirectory(inMemory: true)
  private let strategy: ConflictStrategy
  private var members: [Member] = []
  /// Whether somebody acts while somebody else's request is on its way: not more than two at a time.
  private var isInterrupted = false
  private var findings: [String] = []

  package init(_ seed: Seed, _ kind: WorldKind) throws {
    self.seed = seed
    random = seed
    strategy =
      ConflictStrategy.allCases[Int(random.next() % UInt64(ConflictStrategy.allCases.count))]
    backend = try kind.backend(&random)
    for number in 0..<Int(2 + random.next() % 7) {
      let connection = try backend.connect("user\(number)", &random)
      let path = directory.file("\(number).kvs")
      let member = try Member(
        number, at: path, connection: connection, backend: backend, strategy: strategy,
        ids: Seed(random.next()), answers: Seed(random.next()))
      connection.line.before = { [unowned self, unowned member] random in
        interrupt(member, &random)
      }
      connection.line.deliver = { [unowned member] random in
        try? member.listen(&random)
      }
      members.append(member)
    }
  }

  /// Gives what is wrong at the end.
  package func run() throws -> [String] {
    for _ in 0..<40 {
      let member = members[Int(random.next() % UInt64(members.count))]
      member.line.weather = FaultyLine.Weather(
        lostRequests: random.next() % 30, lostAnswers: random.next() % 30,
        halfAnswers: random.next() % 30,
        serverErrors: random.next() % 10, doubledRequests: random.next() % 10,
        overtakenRequests: random.next() % 10, lateCreates: random.next() % 100,
        staleReads: random.next() % 30)
      backend.wait(&random)
      // The server is restarted: what follows finds nobody for a while.
      if random.next() % 16 == 0 { backend.absence = Int(random.next() % 6) }
      if random.next() % 8 == 0 {
        member.store.callsLeft = Int(random.next() % 12)
        member.store.diesAfterwards = random.next() % 2 == 0
      }
      try act(member, &random)
      if random.next() % 8 == 0 { backend.receiveDelayed(&random, all: false) }
    }
    try heal()
    check()
    return findings
  }

  private func act(_ member: Member, _ random: inout Seed) throws {
    try? member.listen(&random)
    try member.act(&random)
    if member.store.isDead { try member.restart() }
  }

  /// A request is on its way: it is overtaken by what somebody else does.
  private func interrupt(_ member: Member, _ random: inout Seed) {
    guard !isInterrupted else { return }
    isInterrupted = true
    defer { isInterrupted = false }
    let other = members[Int(random.next() % UInt64(members.count))]
    guard other !== member else { return }
    do { try act(other, &random) } catch { findings.append("\(error): \(seed)") }
  }

  private func heal() throws {
    backend.absence = 0
    for member in members {
      member.line.weather = FaultyLine.Weather()
      member.line.meanwhile = { _ in }
      member.store.callsLeft = nil
      // First, because a message that comes during the push may queue a deletion, which goes with the next one: nothing
      // but conflicts may be left by this one.
      try member.listenToAll(&random)
      let result = try member.engine.push(member.call())
      let isAllowed = ![.clientWins, .serverWins, .automerge].contains(strategy)
      require(
        result.errors.allSatisfy { isAllowed && $0.kind == .conflict },
        "errors at the end: \(result.errors)")
      findings += try member.decideConflicts(&random, in: seed)
    }
    backend.receiveDelayed(&random, all: true)
    // Three times: what has arrived late is seen the first time and deleted the second; and what one pushes after another
    // has pulled is pulled the next time.
    for _ in 0..<3 {
      for member in members {
        let result = try member.engine.sync(Query(), member.call(), how: Member.how(&random))
        require(result.push.errors.isEmpty, "errors at the end: \(result.push.errors)")
      }
    }
    for member in members { try member.listenToAll(&random) }
  }

  private func require(_ isSo: Bool, _ otherwise: @autoclosure () -> String) {
    if !isSo { findings.append("\(otherwise()): \(seed)") }
  }

  private func check() {
    let expected = backend.contents
    for member in members {
      require((try? member.engine.pendingCount()) == 0, "wedged: a queue is not empty")
      require(member.contents == expected, "divergent: a client and the backend differ")
      for (id, states) in member.acknowledged {
        let found = expected[id]?["value"] ?? .null
        require(states.contains(found), "lost: \(id) acknowledged \(states), found \(found)")
      }
    }
    let names = expected.values.compactMap { $0["name"]?.stringValue }
    require(Set(names).count == names.count, "doubled: a create happened twice")
    for (id, entity) in expected {
      guard let value = entity["value"] else { continue }
      require(
        entity["tags"] == [value], "doubled: \(id) has \(value), tags \(entity["tags"] ?? .null)")
    }
  }
}

/// One process with its file.
private final class Member {
  private let connection: any WorldConnection
  private let collection: String
  private let format: RecordFormat
  private(set) var store: DyingStore
  private(set) var engine: CollectionEngine
  /// For each of its own entities what it may be at the end: the last acknowledged state (null:
  /// deleted) and whatever was tried after it without an acknowledgement.
  private(set) var acknowledged: [String: [JSONValue]] = [:]
  private let number: Int
  private let path: String
  private let ids: Monitor<Seed>
  private var made = 0
  private let strategy: ConflictStrategy
  private let takesInLiveData: Bool
  /// What the handler of conflicts answers.
  private let answers: Monitor<Seed>

  init(
    _ number: Int, at path: String, connection: any WorldConnection, backend: any WorldBackend,
    strategy: ConflictStrategy, ids: Seed, answers: Seed
  ) throws {
    self.number = number
    self.path = path
    self.connection = connection
    (collection, format) = (backend.collection, backend.format)
    self.strategy = strategy
    self.ids = Monitor(ids)
    self.answers = Monitor(answers)
    takesInLiveData = number % 3 != 0
    store = try Self.open(path, format, ids: self.ids)
    engine = Self.engine(store, connection, of: backend.collection, number: number)
    engine.setConflictHandler(handler)
    line.versionHere = { [unowned self] id in
      store.version(of: id, in: self.collection, format)
    }
    line.meanwhile = { [unowned self] random in
      random.next() % 2 == 0
        ? update(&random, .forceLocal) : delete(&random, .forceLocal)
    }
  }

  var line: FaultyLine { connection.line }

  private static func engine(
    _ store: DyingStore, _ connection: any WorldConnection, of collection: String, number: Int
  ) -> CollectionEngine {
    CollectionEngine(
      collection: collection, type: .sync, local: store,
      remote: layers(around: connection.remote), sendGate: SendGate(),
      writer: { "user\(number)" })
  }

  func restart() throws {
    store = try Self.open(path, format, ids: ids)
    engine = Self.engine(store, connection, of: collection, number: number)
    engine.setConflictHandler(handler)
  }

  private var handler: ConflictHandler {
    { [answers] conflict, _ in
      switch answers.withLock({ $0.next() }) % 5 {
      case 0: .keep
      case 1: .take
      case 2: .merged(conflict.remote ?? conflict.local ?? Array("{}".utf8))
      case 3: .delete
      default: .leave
      }
    }
  }

  /// Retries or reverts what is in conflict, which is only what several have saved to.
  func decideConflicts(_ random: inout Seed, in seed: Seed) throws -> [String] {
    var findings: [String] = []
    for write in try engine.pending(after: nil, limit: 0) {
      if write.state != .conflict || !write.id.hasPrefix("shared-") {
        findings.append("wedged: \(write.id) is left: \(seed)")
      }
      // Somebody else may have been faster since.
      if random.next() % 2 == 0, (try? engine.retryPending(write.id, call())) != nil { continue }
      try engine.revertPending(write.id)
    }
    return findings
  }

  /// A file whose ids come from a seed, and are in no order.
  private static func open(
    _ path: String, _ format: RecordFormat, ids: Monitor<Seed>
  ) throws -> DyingStore {
    let storage = try Storage(path: path, layout: RecordLayout(format), durability: .normal) {
      String(ids.withLock { $0.next() }, radix: 16)
    }
    return DyingStore(storage)
  }

  var contents: [String: JSONValue] {
    guard let cursor = try? engine.find(Query(), options(.forceLocal)).value else { return [:] }
    var found: [String: JSONValue] = [:]
    while let bytes = try? cursor.next({ Array($0) }) {
      guard let entity = try? JSONValue(parsing: bytes) else { continue }
      found[entity[idMember]?.stringValue ?? ""] = entity
    }
    return found
  }

  private var idMember: String { format.id[0].name }

  private func options(_ write: WritePolicy) -> CallOptions {
    CallOptions(readPolicy: .forceLocal, writePolicy: write, call: call())
  }

  /// Some calls repeat what failed; nobody waits for their pauses.
  func call() -> Call {
    made += 1
    return Call(retry: Retry(limit: made % 3, clock: FakeRetryClock()), conflicts: strategy)
  }

  /// Takes in some of the live messages that have not arrived.
  func listen(_ random: inout Seed) throws {
    if takesInLiveData { try connection.listen(engine, &random, all: false) }
  }

  /// Takes in all live messages that have not arrived.
  func listenToAll(_ random: inout Seed) throws {
    if takesInLiveData { try connection.listen(engine, &random, all: true) }
  }

  /// Does one thing; failures are part of the game.
  func act(_ random: inout Seed) throws {
    let write: WritePolicy = random.next() % 3 == 0 ? .silentLocalThenNetwork : .forceLocal
    // Past the queue go entities with ids only: a create without one may happen twice.
    let sometimesPastQueue = random.next() % 6 == 0 ? .forceNetwork : write
    switch random.next() % 11 {
    case 0...2: create(write)
    case 3, 4: update(&random, sometimesPastQueue)
    case 5: delete(&random, sometimesPastQueue)
    case 6: deleteMany(&random, random.next() % 4 == 0 ? .forceNetwork : .silentLocalThenNetwork)
    case 7: share(&random)
    case 8:
      // All of it, or what a filter selects that entities enter and leave.
      let filter = random.next() % 2 == 0 ? nil : #"{"value":{"$lt":5}}"#
      _ = try? engine.pull(try Query(filter: filter), call(), how: Self.how(&random))
    default: _ = try? engine.push(call())
    }
  }

  static func how(_ random: inout Seed) -> CollectionEngine.Refreshing {
    .init(
      paging: random.next() % 2 == 0
        ? .off : .pages(of: 3, ranges: Int(1 + random.next() % 3)),
      usesChanges: random.next() % 2 == 0, comparesVersions: random.next() % 4 == 0)
  }

  private func create(_ write: WritePolicy) {
    made += 1
    let entity: JSONObject = [
      "name": .string("\(number)-\(made)"), "owner": .int(Int64(number)), "value": 0, "tags": [0],
    ]
    guard let saved = save(entity, write), let id = saved[idMember]?.stringValue else { return }
    acknowledged[id] = [0]
  }

  private func update(_ random: inout Seed, _ write: WritePolicy) {
    guard let id = mine(&random), let name = contents[id]?["name"] else { return }
    made += 1
    let value = JSONValue.int(Int64(made))
    acknowledged[id]?.append(value)
    let owner = JSONValue.int(Int64(number))
    var entity: JSONObject = ["name": name, "owner": owner, "value": value, "tags": [value]]
    entity[idMember] = .string(id)
    if save(entity, write) != nil { acknowledge(value, of: id) }
  }

  /// What was possible before this state no longer is. A later one may have been acknowledged meanwhile.
  private func acknowledge(_ state: JSONValue, of id: String) {
    guard let index = acknowledged[id]?.firstIndex(of: state) else { return }
    acknowledged[id]?.removeFirst(index)
  }

  private func delete(_ random: inout Seed, _ write: WritePolicy) {
    guard let id = mine(&random) else { return }
    acknowledged[id]?.append(.null)
    if let count = try? engine.remove(id: id, options: options(write)).value, count == 1 {
      acknowledge(.null, of: id)
    }
  }

  /// Deletes by a query what matches here, and perhaps what matches on the backend only and has changes to send.
  private func deleteMany(_ random: inout Seed, _ write: WritePolicy) {
    let least = Int64(random.next() % UInt64(made + 1))
    let filter = #"{"owner":\#(number),"value":{"$gte":\#(least)}}"#
    guard let query = try? Query(filter: filter) else { return }
    func matches(_ value: JSONValue?) -> Bool { value?.intValue.map { $0 >= least } ?? false }
    let matching = contents.filter { acknowledged[$0.key] != nil && matches($0.value["value"]) }
      .keys
    // The backend may have what nobody has acknowledged.
    for (id, states) in acknowledged where states.contains(where: matches) {
      acknowledged[id]?.append(.null)
    }
    guard (try? engine.remove(query, options(write))) != nil else { return }
    let left = contents
    guard !store.isDead else { return }
    for id in matching where left[id] == nil { acknowledge(.null, of: id) }
  }

  /// Saves to what others save to as well: whoever comes last wins.
  private func share(_ random: inout Seed) {
    var entity: JSONObject = ["by": .int(Int64(number))]
    entity[idMember] = .string("shared-\(random.next() % 3)")
    _ = save(entity, .forceLocal)
  }

  private func save(_ entity: JSONObject, _ write: WritePolicy) -> JSONValue? {
    let bytes = JSONValue.object(entity).bytes
    guard let outline = try? EntityScanner.outline(of: bytes, format) else { return nil }
    let saved = bytes.withUnsafeBytes {
      try? engine.save($0, outline, options: options(write)).value
    }
    return saved.flatMap { try? JSONValue(parsing: $0) }
  }

  private func mine(_ random: inout Seed) -> String? {
    let ids = acknowledged.keys.sorted().filter { acknowledged[$0] != [.null] }
    return ids.isEmpty ? nil : ids[Int(random.next() % UInt64(ids.count))]
  }
}
