import KVBase
import KVClient
import KVJSON
import KVSync
import KVTestSupport
import Testing

/// A subscriber over a network that breaks, of a server that restarts, while somebody else writes.
@Suite("Live data through faults") struct LiveFaultsTests {
  /// The events that a subscriber has received.
  private struct ReceivedEvents {
    /// By entity, the numbers of the versions that it was told of; nil for deletions.
    var versions: [String: [Int64?]] = [:]
    var others: [String] = []

    mutating func take(_ event: LiveEvent) {
      switch event {
      case .changed(.saved(let entity, let id, _)):
        versions[id, default: []].append((try? JSONValue(parsing: entity))?["n"]?.intValue ?? -1)
      case .changed(.deleted(let id, _)): versions[id, default: []].append(nil)
      case .changed, .missed, .failure: others.append("\(event)")
      case .ready: others.append("ready")
      case .status(let status): others.append(status.rawValue)
      }
    }

    /// The last version of each entity that is there.
    var entities: [String: Int64] { versions.compactMapValues { $0.last ?? nil } }
  }

  private enum Fault: CaseIterable {
    case cut, halfAnswer, restart, absence, cutWhileAway
  }

  private let received = Monitor(ReceivedEvents())

  private func listen(_ client: Client) throws {
    try client.registerLive(options: Options(), cancellation: Cancellation())
    let received = received
    let store = try client.store("notes", type: "network", nil)
    _ = try store.listen(DataStore.Listening([:])) { event in
      received.withLockNotifyingAll { $0.take(event) }
    }
    #expect(
      received.wait(until: .after(seconds: 60)) { $0.others.contains("ready") ? true : nil } == true
    )
  }

  @Test("Nothing is lost, nothing is told twice, and each entity's versions come in their order")
  func replay() throws {
    let seed = Seed()
    var random = seed
    let world = try World(historyDays: 5)
    let relay = try Relay(to: #require(UInt16(world.url.split(separator: ":").last ?? "")))
    defer { relay.stop() }
    let reader = try world.member("reader", ["host": .string(relay.url)])
    let writer = try world.member("writer")
    defer { [reader, writer].forEach { $0.close() } }
    let store = try writer.store("notes", type: "network", nil)
    // The collection keeps a history from its first write on.
    _ = try store.save(["_id": "first", "n": 0])
    try listen(reader)
    var expected: [String: Int64] = [:]
    var faults = Fault.allCases.shuffled(using: &random)
    for number in 1...Int64(60) {
      let id = "e\(random.next() % 8)"
      if random.next() % 5 == 0, expected[id] != nil {
        #expect(try store.remove(id: id, DataStore.Run()).value == 1)
        expected[id] = nil
      } else {
        _ = try store.save(["_id": .string(id), "n": .int(number)])
        expected[id] = number
      }
      guard number % 12 == 0, let fault = faults.popLast() else { continue }
      try bring(fault, to: world, through: relay)
    }
    _ = try store.save(["_id": "last", "n": 61])
    expected["last"] = 61
    let wanted = expected
    let isWhole =
      received.wait(until: .after(seconds: 90)) { $0.entities == wanted ? true : nil } ?? false
    let result = received.withLock { $0 }
    #expect(isWhole, "\(seed): \(result.entities), not \(wanted); \(result.others)")
    for (id, versions) in result.versions {
      let numbers = versions.compactMap { $0 }
      #expect(
        zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(seed): \(id) \(versions)")
    }
    let statuses: Set = ["ready", "connected", "unexpectedDisconnect", "reconnected"]
    #expect(statuses.isSuperset(of: result.others), "\(seed): \(result.others)")
  }

  private func bring(_ fault: Fault, to world: World, through relay: Relay) throws {
    switch fault {
    case .cut: relay.cut()
    case .halfAnswer: relay.halveNextAnswer()
    case .restart:
      world.stop()
      try world.start()
    case .absence:
      // There may be no connection at the moment: between two polls, or in a pause.
      let isBroken = (0..<100).contains { _ in
        relay.cut()
        return received.wait(until: .after(seconds: 0.2)) {
          $0.others.last == "unexpectedDisconnect" ? true : nil
        } == true
      }
      #expect(isBroken)
    case .cutWhileAway:
      world.stop()
      relay.cut()
      try world.start()
      relay.cut()
    }
  }

  @Test("Who loses the session is told so, last")
  func session() throws {
    let world = try World()
    let reader = try world.member("reader")
    defer { reader.close() }
    try listen(reader)
    let other = try world.client("other")
    defer { other.close() }
    let user: JSONObject = ["username": "reader", "password": "pw"]
    _ = try other.login(user, options: Options(), cancellation: Cancellation())
    try other.deleteUser(Client.Leaving(), Cancellation())
    let last = received.wait(until: .after(seconds: 60)) { received in
      received.others.last == "disconnected" ? received.others : nil
    }
    #expect(
      last?.contains { $0.hasPrefix("failure") } == true, "\(received.withLock { $0.others })")
  }
}
