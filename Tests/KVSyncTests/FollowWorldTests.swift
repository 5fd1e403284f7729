import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// Two follows of overlapping queries on one file, stepped by hand on a clock of the test's: networks that come and
/// go, live messages that are late, lost or told as missed, writes on both sides, data that is cleared here.
@Suite("Follows in any weather") struct FollowWorldTests {
  @Test("end with what the backend has, and nothing left to send", arguments: 0..<60)
  func everySchedule(_ number: Int) throws {
    let seeds = Seed()
    let seed = Seed((seeds.value &+ UInt64(number) &* 7919) >> 1)
    let world = try FollowWorld(seed)
    for _ in 0..<60 { try world.act() }
    try world.settle()
    #expect(world.findings.isEmpty, "\(seeds), world \(number): \(world.findings)")
  }
}

/// `@unchecked Sendable`: a world runs on one thread.
private final class FollowWorld: @unchecked Sendable {
  /// One follow and the live data that it listens to.
  private final class Member: @unchecked Sendable {
    let query: Query
    var follower: Follower?
    var line: Line?
    /// How many of the backend's messages it was sent, or will never be.
    var heard = 0
    var isBroken = false

    init(_ query: Query) { self.query = query }

    /// What listens now.
    var receive: (@Sendable (LiveEvent) -> Void)? { line?.isOver == false ? line?.receive : nil }
  }

  private final class Line: @unchecked Sendable, LiveListener {
    let receive: @Sendable (LiveEvent) -> Void
    var isOver = false

    init(_ receive: @escaping @Sendable (LiveEvent) -> Void) { self.receive = receive }

    func end() { isOver = true }
  }

  private static let offline = StoreError(.network, "Nobody.")

  private var random: Seed
  private let bench: TestEngine
  private let members: [Member]
  private var now = 0.0
  private var isOnline = true
  private(set) var findings: [String] = []

  init(_ seed: Seed) throws {
    random = seed
    let bench = try TestEngine()
    self.bench = bench
    members = try ["{\"n\":{\"$lt\":6}}", "{\"n\":{\"$gt\":3}}"].map {
      Member(try Query(filter: $0))
    }
    bench.remote.changes = { [unowned bench] query, _ in
      bench.remote.backend.changes(of: query, since: "")
    }
    bench.remote.refusal = { [unowned self] _ in isOnline ? nil : Self.offline }
    for member in members { member.follower = follower(of: member) }
  }

  private func follower(of member: Member) -> Follower {
    let usesLive = random.next() % 4 > 0
    let engine = bench.engine
    let work = Follower.Work(
      listen: { [unowned self, unowned member] (receive, _) throws(StoreError) in
        guard isOnline else { throw Self.offline }
        let line = Line(receive)
        member.line = line
        member.heard = bench.remote.backend.told.count
        member.isBroken = false
        receive(.ready)
        return line
      },
      apply: { [unowned member] (change) throws(StoreError) in
        try engine.apply(change, matching: member.query.matcher)
      },
      push: { [unowned self] (_) throws(StoreError) in
        guard try engine.waitingCount() > 0 else { return nil }
        let result = try engine.push(call)
        return try engine.waitingCount() > 0 ? result.errors.first : nil
      },
      read: { [unowned self, unowned member] (_) throws(StoreError) in
        _ = try engine.catchUp(member.query, call, how: .init(usesChanges: true))
      })
    return Follower(
      collection: "notes", filter: member.query.filterText, interval: 30, usesLive: usesLive, work,
      now: { [unowned self] in now }, share: { 1 }, changed: {})
  }

  private var call: Call { Call() }

  private func chance(_ count: UInt64) -> UInt64 { random.next() % count }

  private func entity() -> JSONObject {
    ["_id": .string("e\(chance(8))"), "n": .int(Int64(chance(10)))]
  }

  // MARK: What happens

  func act() throws {
    switch chance(10) {
    case 0, 1: try bench.publish(entity())
    case 2: _ = bench.remote.backend.delete("e\(chance(8))")
    case 3, 4:
      try bench.save(entity())
      for member in members { member.follower?.didSave() }
    case 5: setOnline(!isOnline)
    case 6: breakOrRepair(members[Int(chance(2))])
    case 7:
      if chance(4) == 0, isOnline {
        _ = try bench.engine.clear(nil)
        for member in members { member.follower?.receive(.missed) }
      }
    default: now += Double(chance(40))
    }
    for member in members {
      if chance(2) == 0 { tell(member) }
      if chance(3) > 0 { step(member, most: Int(chance(4))) }
    }
  }

  private func setOnline(_ isOnline: Bool) {
    self.isOnline = isOnline
    bench.remote.readError = isOnline ? nil : Self.offline
    // Nobody may notice.
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

  /// Some messages arrive, or are told to be missed.
  private func tell(_ member: Member) {
    guard let receive = member.receive, isOnline, !member.isBroken else { return }
    let told = bench.remote.backend.told
    if chance(8) == 0, member.heard < told.count {
      member.heard = told.count
      return receive(.missed)
    }
    while member.heard < told.count, chance(5) > 0 {
      receive(.changed(told[member.heard]))
      member.heard += 1
    }
  }

  private func step(_ member: Member, most: Int) {
    for _ in 0..<most where member.follower?.performStep() != 0 { return }
  }

  // MARK: The end

  /// The weather clears; without any news but the passing of time, both arrive.
  func settle() throws {
    isOnline = true
    bench.remote.readError = nil
    for _ in 0..<200 {
      now += 2
      for member in members {
        if member.isBroken { breakOrRepair(member) }
        tell(member)
        step(member, most: 10)
      }
    }
    while members.contains(where: {
      $0.receive != nil && $0.heard < bench.remote.backend.told.count
    }) {
      members.forEach(tell)
    }
    for member in members {
      step(member, most: 10)
      check(member)
    }
    if try bench.engine.waitingCount() > 0 { findings.append("not sent") }
  }

  private func check(_ member: Member) {
    let state = member.follower?.status.state
    if state != .current { findings.append("\(String(describing: state))") }
    do {
      let here = try bench.found(member.query).map(\.text).sorted()
      let there = bench.remote.backend.find(member.query).map {
        (try? JSONValue(parsing: $0))?.text ?? ""
      }
      if here != there.sorted() { findings.append("\(here), not \(there.sorted())") }
    } catch { findings.append("\(error)") }
  }
}
