import KVBase
import KVSync
import Testing

@Suite("Unsubscribing") struct LiveDepartureTests {
  private let base = LiveFeedTests()
  private let live = FakeLive()
  private let received = ReceivedEvents()

  private func call(_ cancellation: Cancellation = Cancellation()) -> Call {
    Call(deadline: .after(seconds: 60), cancellation: cancellation)
  }

  /// What unsubscribing throws, on a thread of its own; `body` runs while the backend has not answered yet.
  private func unsubscribing(
    _ feed: LiveFeed, subscriber: LiveFeed.Subscriber, call: Call, during body: () -> Void
  ) throws -> StoreError? {
    live.state.withLockNotifyingAll { $0.lets = false }
    let thrown = Monitor<StoreError??>(nil)
    let worker = try #require(
      Worker("unsubscribe") {
        do throws(StoreError) {
          try feed.unsubscribe(subscriber, call)
          thrown.withLock { $0 = .some(nil) }
        } catch {
          thrown.withLock { $0 = error }
        }
      })
    #expect(live.state.wait(until: .after(seconds: 60)) { $0.isLeaving ? true : nil } == true)
    #expect(thrown.withLock { $0 } == nil)
    body()
    worker.join()
    return try #require(thrown.withLock { $0 })
  }

  @Test("is answered when the backend has answered")
  func answered() throws {
    try base.withFeed(live) { feed in
      let error = try unsubscribing(
        feed, subscriber: try base.listening(feed, received), call: call()
      ) {
        live.state.withLockNotifyingAll { $0.lets = true }
      }
      #expect(error == nil)
      #expect(live.state.withLock { $0.leaves } == ["notes"])
    }
  }

  @Test("is an error when the backend refuses, and nothing is told in any case")
  func refused() throws {
    let refusal = StoreError(.forbidden, "no")
    live.state.withLock { $0.leaveErrors = [refusal] }
    try base.withFeed(live) { feed in
      let other = ReceivedEvents()
      let subscriber = try base.listening(feed, received)
      _ = try feed.subscribe(to: .collection("others"), other.receive)
      _ = other.first(2)
      #expect(throws: refusal) { try feed.unsubscribe(subscriber, call()) }
      live.send(LiveFeedTests.message("a", token: "1"))
      live.send(LiveFeedTests.message("b", token: "2", in: "others"))
      _ = other.first(3)
      #expect(received.events.withLock { $0.count } == 2)
      // It is not tried again by who has ended.
      try feed.unsubscribe(subscriber, call())
    }
  }

  @Test("asks nobody as long as others listen to the same")
  func shared() throws {
    try base.withFeed(live) { feed in
      let subscriber = try base.listening(feed, received)
      _ = try base.listening(feed, ReceivedEvents())
      try feed.unsubscribe(subscriber, call())
      #expect(live.state.withLock { $0.leaves } == [])
    }
  }

  @Test("does not wait for a backend that cannot be reached")
  func offline() throws {
    try base.withFeed(live) { feed in
      let subscriber = try base.listening(feed, received)
      live.state.withLock { $0.isUnreachable = true }
      live.put(.failure(StoreError(.network, "gone")))
      _ = received.first(3)
      let error = #expect(throws: StoreError.self) { try feed.unsubscribe(subscriber, call()) }
      #expect(error?.kind == .network)
    }
  }

  @Test("is over when everything is, and when its own call is")
  func stopped() throws {
    try base.withFeed(live) { feed in
      let subscriber = try base.listening(feed, received)
      #expect(try unsubscribing(feed, subscriber: subscriber, call: call()) { feed.stop() } == nil)
    }
    try base.withFeed(live) { feed in
      let cancellation = Cancellation()
      let subscriber = try base.listening(feed, ReceivedEvents())
      let error = try unsubscribing(feed, subscriber: subscriber, call: call(cancellation)) {
        cancellation.cancel()
      }
      #expect(error?.kind == .cancelled)
    }
  }
}
