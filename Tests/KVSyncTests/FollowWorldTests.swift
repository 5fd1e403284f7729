import Glibc
import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import KVWorlds
import Testing

/// Several follows of overlapping queries on one file, stepped by hand on a clock of the test's, each of them held at any
/// point of any request while the others go on: networks that come and go, live messages that are late, lost or told as
/// missed, writes on both sides, data that is cleared here, writes that are given up while they are sent.
@Suite("Follows in any weather") struct FollowWorldTests {
  private static let worlds = getenv("KV_FOLLOW_WORLDS").flatMap { Int(String(cString: $0)) } ?? 60

  @Test("end with what the backend has, and nothing left to send", arguments: 0..<worlds)
  func everySchedule(_ number: Int) throws {
    let seeds = Seed()
    let seed = Seed((seeds.value &+ UInt64(number) &* 7919) >> 1)
    let world = try FollowWorld(seed)
    for _ in 0..<80 { try world.act() }
    try world.settle()
    #expect(world.findings.isEmpty, "\(seeds), world \(number): \(world.findings)")
  }
}

/// `@unchecked Sendable`: of the threads of a world only one runs at a time.
private final class FollowWorld: @unchecked Sendable {
  /// One follow and the live data that it listens to.
  private final class Member: @unchecked Sendable {
    let query: Query
    var follower: Follower?
    var line: Line?
    /// How many of the backend's messages it was sent, or will never be.
    var receivedCount = 0
    var isBroken = false
    /// What it does just now, in the middle of a request.
    var step: Coroutine?

    init(_ query: Query) { self.query = query }

    /// Delivers an event to the follower, as long as it listens.
    var receive: (@Sendable (LiveEvent) -> Void)? { line?.isOver == false ? line?.receive : nil }
  }

  private final class Line: @unchecked Sendable, LiveListener {
    let receive: @Sendable (LiveEvent) -> Void
    var isOver = false

    init(_ receive: @escaping @Sendable (LiveEvent) -> Void) { self.receive = receive }

    func end() { isOver = true }
  }

  private static let offline = StoreError(.network, "Nobody.")
  private static let filters = [
    "{}", "{\"n\":{\"$lt\":6}}", "{\"n\":{\"$lt\":6}}", "{\"n\":{\"$gt\":3}}",
  ]

  private var random: Seed
  private let directory = TemporaryDirectory(inMemory: true)
  private let backend = FakeBackend()
  private let network: FakeNetwork
  private let engine: CollectionEngine
  private let members: [Member]
  private var now = 0.0
  private var isOnline = true
  private var isPushing = false
  /// What the application reads besides, in the middle of a request.
  private var reading: Coroutine?
  /// Who does something just now.
  private var current: Coroutine?
  private(set) var findings: [String] = []

  init(_ seed: Seed) throws {
    random = seed
    network = FakeNetwork(backend, user: "ana", seed: random.next())
    engine = CollectionEngine(
      collection: "notes", type: .sync,
      local: try Storage(path: directory.file("data.kvs"), durability: .normal),
      remote: layers(around: network), sendGate: SendGate(), writer: { "ana" })
    members = try Self.filters.shuffled(using: &random).prefix(Int(2 + random.next() % 3)).map {
      Member(try Query(filter: $0))
    }
    network.pause = { [unowned self] in if chance(3) > 0 { current?.pause() } }
    for member in members { member.follower = follower(of: member) }
  }

  private func follower(of member: Member) -> Follower {
    let usesLive = chance(4) > 0
    let paging = chance(2) == 0 ? CollectionEngine.Paging.off : .pages(of: 4)
    let engine = engine
    let work = Follower.Work(
      listen: { [unowned self, unowned member] (receive, _) throws(StoreError) in
        guard isOnline else { throw Self.offline }
        let line = Line(receive)
        member.line = line
        member.receivedCount = backend.published.count
        member.isBroken = false
        receive(.ready)
        return line
      },
      apply: { [unowned member] (change) throws(StoreError) in
        try engine.apply(change, matching: member.query.matcher)
      },
      push: { [unowned self] (_) throws(StoreError) in
        // One at a time: the next one would wait for it, and everybody with it.
        guard !isPushing, try engine.waitingCount() > 0 else { return nil }
        isPushing = true
        defer { isPushing = false }
        let result = try engine.push(call)
        return try engine.waitingCount() > 0 ? result.errors.first : nil
      },
      read: { [unowned self, unowned member] (_) throws(StoreError) in
        _ = try engine.catchUp(member.query, call, how: .init(paging: paging, usesChanges: true))
      })
    return Follower(
      collection: "notes", filter: member.query.filterText, interval: 30, usesLive: usesLive, work,
      now: { [unowned self] in now }, share: { 1 }, changed: {})
  }

  private var call: Call { Call() }

  private func chance(_ count: UInt64) -> UInt64 { random.next() % count }

  private func entity(_ ids: String) -> JSONObject {
    ["_id": .string("\(ids)\(chance(6))"), "n": .int(Int64(chance(10)))]
  }

  // MARK: What happens

  func act() throws {
    switch chance(12) {
    case 0, 1:
      let entity = entity("e")
      _ = try backend.replace(
        JSONValue.object(entity).bytes, entity["_id"]?.stringValue ?? "", by: "bob")
    case 2: _ = backend.delete("e\(chance(6))")
    case 3, 4: try save(entity(chance(3) == 0 ? "e" : "m"))
    case 5: if chance(3) == 0 { setOnline(!isOnline) }
    case 6: breakOrRepair(members[Int(chance(UInt64(members.count)))])
    case 7: if chance(4) == 0, isOnline { try forget() }
    case 8: try giveUp()
    case 9 where reading == nil: reading = aside()
    default: now += Double(chance(40))
    }
    for member in members {
      if chance(2) == 0 { deliver(member) }
      if chance(3) > 0 { step(member, limit: Int(chance(8))) }
      if chance(3) == 0 { reading = reading.flatMap(resume) }
    }
  }

  /// A read of the application's own, of all or some, which nobody follows.
  private func aside() -> Coroutine {
    let query = members[Int(chance(UInt64(members.count)))].query
    let how = CollectionEngine.Refreshing(
      paging: chance(2) == 0 ? .off : .pages(of: 4), usesChanges: chance(2) == 0,
      comparesVersions: chance(2) == 0)
    return Coroutine { [engine] in _ = try? engine.catchUp(query, Call(), how: how) }
  }

  /// Lets something go on; gives it back unless it has ended.
  private func resume(_ step: Coroutine) -> Coroutine? {
    current = step
    defer { current = nil }
    return step.resume() ? step : nil
  }

  private func save(_ entity: JSONObject) throws {
    let bytes = JSONValue.object(entity).bytes
    let outline = try EntityScanner.outline(of: bytes)
    let options = CallOptions(readPolicy: .forceLocal, writePolicy: .forceLocal, call: call)
    _ = try bytes.withUnsafeBytes { try engine.save($0, outline, options: options) }
    for member in members { member.follower?.didSave() }
  }

  private func forget() throws {
    _ = try engine.clear(nil)
    for member in members { member.follower?.receive(.missed) }
  }

  /// Gives up what waits, all of it or some, also while it is sent.
  private func giveUp() throws {
    switch chance(3) {
    case 0: _ = try engine.purge(nil)
    case 1: _ = try engine.purge(members[0].query)
    default:
      guard let write = try engine.pending(after: nil, limit: 1).first else { return }
      if chance(2) == 0 {
        try engine.dropPending(write.id)
      } else {
        try engine.revertPending(write.id)
      }
    }
    for member in members { member.follower?.receive(.missed) }
  }

  private func setOnline(_ isOnline: Bool) {
    self.isOnline = isOnline
    network.weather.lostRequests = isOnline ? 0 : 100
    // A revival without a cause, which must change nothing.
    if isOnline, chance(2) == 0 { for member in members { member.follower?.receive(.revived) } }
  }

  private func breakOrRepair(_ member: Member) {
    guard let receive = member.receive else { return }
    if chance(5) == 0 {
      member.line?.end()
      return receive(.status(.disconnected))
    }
    member.isBroken.toggle()
    receive(.status(member.isBroken ? .unexpectedDisconnect : .reconnected))
  }

  /// Delivers some messages, or says that they were missed.
  private func deliver(_ member: Member) {
    guard let receive = member.receive, isOnline, !member.isBroken else { return }
    let published = backend.published
    if chance(8) == 0, member.receivedCount < published.count {
      member.receivedCount = published.count
      return receive(.missed)
    }
    while member.receivedCount < published.count, chance(5) > 0 {
      receive(.changed(published[member.receivedCount]))
      member.receivedCount += 1
    }
  }

  /// Goes on with what it does, or begins what is to be done; so often, or until there is nothing.
  private func step(_ member: Member, limit: Int) {
    for _ in 0..<limit {
      let isDone = Monitor(false)
      let step =
        member.step
        ?? Coroutine { [follower = member.follower] in
          if follower?.performStep() != 0 { isDone.withLock { $0 = true } }
        }
      member.step = step
      member.step = resume(step)
      if isDone.withLock({ $0 }) { return }
    }
  }

  // MARK: The end

  /// The weather clears; without any news but the passing of time, both arrive.
  func settle() throws {
    setOnline(true)
    for _ in 0..<200 {
      now += 2
      for member in members {
        if member.isBroken { breakOrRepair(member) }
        deliver(member)
        step(member, limit: 10)
        reading = reading.flatMap(resume)
      }
    }
    while members.contains(where: {
      $0.receive != nil && $0.receivedCount < backend.published.count || $0.step != nil
    }) {
      for member in members {
        deliver(member)
        step(member, limit: 10)
      }
    }
    for member in members { check(member) }
    if try engine.waitingCount() > 0 { findings.append("not sent") }
  }

  private func check(_ member: Member) {
    let state = member.follower?.status.state
    if state != .current { findings.append("\(String(describing: state))") }
    do {
      let options = CallOptions(readPolicy: .forceLocal, writePolicy: .forceLocal, call: call)
      let here = try TestEngine.all(engine.find(member.query, options).value).map(\.text)
      let there = backend.find(member.query).map { (try? JSONValue(parsing: $0))?.text ?? "" }
      let wrong = Set(here).symmetricDifference(there)
      if !wrong.isEmpty {
        findings.append("\(member.query.filterText), here or there only: \(wrong.sorted())")
      }
    } catch { findings.append("\(error)") }
  }
}
