import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("Live data") struct LiveFeedTests {
  static let registration = LiveRegistration(
    userId: "u1", device: "d")

  static func entity(_ id: String, _ second: Int = 1) -> [UInt8] {
    let moment = second < 10 ? "0\(second)" : "\(second)"
    return Array(#"{"_id":"\#(id)","_kmd":{"lmt":"2026-01-01T00:00:\#(moment).000Z"}}"#.utf8)
  }

  static func saved(_ id: String, _ second: Int = 1) -> LiveEvent {
    .changed(.saved(entity(id, second), id: id, .save))
  }

  static func message(
    _ id: String, token: String, in collection: String = "notes", second: Int = 1
  ) -> LiveMessage {
    LiveMessage(
      key: "k.c-\(collection)\n\(token)", topic: .collection(collection),
      change: .saved(entity(id, second), id: id, .save))
  }

  func withFeed(
    _ live: FakeLive, remote: ScriptedRemote = ScriptedRemote(),
    clock: FakeRetryClock = FakeRetryClock(), now: @escaping @Sendable () -> Double = { 0 },
    body: (LiveFeed) throws -> Void
  ) throws {
    let feed = LiveFeed(live, entities: layers(around: remote), clock: clock, now: now)
    let worker = try #require(Worker("test-live") { feed.run() })
    defer {
      feed.close()
      worker.join()
    }
    try body(feed)
  }

  /// Begins, and lets `told` listen to "notes": it has heard that it is connected and ready.
  @discardableResult
  func listening(_ feed: LiveFeed, _ received: ReceivedEvents) throws -> LiveFeed.Subscriber {
    #expect(feed.begin(Self.registration))
    let subscriber = try feed.subscribe(to: .collection("notes"), received.receive)
    _ = received.first(2)
    return subscriber
  }

  @Test("Without a registration nobody can subscribe")
  func unregistered() throws {
    try withFeed(FakeLive()) { feed in
      #expect(throws: StoreError.self) { _ = try feed.subscribe(to: .collection("notes")) { _ in } }
    }
  }

  @Test("A subscriber is told that it is connected and ready, then each entity, once")
  func tells() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    try withFeed(live) { feed in
      #expect(feed.begin(Self.registration))
      _ = try feed.subscribe(to: .collection("notes"), received.receive)
      #expect(received.first(2) == [.status(.connected), .ready])
      live.send(Self.message("a", token: "1"), Self.message("b", token: "2", in: "others"))
      // A message that was delivered before, and a new one.
      live.send(Self.message("a", token: "1"), Self.message("c", token: "3"))
      #expect(received.first(4).dropFirst(2) == [Self.saved("a"), Self.saved("c")])
      #expect(live.state.withLock { $0.joins } == ["notes"])
    }
  }

  @Test("What is said in a stream is told once, also if it is replayed; said again, again")
  func replayedStream() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    let topic = LiveTopic.substream("chat", of: "u1")
    func said(_ token: String) -> LiveMessage {
      LiveMessage(key: "k.s-chat.u-u1\n\(token)", topic: topic, change: .said(Array("1".utf8)))
    }
    try withFeed(live) { feed in
      #expect(feed.begin(Self.registration))
      _ = try feed.subscribe(to: topic, received.receive)
      #expect(received.first(2) == [.status(.connected), .ready])
      live.send(said("1"))
      live.send(said("1"), said("2"))
      let last = LiveMessage(key: "last", topic: topic, change: .said(Array("2".utf8)))
      live.send(last)
      let messages = [1, 1, 2].map { LiveEvent.changed(.said(Array("\($0)".utf8))) }
      #expect(Array(received.first(5).dropFirst(2)) == messages)
    }
  }

  @Test("Two subscribers of one collection share its messages, and one may go")
  func independent() throws {
    let live = FakeLive()
    let (first, second) = (ReceivedEvents(), ReceivedEvents())
    try withFeed(live) { feed in
      let one = try listening(feed, first)
      _ = try feed.subscribe(to: .collection("notes"), second.receive)
      live.send(Self.message("a", token: "1"))
      #expect(first.first(3).last == Self.saved("a"))
      #expect(second.first(3) == [.status(.connected), .ready, Self.saved("a")])
      feed.unsubscribe(one)
      live.send(Self.message("b", token: "2"))
      #expect(second.first(4).last == Self.saved("b"))
      #expect(first.events.withLock { $0.count } == 3)
      #expect(live.state.withLock { $0.leaves.isEmpty })
    }
  }

  @Test("The last to leave a collection takes the client out of it")
  func leaves() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    try withFeed(live) { feed in
      let one = try listening(feed, received)
      feed.unsubscribe(one)
      let left = live.state.wait(until: .after(seconds: 60)) { $0.leaves.isEmpty ? nil : $0.leaves }
      #expect(left == ["notes"])
    }
  }

  @Test("Who comes back while the client is on its way out enters after that, not before it")
  func comesBack() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    try withFeed(live) { feed in
      let first = try listening(feed, received)
      live.state.withLockNotifyingAll { $0.lets = false }
      feed.unsubscribe(first)
      #expect(live.state.wait(until: .after(seconds: 60)) { $0.isLeaving ? true : nil } == true)
      let again = ReceivedEvents()
      _ = try feed.subscribe(to: .collection("notes"), again.receive)
      feed.unsubscribe(try feed.subscribe(to: .collection("others")) { _ in })
      // A request that is given up may still be carried out, after the one that follows it.
      live.state.withLockNotifyingAll { $0.lets = true }
      #expect(again.first(2) == [.status(.connected), .ready])
      #expect(live.state.withLock { $0.cutLeaves } == 0)
    }
  }

  @Test("Stopping does not wait for a client that is on its way out of a collection")
  func stopsLeaving() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    try withFeed(live) { feed in
      let one = try listening(feed, received)
      live.state.withLockNotifyingAll { $0.lets = false }
      feed.unsubscribe(one)
      #expect(live.state.wait(until: .after(seconds: 60)) { $0.isLeaving ? true : nil } == true)
      feed.stop()
      #expect(live.state.withLock { $0.cutLeaves } == 1)
    }
  }

  @Test("Who may not listen to a collection is told so; the others go on")
  func refused() throws {
    let live = FakeLive()
    let (notes, others) = (ReceivedEvents(), ReceivedEvents())
    try withFeed(live) { feed in
      #expect(feed.begin(Self.registration))
      _ = try feed.subscribe(to: .collection("notes"), notes.receive)
      _ = try feed.subscribe(to: .collection("others"), others.receive)
      _ = (notes.first(2), others.first(2))
      let error = StoreError(.forbidden, "no")
      live.put(.success(.refused([.collection("notes")], error)))
      #expect(notes.first(4).suffix(2) == [.failure(error), .status(.disconnected)])
      live.send(Self.message("a", token: "1", in: "others"))
      #expect(others.first(3).last == Self.saved("a"))
      live.put(.success(.refused([], error)))
      #expect(others.first(5).suffix(2) == [.failure(error), .status(.disconnected)])
      #expect(feed.registration == nil)
    }
  }

  @Test("Stopping tells everybody, and nothing follows")
  func stops() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    try withFeed(live) { feed in
      let subscriber = try listening(feed, received)
      feed.stop()
      #expect(received.events.withLock { $0.last } == .status(.disconnected))
      #expect(subscriber.isOver)
      live.send(Self.message("a", token: "1"))
      #expect(feed.begin(Self.registration))
      _ = try feed.subscribe(to: .collection("others")) { _ in }
      #expect(received.events.withLock { $0.count } == 3)
    }
  }

  @Test("Subscribing and unsubscribing at once from many threads ends in order")
  func races() throws {
    let live = FakeLive()
    try withFeed(live) { feed in
      #expect(feed.begin(Self.registration))
      let ends = concurrently(8) { thread -> Int? in
        for round in 0..<125 {
          guard
            let one = try? feed.subscribe(
              to: .collection("c\((thread + round) % 5)"), { _ in })
          else {
            return nil
          }
          feed.unsubscribe(one)
        }
        return thread
      }
      #expect(ends.count == 8)
      let received = ReceivedEvents()
      _ = try feed.subscribe(to: .collection("notes"), received.receive)
      _ = received.first(2)
      live.send(Self.message("a", token: "1"))
      #expect(received.first(3).last == Self.saved("a"))
    }
  }
}
