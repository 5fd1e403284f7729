import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// A live service that does as a test says: polls take what was put in, in its order.
private final class FakeLive: LiveRemote {
  struct State {
    var answers: [Result<LivePoll, StoreError>] = []
    var joins: [String] = []
    var leaves: [String] = []
    /// Whether requests to leave get an answer.
    var lets = true
    var isLeaving = false
    var cutLeaves = 0
    var cutPolls = 0
    var places: [LivePlace?] = []
    var probes = 0
    /// Each ends one request.
    var joinErrors: [StoreError] = []
    var probeErrors: [StoreError] = []
    var time = 100
  }

  let state = Monitor(State())

  func put(_ answer: Result<LivePoll, StoreError>) { state.withLock { $0.answers.append(answer) } }

  /// Answers the poll that waits, or the next one.
  func send(_ messages: LiveMessage..., isIncomplete: Bool = false) {
    state.withLock { state in
      state.time += 1
      let next = LivePlace(time: String(state.time), region: "4")
      state.answers.append(.success(.messages(messages, next: next, isIncomplete: isIncomplete)))
    }
  }

  func register(
    _ userId: String, device: String, _ call: Call
  ) throws(StoreError) -> LiveRegistration {
    throw StoreError(.unsupported, "")
  }

  func join(
    _ topic: LiveTopic, _ registration: LiveRegistration, _ call: Call
  ) throws(StoreError) -> BackendMoment? {
    let error = state.withLock { state -> StoreError? in
      state.joins.append(topic.collection ?? "")
      return state.joinErrors.isEmpty ? nil : state.joinErrors.removeFirst()
    }
    if let error { throw error }
    return BackendMoment("2026-01-01T00:00:00.000Z")
  }

  func leave(
    _ topic: LiveTopic, _ registration: LiveRegistration, _ call: Call
  ) throws(StoreError) {
    state.withLock { $0.isLeaving = true }
    let isAnswered: Bool? = wait(call) { $0.lets ? true : nil }
    state.withLock { state in
      state.isLeaving = false
      if isAnswered == nil { state.cutLeaves += 1 }
      state.leaves.append(topic.collection ?? "")
    }
  }

  func poll(
    _ registration: LiveRegistration, from place: LivePlace?, _ call: Call
  ) throws(StoreError) -> LivePoll {
    state.withLock { $0.places.append(place) }
    guard place != nil else {
      return .messages([], next: LivePlace(time: "100", region: "4"))
    }
    let answer = wait(call) { $0.answers.isEmpty ? nil : $0.answers.removeFirst() }
    guard let answer else {
      state.withLock { $0.cutPolls += 1 }
      throw StoreError(.cancelled, "")
    }
    return try answer.get()
  }

  /// Waits until `body` gives something; nil: the call was cancelled.
  private func wait<R>(_ call: Call, for body: (inout State) -> R?) -> R? {
    let cancellation = call.cancellation
    return cancellation.notifying {
      self.state.withLock { _ in }
    } during: {
      state.wait { state -> R?? in
        cancellation.isCancelled ? .some(nil) : body(&state).map(Optional.some)
      } ?? nil
    }
  }

  func probe(_ registration: LiveRegistration, _ call: Call) throws(StoreError) {
    let error = state.withLock { state -> StoreError? in
      state.probes += 1
      return state.probeErrors.isEmpty ? nil : state.probeErrors.removeFirst()
    }
    if let error { throw error }
  }
}

/// What one subscriber was told.
private final class Told: Sendable {
  let events = Monitor<[LiveEvent]>([])

  func receive(_ event: LiveEvent) { events.withLock { $0.append(event) } }

  /// The events, once there are so many; fewer if that takes more than ten seconds.
  func first(_ count: Int) -> [LiveEvent] {
    events.wait(until: .after(seconds: 10)) { $0.count >= count ? $0 : nil } ?? events.peek { $0 }
  }
}

@Suite("Live data") struct LiveFeedTests {
  private static let registration = LiveRegistration(
    userId: "u1", device: "d", publishKey: "p", subscribeKey: "s", group: "g", origin: "http://h")

  private static func entity(_ id: String, _ second: Int = 1) -> [UInt8] {
    let moment = second < 10 ? "0\(second)" : "\(second)"
    return Array(#"{"_id":"\#(id)","_kmd":{"lmt":"2026-01-01T00:00:\#(moment).000Z"}}"#.utf8)
  }

  private static func saved(_ id: String, _ second: Int = 1) -> LiveEvent {
    .changed(.saved(entity(id, second), id: id, .save))
  }

  private static func message(
    _ id: String, token: String, in collection: String = "notes", second: Int = 1
  ) -> LiveMessage {
    LiveMessage(
      key: "k.c-\(collection)\n\(token)", topic: .collection(collection),
      .saved(entity(id, second), id: id, .save))
  }

  private func withFeed(
    _ live: FakeLive, _ remote: ScriptedRemote = ScriptedRemote(),
    _ clock: FakeRetryClock = FakeRetryClock(), now: @escaping @Sendable () -> Double = { 0 },
    _ body: (LiveFeed) throws -> Void
  ) throws {
    let feed = LiveFeed(live, entities: remote, clock: clock, now: now)
    let worker = try #require(Worker("test-live") { feed.run() })
    defer {
      feed.close()
      worker.join()
    }
    try body(feed)
  }

  /// Begins, and lets `told` listen to "notes": it has heard that it is connected and ready.
  @discardableResult
  private func listening(_ feed: LiveFeed, _ told: Told) throws -> LiveFeed.Subscriber {
    #expect(feed.begin(Self.registration))
    let subscriber = try feed.subscribe(to: .collection("notes"), told.receive)
    _ = told.first(2)
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
    let told = Told()
    try withFeed(live) { feed in
      #expect(feed.begin(Self.registration))
      _ = try feed.subscribe(to: .collection("notes"), told.receive)
      #expect(told.first(2) == [.status(.connected), .ready])
      live.send(Self.message("a", token: "1"), Self.message("b", token: "2", in: "others"))
      // Replayed, and new.
      live.send(Self.message("a", token: "1"), Self.message("c", token: "3"))
      #expect(told.first(4).dropFirst(2) == [Self.saved("a"), Self.saved("c")])
      #expect(live.state.peek { $0.joins } == ["notes"])
    }
  }

  @Test("Two subscribers of one collection share its messages, and one may go")
  func independent() throws {
    let live = FakeLive()
    let (first, second) = (Told(), Told())
    try withFeed(live) { feed in
      let one = try listening(feed, first)
      _ = try feed.subscribe(to: .collection("notes"), second.receive)
      live.send(Self.message("a", token: "1"))
      #expect(first.first(3).last == Self.saved("a"))
      #expect(second.first(3) == [.status(.connected), .ready, Self.saved("a")])
      feed.unsubscribe(one)
      live.send(Self.message("b", token: "2"))
      #expect(second.first(4).last == Self.saved("b"))
      #expect(first.events.peek { $0.count } == 3)
      #expect(live.state.peek { $0.leaves.isEmpty })
    }
  }

  @Test("The last to leave a collection takes the client out of it")
  func leaves() throws {
    let live = FakeLive()
    let told = Told()
    try withFeed(live) { feed in
      let one = try listening(feed, told)
      feed.unsubscribe(one)
      let left = live.state.wait(until: .after(seconds: 10)) { $0.leaves.isEmpty ? nil : $0.leaves }
      #expect(left == ["notes"])
    }
  }

  @Test("Who comes back while the client is on its way out enters behind that, not before it")
  func comesBack() throws {
    let live = FakeLive()
    let told = Told()
    try withFeed(live) { feed in
      let first = try listening(feed, told)
      live.state.withLock { $0.lets = false }
      feed.unsubscribe(first)
      #expect(live.state.wait(until: .after(seconds: 10)) { $0.isLeaving ? true : nil } == true)
      let again = Told()
      _ = try feed.subscribe(to: .collection("notes"), again.receive)
      feed.unsubscribe(try feed.subscribe(to: .collection("others")) { _ in })
      // A request that is given up may still be carried out, after the one that follows it.
      live.state.withLock { $0.lets = true }
      #expect(again.first(2) == [.status(.connected), .ready])
      #expect(live.state.peek { $0.cutLeaves } == 0)
    }
  }

  @Test("Stopping does not wait for a client that is on its way out of a collection")
  func stopsLeaving() throws {
    let live = FakeLive()
    let told = Told()
    try withFeed(live) { feed in
      let one = try listening(feed, told)
      live.state.withLock { $0.lets = false }
      feed.unsubscribe(one)
      #expect(live.state.wait(until: .after(seconds: 10)) { $0.isLeaving ? true : nil } == true)
      feed.stop()
      #expect(live.state.peek { $0.cutLeaves } == 1)
    }
  }

  @Test("An answer to a poll that is none breaks the connection; it does not end what was begun")
  func garbled() throws {
    let live = FakeLive()
    let told = Told()
    try withFeed(live) { feed in
      try listening(feed, told)
      live.put(.failure(StoreError(.proto, "half an answer")))
      live.send(Self.message("a", token: "1"))
      #expect(
        told.first(5).dropFirst(2) == [
          .status(.unexpectedDisconnect), .status(.reconnected), Self.saved("a"),
        ])
    }
  }

  /// As the answers of a portal are read.
  private static let strangers = [
    (200, StoreError.Kind.proto), (302, .proto), (404, .proto), (413, .tooLarge),
  ]
  .map { status, kind in
    var error = StoreError(kind, "not the backend")
    error.answer = StoreError.ServerAnswer(status: status)
    return error
  }

  @Test("Somebody who answers in the service's place ends no subscription, whatever was asked")
  func strangers() throws {
    let live = FakeLive()
    let told = Told()
    let remote = ScriptedRemote()
    let isAway = Monitor(true)
    remote.changes = { _, _ in
      isAway.withLock { isAway in
        defer { isAway = false }
        return isAway ? "<html>" : #"{"changed":[{"_id":"b"}],"deleted":[]}"#
      }
    }
    live.state.withLock { $0.joinErrors = Self.strangers }
    try withFeed(live, remote) { feed in
      try listening(feed, told)
      live.state.withLock { $0.probeErrors = Self.strangers }
      for error in Self.strangers { live.put(.failure(error)) }
      live.send(isIncomplete: true)
      live.send(Self.message("a", token: "1"))
      let isTold = told.events.wait(until: .after(seconds: 10)) {
        $0.last == Self.saved("a") ? true : nil
      }
      #expect(isTold == true)
      let events = told.events.peek { $0 }
      #expect(events.contains(.changed(.saved(Array(#"{"_id":"b"}"#.utf8), id: "b", .save))))
      let others = events.filter { if case .changed = $0 { false } else { true } }
      #expect(others.prefix(2) == [.status(.connected), .ready])
      #expect(
        others.dropFirst(2).allSatisfy {
          $0 == .status(.unexpectedDisconnect) || $0 == .status(.reconnected)
        }, "\(others)")
    }
  }

  @Test("A history that cannot be read again and again is given up, and the poll goes on")
  func unreadableHistory() throws {
    let live = FakeLive()
    let told = Told()
    let remote = ScriptedRemote()
    remote.changes = { _, _ in "<html>" }
    try withFeed(live, remote) { feed in
      try listening(feed, told)
      live.send(isIncomplete: true)
      live.send(Self.message("a", token: "1"))
      let isTold = told.events.wait(until: .after(seconds: 10)) {
        $0.last == Self.saved("a") ? true : nil
      }
      #expect(isTold == true)
      #expect(told.events.peek { $0.contains(.missed) })
    }
  }

  @Test("A broken connection is told, tried again after pauses, and goes on from the same place")
  func reconnects() throws {
    let live = FakeLive()
    let told = Told()
    let clock = FakeRetryClock()
    try withFeed(live, ScriptedRemote(), clock) { feed in
      try listening(feed, told)
      live.put(.failure(StoreError(.network, "cut")))
      live.put(.failure(StoreError(.network, "cut again")))
      live.send(Self.message("a", token: "1"))
      #expect(
        told.first(7).dropFirst(2) == [
          .status(.unexpectedDisconnect), .status(.reconnected), .status(.unexpectedDisconnect),
          .status(.reconnected), Self.saved("a"),
        ])
      #expect(clock.pauses == [3, 6])
      #expect(live.state.peek { Array($0.places[1...3]) }.allSatisfy { $0?.time == "100" })
    }
  }

  @Test("A poll that has been silent for long begins anew when another request is answered")
  func doubts() throws {
    let live = FakeLive()
    let told = Told()
    let time = Monitor(0.0)
    try withFeed(live, now: { time.peek { $0 } }) { feed in
      try listening(feed, told)
      feed.noteAnswer()
      let isWaiting = live.state.wait(until: .after(seconds: 10)) {
        $0.places.count == 2 ? true : nil
      }
      #expect(isWaiting == true)
      for (seconds, cuts) in [(30.0, 0), (31, 1), (40, 1), (62, 2)] {
        time.withLock { $0 = seconds }
        feed.noteAnswer()
        let isAsked = live.state.wait(until: .after(seconds: 10)) {
          $0.places.count == cuts + 2 ? true : nil
        }
        #expect(isAsked == true)
      }
      live.send(Self.message("a", token: "1"))
      #expect(told.first(3).last == Self.saved("a"))
      #expect(live.state.peek { $0.cutPolls } == 2)
    }
  }

  @Test("A pause before the next look at a broken connection ends when another request is answered")
  func hurries() throws {
    let live = FakeLive()
    let told = Told()
    let time = Monitor(0.0)
    let answered = Monitor<LiveFeed?>(nil)
    let clock = FakeRetryClock(meanwhile: {
      time.withLock { $0 += 31 }
      answered.peek { $0 }?.noteAnswer()
    })
    try withFeed(live, ScriptedRemote(), clock, now: { time.peek { $0 } }) { feed in
      answered.withLock { $0 = feed }
      try listening(feed, told)
      live.put(.failure(StoreError(.network, "cut")))
      live.send(Self.message("a", token: "1"))
      #expect(told.first(5).last == Self.saved("a"))
      #expect(clock.pauses == [3])
      #expect(live.state.peek { $0.probes } == 1)
    }
  }

  @Test("A poll that nothing comes of goes on in silence")
  func timeouts() throws {
    let live = FakeLive()
    let told = Told()
    try withFeed(live) { feed in
      try listening(feed, told)
      live.put(.failure(StoreError(.timeout, "")))
      live.send(Self.message("a", token: "1"))
      #expect(told.first(3).last == Self.saved("a"))
    }
  }

  @Test("Who may not listen to a collection is told so; the others go on")
  func refused() throws {
    let live = FakeLive()
    let (notes, others) = (Told(), Told())
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

  @Test(
    "A device that the service has forgotten joins everything again, and asks for what it missed")
  func forgotten() throws {
    let live = FakeLive()
    let told = Told()
    let remote = ScriptedRemote()
    remote.changes = { _, since in
      #"{"changed":[{"_id":"since \#(since)"}],"deleted":[]}"#
    }
    try withFeed(live, remote) { feed in
      try listening(feed, told)
      live.state.withLock { $0.joins = [] }
      var registration = Self.registration
      registration.isNew = true
      live.put(.success(.registeredAnew(registration, StoreError(.forbidden, "403"))))
      guard case .changed(.saved(_, let id, _))? = told.first(3).last else {
        return #expect(Bool(false), "\(told.first(3))")
      }
      #expect(id == "since 2026-01-01T00:00:00.000Z")
      #expect(live.state.peek { $0.joins } == ["notes"])
      live.send(Self.message("a", token: "1"))
      #expect(told.first(4).last == Self.saved("a"))
    }
  }

  @Test("A device that is registered anew, but was known, goes on from the same place")
  func registeredAnew() throws {
    let live = FakeLive()
    let told = Told()
    try withFeed(live) { feed in
      try listening(feed, told)
      for _ in 0..<3 {
        live.put(.success(.registeredAnew(Self.registration, StoreError(.forbidden, "403"))))
      }
      live.send(Self.message("a", token: "1"))
      #expect(told.first(3) == [.status(.connected), .ready, Self.saved("a")])
      #expect(live.state.peek { $0.joins } == Array(repeating: "notes", count: 4))
      #expect(live.state.peek { $0.places.dropFirst() }.allSatisfy { $0?.time == "100" })
    }
  }

  @Test("Who is refused again and again after new registrations may not listen")
  func refusedAnew() throws {
    let live = FakeLive()
    let told = Told()
    let error = StoreError(.forbidden, "403")
    try withFeed(live) { feed in
      try listening(feed, told)
      for _ in 0..<4 { live.put(.success(.registeredAnew(Self.registration, error))) }
      let last = told.events.wait(until: .after(seconds: 10)) {
        $0.last == .status(.disconnected) ? Array($0.suffix(2)) : nil
      }
      #expect(last == [.failure(error), .status(.disconnected)])
      #expect(feed.registration == nil)
    }
  }

  @Test("Stopping tells everybody, and nothing follows")
  func stops() throws {
    let live = FakeLive()
    let told = Told()
    try withFeed(live) { feed in
      let subscriber = try listening(feed, told)
      feed.stop()
      #expect(told.events.peek { $0.last } == .status(.disconnected))
      #expect(subscriber.isOver)
      live.send(Self.message("a", token: "1"))
      #expect(feed.begin(Self.registration))
      _ = try feed.subscribe(to: .collection("others")) { _ in }
      #expect(told.events.peek { $0.count } == 3)
    }
  }

  @Test("What the service no longer has is read from the changes; what was told is not told again")
  func catchesUp() throws {
    let live = FakeLive()
    let told = Told()
    let remote = ScriptedRemote()
    let (old, new) = (Self.entity("a"), Self.entity("b", 2))
    remote.changes = { _, _ in
      let changed = [old, new].map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",")
      return #"{"changed":[\#(changed)],"deleted":[{"_id":"z"}]}"#
    }
    try withFeed(live, remote) { feed in
      try listening(feed, told)
      live.send(Self.message("a", token: "1"), isIncomplete: true)
      #expect(
        told.first(5).dropFirst(2) == [
          Self.saved("a"), .changed(.deleted(id: "z", at: nil)), Self.saved("b", 2),
        ])
    }
  }

  @Test("Where changes cannot be had, the subscriber is told that it missed something")
  func missed() throws {
    let live = FakeLive()
    let told = Told()
    let time = Monitor(0.0)
    try withFeed(live, now: { time.peek { $0 } }) { feed in
      try listening(feed, told)
      // The clock was set back by a day.
      time.withLock { $0 = -86_400 }
      live.send()
      #expect(told.first(3).last == .missed)
    }
  }

  @Test(
    "Changes of other data than was listened to are not told as what was missed, and it goes on from there"
  )
  func otherData() throws {
    let live = FakeLive()
    let told = Told()
    let remote = ScriptedRemote()
    remote.epoch = "other"
    remote.changes = { _, _ in #"{"changed":[{"_id":"lie"}],"deleted":[]}"# }
    try withFeed(live, remote) { feed in
      try listening(feed, told)
      live.send(isIncomplete: true)
      #expect(told.first(3).last == .missed)
      live.send(Self.message("a", token: "1"))
      #expect(told.first(4).last == Self.saved("a"))
      #expect(live.state.peek { $0.joins } == ["notes", "notes"])
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
      let told = Told()
      _ = try feed.subscribe(to: .collection("notes"), told.receive)
      _ = told.first(2)
      live.send(Self.message("a", token: "1"))
      #expect(told.first(3).last == Self.saved("a"))
    }
  }
}
