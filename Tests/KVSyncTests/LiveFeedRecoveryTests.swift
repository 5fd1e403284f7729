import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// Connections that break, strangers who answer, and what was missed meanwhile.
extension LiveFeedTests {
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
    let received = ReceivedEvents()
    let remote = ScriptedRemote()
    let isAway = Monitor(true)
    remote.changes = { _, _ in
      isAway.withLockNotifyingAll { isAway in
        defer { isAway = false }
        return isAway ? "<html>" : #"{"changed":[{"_id":"b"}],"deleted":[]}"#
      }
    }
    live.state.withLockNotifyingAll { $0.joinErrors = Self.strangers }
    try withFeed(live, remote: remote) { feed in
      try listening(feed, received)
      live.state.withLockNotifyingAll { $0.probeErrors = Self.strangers }
      for error in Self.strangers { live.put(.failure(error)) }
      live.send(isIncomplete: true)
      live.send(Self.message("a", token: "1"))
      let isReceived = received.events.wait(until: .after(seconds: 60)) {
        $0.last == Self.saved("a") ? true : nil
      }
      #expect(isReceived == true)
      let events = received.events.withLock { $0 }
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
    let received = ReceivedEvents()
    let remote = ScriptedRemote()
    remote.changes = { _, _ in "<html>" }
    try withFeed(live, remote: remote) { feed in
      try listening(feed, received)
      live.send(isIncomplete: true)
      live.send(Self.message("a", token: "1"))
      let isReceived = received.events.wait(until: .after(seconds: 60)) {
        $0.last == Self.saved("a") ? true : nil
      }
      #expect(isReceived == true)
      #expect(received.events.withLock { $0.contains(.missed) })
    }
  }

  @Test("An answer to a poll that is none breaks the connection; it does not end what was begun")
  func garbled() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    try withFeed(live) { feed in
      try listening(feed, received)
      live.put(.failure(StoreError(.proto, "half an answer")))
      live.send(Self.message("a", token: "1"))
      #expect(
        received.first(5).dropFirst(2) == [
          .status(.unexpectedDisconnect), .status(.reconnected), Self.saved("a"),
        ])
    }
  }

  @Test("A broken connection is told, tried again after pauses, and goes on from the same position")
  func reconnects() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    let clock = FakeRetryClock()
    try withFeed(live, remote: ScriptedRemote(), clock: clock) { feed in
      try listening(feed, received)
      live.put(.failure(StoreError(.network, "cut")))
      live.put(.failure(StoreError(.network, "cut again")))
      live.send(Self.message("a", token: "1"))
      #expect(
        received.first(7).dropFirst(2) == [
          .status(.unexpectedDisconnect), .status(.reconnected), .status(.unexpectedDisconnect),
          .status(.reconnected), Self.saved("a"),
        ])
      #expect(clock.pauses == [3, 6])
      #expect(live.state.withLock { Array($0.positions[1...3]) }.allSatisfy { $0?.text == "100 4" })
    }
  }

  @Test("A poll that has been silent for long begins anew when another request is answered")
  func doubts() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    let time = Monitor(0.0)
    try withFeed(live, now: { time.withLock { $0 } }) { feed in
      try listening(feed, received)
      feed.recordAnswer()
      let isWaiting = live.state.wait(until: .after(seconds: 60)) {
        $0.positions.count == 2 ? true : nil
      }
      #expect(isWaiting == true)
      for (seconds, cuts) in [(30.0, 0), (31, 1), (40, 1), (62, 2)] {
        time.withLockNotifyingAll { $0 = seconds }
        feed.recordAnswer()
        let isAsked = live.state.wait(until: .after(seconds: 60)) {
          $0.positions.count == cuts + 2 ? true : nil
        }
        #expect(isAsked == true)
      }
      live.send(Self.message("a", token: "1"))
      #expect(received.first(3).last == Self.saved("a"))
      #expect(live.state.withLock { $0.cutPolls } == 2)
    }
  }

  @Test("A pause before the next look at a broken connection ends when another request is answered")
  func hurries() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    let time = Monitor(0.0)
    let answered = Monitor<LiveFeed?>(nil)
    let clock = FakeRetryClock(meanwhile: {
      time.withLockNotifyingAll { $0 += 31 }
      answered.withLock { $0 }?.recordAnswer()
    })
    try withFeed(live, remote: ScriptedRemote(), clock: clock, now: { time.withLock { $0 } }) {
      feed in
      answered.withLockNotifyingAll { $0 = feed }
      defer { answered.withLockNotifyingAll { $0 = nil } }
      try listening(feed, received)
      live.put(.failure(StoreError(.network, "cut")))
      live.send(Self.message("a", token: "1"))
      #expect(received.first(5).last == Self.saved("a"))
      #expect(clock.pauses == [3])
      #expect(live.state.withLock { $0.probes } == 1)
    }
  }

  @Test("A poll that nothing comes of goes on in silence")
  func timeouts() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    try withFeed(live) { feed in
      try listening(feed, received)
      live.put(.failure(StoreError(.timeout, "")))
      live.send(Self.message("a", token: "1"))
      #expect(received.first(3).last == Self.saved("a"))
    }
  }

  @Test(
    "A device that the service has forgotten joins everything again, and asks for what it missed")
  func forgotten() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    let remote = ScriptedRemote()
    remote.changes = { _, since in
      #"{"changed":[{"_id":"since \#(since)"}],"deleted":[]}"#
    }
    try withFeed(live, remote: remote) { feed in
      try listening(feed, received)
      live.state.withLockNotifyingAll { $0.joins = [] }
      var registration = Self.registration
      registration.isNew = true
      live.put(.success(.registeredAnew(registration, StoreError(.forbidden, "403"))))
      guard case .changed(.saved(_, let id, _))? = received.first(3).last else {
        return #expect(Bool(false), "\(received.first(3))")
      }
      #expect(id == "since 2026-01-01T00:00:00.000Z")
      #expect(live.state.withLock { $0.joins } == ["notes"])
      live.send(Self.message("a", token: "1"))
      #expect(received.first(4).last == Self.saved("a"))
    }
  }

  @Test("A device that is registered anew, but was known, goes on from the same position")
  func registeredAnew() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    try withFeed(live) { feed in
      try listening(feed, received)
      for _ in 0..<3 {
        live.put(.success(.registeredAnew(Self.registration, StoreError(.forbidden, "403"))))
      }
      live.send(Self.message("a", token: "1"))
      #expect(received.first(3) == [.status(.connected), .ready, Self.saved("a")])
      #expect(live.state.withLock { $0.joins } == Array(repeating: "notes", count: 4))
      // The poll after the message may be under way: it asks from another position.
      #expect(live.state.withLock { Array($0.positions[1...4]) }.allSatisfy { $0?.text == "100 4" })
    }
  }

  @Test("Who is refused again and again after new registrations may not listen")
  func refusedAnew() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    let error = StoreError(.forbidden, "403")
    try withFeed(live) { feed in
      try listening(feed, received)
      for _ in 0..<4 { live.put(.success(.registeredAnew(Self.registration, error))) }
      let last = received.events.wait(until: .after(seconds: 60)) {
        $0.last == .status(.disconnected) ? Array($0.suffix(2)) : nil
      }
      #expect(last == [.failure(error), .status(.disconnected)])
      #expect(feed.registration == nil)
    }
  }

  @Test("What the service no longer has is read from the changes; what was told is not told again")
  func catchesUp() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    let remote = ScriptedRemote()
    let (old, new) = (Self.entity("a"), Self.entity("b", 2))
    remote.changes = { _, _ in
      let changed = [old, new].map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",")
      return #"{"changed":[\#(changed)],"deleted":[{"_id":"z"}]}"#
    }
    try withFeed(live, remote: remote) { feed in
      try listening(feed, received)
      live.send(Self.message("a", token: "1"), isIncomplete: true)
      #expect(
        received.first(5).dropFirst(2) == [
          Self.saved("a"), .changed(.deleted(id: "z", at: nil)), Self.saved("b", 2),
        ])
    }
  }

  @Test("Where changes cannot be had, the subscriber is told that it missed something")
  func missed() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    let time = Monitor(0.0)
    try withFeed(live, now: { time.withLock { $0 } }) { feed in
      try listening(feed, received)
      // The clock was set back by a day.
      time.withLockNotifyingAll { $0 = -86_400 }
      live.send()
      #expect(received.first(3).last == .missed)
    }
  }

  @Test(
    "Changes of other data than was listened to are not told as what was missed, and it goes on from there"
  )
  func otherData() throws {
    let live = FakeLive()
    let received = ReceivedEvents()
    let remote = ScriptedRemote()
    remote.epoch = "other"
    remote.changes = { _, _ in #"{"changed":[{"_id":"lie"}],"deleted":[]}"# }
    try withFeed(live, remote: remote) { feed in
      try listening(feed, received)
      live.send(isIncomplete: true)
      #expect(received.first(3).last == .missed)
      live.send(Self.message("a", token: "1"))
      #expect(received.first(4).last == Self.saved("a"))
      #expect(live.state.withLock { $0.joins } == ["notes", "notes"])
    }
  }
}
