internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

/// A reply that keeps what it is told.
final class KeptReply: Reply {
  private let state = Monitor((response: Response?.none, isAbandoned: false))

  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }
  var status: Int? { state.withLock { $0.response?.status } }

  var json: JSONValue {
    guard case .whole(let body)? = state.withLock({ $0.response?.body }) else { return .null }
    return body.withBytes { (try? JSONValue(parsing: $0)) ?? .null }
  }

  var payloads: [JSONValue] { json["m"]?.arrayValue?.compactMap { $0["d"] } ?? [] }
  var ids: [String] { payloads.compactMap { $0["_id"]?.stringValue } }
  var position: LivePosition? {
    guard let time = (json["t"]?["t"]?.stringValue).flatMap({ Int64($0) }) else { return nil }
    return LivePosition(time: time, region: json["t"]?["r"]?.intValue)
  }

  func send(_ response: Response) { state.withLock { $0.response = $0.response ?? response } }
  func abandon() { state.withLock { $0.isAbandoned = true } }
}

@Suite("The broker of live messages") struct LiveBrokerTests {
  private let clock = Monitor(Timestamp(milliseconds: 1_700_000_000_000))
  private let broker: LiveBroker
  private let notes: EntityCollection
  private let group: String

  init() {
    let clock = clock
    broker = LiveBroker(LiveWire(app: "kid", region: 7), now: { clock.withLock { $0 } })
    notes = EntityCollection(
      number: 1, CollectionKey(app: 1, name: "notes"), state: .init(permissions: Permissions()))
    let group = broker.wire.group(of: "ana")
    self.group = group
    broker.members { members in
      members.register(group, device: "d")
      _ = members.subscribe(group, device: "d", collection: "notes")
    }
  }

  private func poll(
    _ since: LivePosition?, user: String = "ana", token: String = "t", expires: Int64? = nil,
    at ticks: Int64 = 0
  ) -> KeptReply {
    let reply = KeptReply()
    broker.poll(
      .init(
        user: user, group: broker.wire.group(of: user), token: token, expires: expires,
        since: since), at: ticks, reply: reply)
    return reply
  }

  private func start() -> LivePosition? { poll(nil).position }

  private func save(_ ids: String..., creator: String = "ana", gr: Bool? = nil, padding: Int = 0) {
    broker.publish(changes(ids, creator: creator, gr: gr, padding: padding))
  }

  private func changes(_ id: String, gr: Bool?) -> LiveChanges {
    changes([id], creator: "somebody", gr: gr, padding: 0)
  }

  private func changes(
    _ ids: [String], creator: String, gr: Bool?, padding: Int
  ) -> LiveChanges {
    var changes = LiveChanges(rule: notes.permissions.read)
    for id in ids {
      let rights = gr.map { ",\"gr\":\($0)" } ?? ""
      let text = String(repeating: "x", count: padding)
      let body =
        #"{"_id":"\#(id)","p":"\#(text)","_acl":{"creator":"\#(creator)"\#(rights)},"_kmd":{}}"#
      changes.add(
        id, .create(body: Array(body.utf8)), acl: ACL(of: Array(body.utf8)))
    }
    return changes
  }

  @Test("A first poll is answered at once with a position; the next one waits for a message")
  func waits() {
    let first = poll(nil)
    #expect(first.status == 200 && first.ids == [])
    let second = poll(first.position)
    #expect(second.status == nil && broker.waitingCount == 1)
    save("1")
    #expect(second.ids == ["1"] && broker.waitingCount == 0)
    let message = second.json["m"]?.arrayValue?.first
    #expect(message?["c"]?.stringValue == "kid.c-notes")
    #expect(message?["b"]?.stringValue == group)
    #expect(message?["u"]?["kvstore"]?["change"]?.stringValue == "create")
    #expect(["a", "f", "i", "s", "k", "p"].allSatisfy { message?[$0] != nil })
  }

  @Test("What came while nobody polled is replayed, in order, from any token, a message's own too")
  func replays() {
    let position = start()
    save("1")
    save("2", "3")
    let reply = poll(position)
    #expect(reply.ids == ["1", "2", "3"])
    let second = reply.json["m"]?.arrayValue?[1]["p"]
    let middle = LivePosition(time: Int64(second?["t"]?.stringValue ?? "") ?? 0, region: 7)
    #expect(poll(middle).ids == ["3"])
    #expect(poll(reply.position).status == nil)
  }

  @Test("Long replays come in several answers, none twice, none missing")
  func pages() {
    var position = start()
    for number in 0..<250 { save("\(number)") }
    var ids: [String] = []
    while let reply = Optional(poll(position)), reply.status != nil {
      #expect(reply.ids.count <= 100)
      ids += reply.ids
      position = reply.position
    }
    #expect(ids == (0..<250).map { "\($0)" })
  }

  @Test("Times never go back, whatever the clock does")
  func clockJumps() {
    let position = start()
    save("1")
    clock.withLock { $0.milliseconds -= 86_400_000 }
    save("2")
    let reply = poll(position)
    #expect(reply.ids == ["1", "2"])
    let waiting = poll(reply.position)
    clock.withLock { $0.milliseconds += 2 * 86_400_000 }
    save("3")
    #expect(waiting.ids == ["3"])
    #expect(poll(waiting.position).status == nil)
  }

  @Test("A position of another run, of the future or before the history is answered as incomplete")
  func incomplete() throws {
    let position = try #require(start())
    func isIncomplete(_ position: LivePosition) -> Bool {
      poll(position).json["kvstore"]?["incomplete"]?.boolValue == true
    }
    #expect(isIncomplete(LivePosition(time: position.time, region: 8)))
    #expect(isIncomplete(LivePosition(time: position.time + 1, region: 7)))
    #expect(isIncomplete(LivePosition(time: position.time - 1)))
    #expect(isIncomplete(LivePosition(time: .max)))
    #expect(!isIncomplete(position))
    for number in 0...LiveHistory.maxMessages { save("\(number)") }
    #expect(isIncomplete(position))
  }

  @Test(
    "More changes at once than can be remembered are told to be too many, to who waits and who comes"
  )
  func cut() {
    let position = start()
    let waiting = poll(position)
    var changes = LiveChanges(rule: notes.permissions.read)
    for number in 0...LiveChanges.maxCount {
      changes.add("\(number)", .delete(at: Timestamp(milliseconds: 1)), acl: ACL())
    }
    broker.publish(changes)
    #expect(waiting.json["kvstore"]?["incomplete"]?.boolValue == true)
    #expect(poll(position).json["kvstore"]?["incomplete"]?.boolValue == true)
    #expect(poll(waiting.position).status == nil)
  }

  @Test("An entity goes to those who may read it; on the personal channel if not everybody may")
  func audiences() {
    let other = broker.wire.group(of: "ben")
    broker.members { members in
      members.register(other, device: "d")
      _ = members.subscribe(other, device: "d", collection: "notes")
    }
    let position = start()
    let (ana, ben) = (poll(position), poll(position, user: "ben"))
    save("1", creator: "ana", gr: false)
    #expect(ana.ids == ["1"] && ben.status == nil)
    #expect(
      ana.json["m"]?.arrayValue?.first?["c"]?.stringValue == "kid.c-notes.u-ana")
    notes.state.withLock { $0.permissions.read = .never }
    save("2")
    #expect(ben.status == nil)
  }

  @Test("An entity above 32 KB becomes a notice, and a deletion is one")
  func notices() {
    let waiting = poll(start())
    save("big", padding: 32 << 10)
    let message = waiting.json["m"]?.arrayValue?.first
    #expect(message?["c"]?.stringValue == "kid.x-notes")
    #expect(message?["d"] == ["_id": "big"])
    #expect(message?["u"]?["kvstore"]?["change"]?.stringValue == "create")
    let next = poll(waiting.position)
    var changes = LiveChanges(rule: notes.permissions.read)
    changes.add("a\"b", .delete(at: Timestamp(milliseconds: 0)), acl: ACL())
    broker.publish(changes)
    #expect(next.payloads == [["_id": "a\"b", "_kmd": ["lmt": "1970-01-01T00:00:00.000Z"]]])
    #expect(next.json["m"]?.arrayValue?.first?["c"]?.stringValue == "kid.x-notes")
  }

  @Test(
    "A poll is answered empty after 280 s, and when its session runs out; one whose client has gone is dropped"
  )
  func ends() {
    let position = start()
    let second: Int64 = 1_000_000_000
    let early = poll(position)
    let late = poll(position, at: 10 * second)
    broker.tend(at: 279 * second)
    #expect(early.status == nil)
    broker.tend(at: 280 * second)
    #expect(early.status == 200 && early.ids == [] && late.status == nil)
    late.abandon()
    broker.tend(at: 281 * second)
    #expect(broker.waitingCount == 0)
    let now = clock.withLock { $0.milliseconds }
    let short = poll(early.position, expires: now + 1000, at: 281 * second)
    clock.withLock { $0.milliseconds += 1000 }
    broker.tend(at: 282 * second)
    #expect(short.status == 200)
  }

  @Test(
    "The end of a session or of the registration refuses the polls, and a closed broker answers all"
  )
  func refusals() {
    let position = start()
    let (mine, other) = (poll(position), poll(position, token: "u"))
    broker.refuse(session: "t")
    #expect(mine.status == 403 && other.status == nil)
    #expect(mine.json["payload"]?["channel-groups"]?.arrayValue == [.string(group)])
    broker.members { $0.unregister(group, device: "d") }
    broker.refuse(group: group)
    #expect(other.status == 403)
    #expect(poll(position).status == 403)
    broker.members { _ = $0.register(group, device: "e") }
    let last = poll(position)
    broker.close()
    #expect(last.status == 200 && poll(position).status == 200)
  }

  @Test("What is published without a listener costs nothing and is not replayed")
  func unheard() {
    let position = start()
    broker.members { $0.unsubscribe(group, device: "d", collection: "notes") }
    save("1")
    broker.members { _ = $0.subscribe(group, device: "d", collection: "notes") }
    #expect(poll(position).status == nil)
  }

  @Test(
    "The device that was not seen for the longest time makes room, and one that goes leaves the others theirs"
  )
  func devices() {
    var members = LiveMembers()
    for number in 0..<LiveMembers.maxDevices {
      members.register("g", device: "\(number)", at: Int64(number))
      let isTaken = members.subscribe("g", device: "\(number)", collection: "c")
      #expect(isTaken)
    }
    _ = members.recordActivity("g", device: "0", session: "", at: 1000)
    let dropped = (0..<2).map { _ in members.register("g", device: "new", at: 1000) }
    #expect(dropped == ["1", nil])
    let isTaken = members.subscribe("g", device: "1", collection: "c")
    #expect(members.isSubscribed("g", to: "c") && !isTaken)
    members.unregister("g")
    #expect(!members.isSubscribed("g", to: "c") && !members.isRegistered("g"))
    #expect(members.groups(subscribedTo: "c").isEmpty)
  }

  @Test("Transactions are told in the order of their numbers, failed ones not at all")
  func order() throws {
    let outbox = testOutbox([1: broker])
    let position = start()
    let directory = TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    let database = try testDatabase(in: directory)
    let numbers = try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      var numbers: [Int] = []
      for id in ["1", "2", "3"] {
        var changes = LiveChanges(rule: notes.permissions.read)
        changes.add(id, .delete(at: Timestamp(milliseconds: 1)), acl: ACL())
        let number = outbox.begin()
        try outbox.prepare(.changes(changes), for: "notes", of: 1, as: number, on: connection)
        numbers.append(number)
      }
      return numbers
    }
    // Who comes now must not miss what is about to be told.
    let early = start()
    outbox.end(numbers[2], isCommitted: true)
    outbox.end(numbers[0], isCommitted: true)
    #expect(poll(position).ids == ["1"])
    outbox.end(numbers[1], isCommitted: false)
    #expect(poll(position).ids == ["1", "3"])
    #expect(poll(early).ids == ["1", "3"])
    let late = start()
    save("4")
    #expect(poll(late).ids == ["4"])
  }

  @Test(
    "Whoever has written waits for a few subscribers, not for many; none is missed or told twice")
  func many() {
    let due = Monitor<[String]>([])
    let clock = clock
    let broker = LiveBroker(
      LiveWire(app: "kid", region: 7), now: { clock.withLock { $0 } },
      deliverLater: { name in
        due.withLock { $0.append(name) }
        return true
      })
    let users = (0..<100).map { "user \($0)" }
    for user in users {
      broker.members { members in
        members.register(broker.wire.group(of: user), device: "d")
        _ = members.subscribe(broker.wire.group(of: user), device: "d", collection: "notes")
      }
    }
    func poll(_ user: String, _ since: LivePosition?) -> KeptReply {
      let reply = KeptReply()
      let group = broker.wire.group(of: user)
      broker.poll(
        .init(user: user, group: group, token: "t", expires: nil, since: since), reply: reply)
      return reply
    }
    let polls = users.map { user in poll(user, poll(user, nil).position) }
    for id in ["a", "b"] { broker.publish(changes(id, gr: true)) }
    #expect(due.withLock { $0 } == ["notes", "notes"])
    #expect(broker.waitingCount == 100)
    broker.deliver("notes")
    #expect(polls.allSatisfy { $0.ids == ["a", "b"] })
    let next = zip(users, polls).map { poll($0, $1.position) }
    broker.deliver("notes")
    #expect(next.allSatisfy { $0.status == nil } && broker.waitingCount == 100)
  }
}

extension LiveBroker {
  /// Publishes changes of `notes` as if their transaction had just committed.
  fileprivate func publish(_ changes: LiveChanges) {
    publish(prepare(.changes(changes), for: "notes", of: 1))
  }
}
