import KVBase
import KVClient
import KVJSON
import KVKinvey
import KVQuery
import KVSync
import KVTestSupport
import KVTransport
import Testing

/// A subscriber of a real server, over a network whose login page answers now and then, or nobody.
@Suite("Live data behind the login page of a network") struct LivePortalTests {
  private static let pages: [ScriptedReply] = [
    ScriptedReply(200, headers: [("Content-Type", "text/html")], "<html>Welcome</html>"),
    ScriptedReply(200, ""), ScriptedReply(200, #"{"status":"login required"}"#),
    ScriptedReply(302, headers: [("Location", "http://portal.example/")], ""),
    ScriptedReply(401, #"{"error":"Unauthorized"}"#), ScriptedReply(403, "<html>No</html>"),
    ScriptedReply(403, #"{"error":true,"message":"Forbidden"}"#),
    ScriptedReply(404, "<html>nginx</html>"), ScriptedReply(413, "<html>nginx</html>"),
  ]

  private struct ReceivedEvents {
    var ids: [String] = []
    var others: [String] = []
  }

  /// The parts of a client that listen, by a clock of the test's and with pauses that nobody waits for.
  private final class Listener {
    let portal: Portal
    let feed: LiveFeed
    let remote: LocalFilteringRemote
    let time = Monitor(0.0)
    let received = Monitor(ReceivedEvents())
    private let live: KinveyLive
    private let user: Account
    private let transport: Transport
    private let polls: PollTransport
    private let worker: Worker

    init(_ world: World) throws {
      portal = try Portal(to: world.url)
      transport = try Transport(TransportOptions(proxy: ""))
      polls = PollTransport(TransportOptions(proxy: ""))
      let token = Monitor<String?>(nil)
      let configuration = KinveyConfiguration(
        host: portal.url, appKey: "kid_test", appSecret: "secret", version: "1")
      let service = try KinveyService(configuration, transport) { token.withLock { $0 } }
      let user = try KinveyUsers(service).signup(
        JSONValue.object(["username": "reader", "password": "pw"]).bytes, Call())
      token.withLockNotifyingAll { $0 = user.token }
      self.user = user
      live = KinveyLive(service, polling: polls)
      let connectivity = Connectivity { _ in }
      remote = layers(around: KinveyRemote(service), nil, connectivity: connectivity)
      let feed = LiveFeed(
        live, entities: remote, clock: FakeRetryClock(), now: { [time] in time.withLock { $0 } })
      connectivity.onAnswer { [weak feed] in feed?.recordAnswer() }
      self.feed = feed
      worker = try #require(Worker("test-live") { feed.run() })
    }

    func close() {
      feed.close()
      worker.join()
      portal.stop()
      polls.close()
      transport.close()
    }

    func register() throws {
      #expect(feed.begin(try live.register(user.id, device: "dev", call: Call())))
    }

    /// Listens, and waits until that is so.
    func listen() throws -> LiveFeed.Subscriber {
      received.withLockNotifyingAll { $0 = ReceivedEvents() }
      let subscriber = try feed.subscribe(to: .collection("notes")) { [received] event in
        received.withLockNotifyingAll { received in
          switch event {
          case .changed(.saved(_, let id, _)): received.ids.append(id)
          case .status(let status): received.others.append(status.rawValue)
          default: received.others.append("\(event)")
          }
        }
      }
      let isReady = received.wait(until: .after(seconds: 60)) {
        $0.others.contains("ready") ? true : nil
      }
      #expect(isReady == true, "\(received.withLock { $0 })")
      return subscriber
    }

    /// Waits until it was told of an entity, and of nothing that ends the subscription.
    func expect(_ id: String, _ when: Comment) {
      let isReceived = received.wait(until: .after(seconds: 60)) {
        $0.ids.contains(id) ? true : nil
      }
      let received = received.withLock { $0 }
      #expect(isReceived == true, when)
      let harmless: Set = ["connected", "ready", "unexpectedDisconnect", "reconnected"]
      #expect(harmless.isSuperset(of: received.others), "\(when): \(received.others)")
    }
  }

  @Test(
    "A subscription survives it at every step, and hears what comes afterwards",
    arguments: pages.indices)
  func survives(number: Int) throws {
    let page = Self.pages[number]
    let world = try World(historyDays: 5)
    let writer = try world.member("writer")
    defer { writer.close() }
    let store = try writer.store("notes", type: "network", nil)
    _ = try store.save(["_id": "first"])
    let listener = try Listener(world)
    defer { listener.close() }
    let portal = listener.portal
    try listener.register()
    portal.answer("/_subscribe", times: 2, with: page)
    let subscriber = try listener.listen()
    let steps = [
      ["/v2/subscribe"], ["/v2/subscribe", "/time/0"], ["/v2/subscribe", "/_deltaset"],
    ]
    for (step, paths) in steps.enumerated() {
      // By the clock there was an absence: what came meanwhile is asked for.
      if step == 2 { listener.time.withLockNotifyingAll { $0 += 3600 } }
      for path in paths { portal.answer(path, times: 2, with: page) }
      _ = try store.save(["_id": .string("during \(step)")])
      #expect(portal.waitForEnd(), "\(paths)")
      _ = try store.save(["_id": .string("after \(step)")])
      listener.expect("during \(step)", "\(paths)")
      listener.expect("after \(step)", "\(paths)")
    }
    portal.answer("/_unsubscribe", times: 1, with: page)
    listener.feed.unsubscribe(subscriber)
    #expect(portal.waitForEnd())
    _ = try listener.listen()
    _ = try store.save(["_id": "again"])
    listener.expect("again", "after the way out")
  }

  @Test("Where packets vanish, another request that is answered makes the client listen again")
  func vanishes() throws {
    let world = try World()
    let writer = try world.member("writer")
    defer { writer.close() }
    let store = try writer.store("notes", type: "network", nil)
    let listener = try Listener(world)
    defer { listener.close() }
    try listener.register()
    _ = try listener.listen()
    listener.portal.answer("/v2/subscribe", times: 1, with: nil)
    _ = try store.save(["_id": "a"])
    #expect(listener.portal.waitForEnd())
    _ = try store.save(["_id": "b"])
    listener.time.withLockNotifyingAll { $0 += 31 }
    _ = try listener.remote.count(Query(), in: "notes", call: Call())
    listener.expect("a", "after another request")
    listener.expect("b", "after another request")
  }
}
