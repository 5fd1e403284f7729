import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@testable import KVClient

@Suite("Pushing by itself") struct AutoPushTests {
  /// What a client tells, to wait for.
  private final class ReceivedEvents: Sendable {
    private let events = Monitor<[String]>([])

    func add(_ event: SyncEvent) { events.withLockNotifyingAll { $0.append(event.json.text) } }

    var all: [String] { events.withLock { $0 } }

    /// Waits for an event with all these texts in it.
    func wait(for texts: String...) -> Bool {
      events.wait(until: .after(seconds: 60)) { events in
        let found = events.contains { event in texts.allSatisfy { event.contains($0) } }
        return found ? true : nil
      } ?? false
    }
  }

  private static let automatic: JSONObject = ["pushAutomatically": true]
  /// Whoever waits for this looks again for a reason, and not because of the time.
  private static let patient: AutoPush.Schedule = {
    var schedule = AutoPush.Schedule()
    (schedule.rest, schedule.firstPause, schedule.longestPause) = (3600, 3600, 3600)
    return schedule
  }()
  private static let pushed = #""operation":"push""#

  @Test("sends what was saved, without being asked") func afterSave() throws {
    let world = try World()
    let client = try world.member("ana", Self.automatic, pushes: Self.patient)
    defer { client.close() }
    let received = ReceivedEvents()
    let listener = client.events.listen(received.add)
    defer { listener.end() }
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.save(["n": 1])
    #expect(received.wait(for: "finished", Self.pushed, #""pushed":1"#, #""automatic":true"#))
    #expect(try store.pendingCount() == 0)
  }

  @Test("waits while nobody is there, and sends when the network is back") func network() throws {
    let world = try World()
    let client = try world.member("ana", Self.automatic, pushes: Self.patient)
    defer { client.close() }
    let received = ReceivedEvents()
    let listener = client.events.listen(received.add)
    defer { listener.end() }
    let store = try client.store("notes", type: "sync", nil)
    world.stop()
    _ = try store.save(["n": 1])
    #expect(received.wait(for: "offline"))
    _ = try store.save(["n": 2])
    #expect(try store.pendingCount() == 2)
    try world.start()
    // Somebody else asks, and is answered: that is news enough.
    _ = try client.ping(options: Options(), cancellation: Cancellation())
    #expect(received.wait(for: "online"))
    #expect(received.wait(for: "finished", Self.pushed, #""pushed":2"#))
  }

  @Test("starts when somebody logs in; work of an earlier run goes too") func login() throws {
    let world = try World()
    let before = try world.member("ana")
    _ = try before.store("notes", type: "sync", nil).save(["n": 1])
    var leaving = Client.Leaving()
    leaving.keepData = true
    try before.logout(leaving, Cancellation())
    before.close()
    let client = try world.client("ana", Self.automatic, pushes: Self.patient)
    defer { client.close() }
    let received = ReceivedEvents()
    let listener = client.events.listen(received.add)
    defer { listener.end() }
    // Opened as any store of the tag: the collection itself is not.
    let other = try client.store("others", type: "sync", nil)
    #expect(received.wait(for: #""event":"finished""#, "KV_NO_USER"))
    _ = try client.login(
      ["username": "ana", "password": "pw"], options: Options(), cancellation: Cancellation())
    #expect(received.wait(for: "finished", #""collection":"notes""#, #""pushed":1"#))
    #expect(try other.pendingCount() == 0)
  }

  @Test("is done by one process, and taken over when it goes") func election() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("push.lock")
    let other = try ChildProcess([
      "python3", "-c",
      """
      import fcntl, sys, time
      file = open(sys.argv[1], "a")
      fcntl.lockf(file, fcntl.LOCK_EX)
      print("locked", flush=True)
      time.sleep(3600)
      """, path,
    ])
    defer { other.end() }
    #expect(other.read(until: "locked") != nil)
    let looks = Monitor(0)
    var work = AutoPush.Work(waiting: { [] }, push: { _ in 0 })
    work.waiting = {
      looks.withLockNotifyingAll { $0 += 1 }
      return []
    }
    var schedule = AutoPush.Schedule()
    schedule.rest = 0.01
    let push = try AutoPush(ProcessLock(path: path), work, schedule: schedule)
    defer { push.close() }
    // Dozens of pauses: nobody looks who is not elected.
    #expect(looks.wait(until: .after(seconds: 0.3)) { $0 > 0 ? true : nil } == nil)
    other.end()
    #expect(looks.wait(until: .after(seconds: 60)) { $0 > 0 ? true : nil } == true)
  }

  @Test("is off unless it is wanted") func off() throws {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.save(["n": 1])
    #expect(try store.push(DataStore.Run()).pushed == 1)
    #expect(failure { _ = try world.client("x", ["pushAutomatically": 1]) }?.kind == .invalid)
  }

  // MARK: The schedule

  @Test("waits up to twice as long after each failure, and starts anew when the network is back")
  func schedule() {
    var schedule = AutoPush.Schedule()
    #expect(schedule.pause(after: .empty, share: 1) == 1)
    let pauses = (0..<8).map { _ in schedule.pause(after: .failed, share: 1) }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60])
    #expect(schedule.isOpenToSaves == false)
    schedule.startAnew()
    #expect(schedule.pause(after: .failed, share: 0) == 0.5)
    #expect(schedule.pause(after: .refused, share: 1) == 2)
    #expect(schedule.isOpenToSaves)
    #expect(schedule.pause(after: .notElected, share: 1) == 1)
    #expect(schedule.pause(after: .failed, share: 1) == 1)
  }
}
