import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import KVWorlds
import Testing

@Suite("A request that failed") struct RetryTests {
  private static func busy(_ status: Int, after seconds: Double? = nil) -> StoreError {
    var error = StoreError(.server, "Busy.")
    error.answer = StoreError.ServerAnswer(status: status, retryAfter: seconds)
    error.statedClass = .passing
    return error
  }

  private static let offline = StoreError(.network, "Nobody there.")

  /// Fails so many times, then succeeds; gives how often it was tried.
  private func tries(
    _ error: StoreError, failing failures: Int, _ clock: FakeRetryClock, retries: Int = 3,
    deadline: Deadline = .never
  ) -> (count: Int, error: StoreError?) {
    let call = Call(deadline: deadline, retry: Retry(limit: retries, clock: clock))
    var count = 0
    let failure = failure {
      try call.repeating { () throws(StoreError) in
        count += 1
        if count <= failures { throw error }
      }
    }
    return (count, failure)
  }

  @Test("is sent again after pauses that double, each drawn from its full length")
  func backOff() {
    let clock = FakeRetryClock()
    let (count, error) = tries(Self.offline, failing: 9, clock, retries: 9)
    #expect(count == 10 && error == nil)
    #expect(clock.pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30])
    let half = FakeRetryClock(share: { 0.5 })
    _ = tries(Self.offline, failing: 2, half)
    #expect(half.pauses == [0.1, 0.2])
  }

  @Test("surfaces when it failed as often as was allowed; with 0 retries at once")
  func givesUp() {
    for retries in [0, 1, 3] {
      let clock = FakeRetryClock()
      let (count, error) = tries(Self.busy(503), failing: 99, clock, retries: retries)
      #expect(count == retries + 1 && error == Self.busy(503) && clock.pauses.count == retries)
    }
  }

  @Test(
    "is worth it after silence, and where the backend may do it another time",
    arguments: [offline, busy(429), busy(502), busy(503), busy(504)])
  func worthIt(error: StoreError) {
    #expect(tries(error, failing: 1, FakeRetryClock()).error == nil)
  }

  @Test(
    "is not worth it after other answers",
    arguments: [
      ScriptedRemote.error(.invalid, 400), ScriptedRemote.error(.unauthorized, 401),
      ScriptedRemote.error(.notFound, 404), ScriptedRemote.error(.conflict, 500),
      ScriptedRemote.error(.server, 550), ScriptedRemote.error(.server, 500),
      StoreError(.timeout, "Late."), StoreError(.cancelled, "Stop."), StoreError(.full, "Full."),
    ])
  func notWorthIt(error: StoreError) {
    #expect(tries(error, failing: 1, FakeRetryClock()).count == 1)
  }

  @Test("waits at least as long as the backend asks") func retryAfter() {
    let clock = FakeRetryClock(share: { 0 })
    _ = tries(Self.busy(503, after: 7), failing: 2, clock)
    #expect(clock.pauses == [7, 7])
  }

  @Test("is not waited for beyond the deadline") func deadline() {
    let clock = FakeRetryClock()
    let (count, error) = tries(
      Self.busy(503, after: 90), failing: 1, clock, deadline: .after(seconds: 60))
    #expect(count == 1 && error == Self.busy(503, after: 90) && clock.pauses.isEmpty)
  }

  @Test("is not sent again once the call is cancelled, and the pause ends at once") func cancelled()
    throws
  {
    let cancellation = Cancellation()
    let call = Call(
      deadline: .never, cancellation: cancellation,
      retry: Retry(limit: 3, clock: SystemRetryClock()))
    let isWaiting = Gate()
    let canceller = Worker("canceller") {
      isWaiting.wait()
      cancellation.cancel()
    }
    let error = failure {
      try call.repeating { () throws(StoreError) in
        isWaiting.open()
        throw Self.busy(503, after: 3600)
      }
    }
    canceller?.join()
    #expect(error?.kind == .cancelled)
  }

  // MARK: In the engine

  private func call(_ clock: FakeRetryClock, retries: Int = 3) -> Call {
    Call(retry: Retry(limit: retries, clock: clock))
  }

  @Test("of a push is repeated without doubling: a create whose answer was lost") func lostCreate()
    throws
  {
    let fixture = try TestEngine()
    _ = try fixture.saveMany([["n": 1], ["n": 2], ["n": 3]])
    var losses = 2
    fixture.remote.losesAnswer = { _ in
      losses -= 1
      return losses >= 0
    }
    let clock = FakeRetryClock()
    #expect(try fixture.engine.push(call(clock)) == PushResult(pushed: 3))
    #expect(fixture.remote.backend.ids.count == 3)
    #expect(clock.pauses.count == 2)
  }

  @Test("stops a round of a push after six in a row, and repeats only what failed")
  func pushRounds() throws {
    let fixture = try TestEngine()
    for n in 0..<20 { try fixture.save(["_id": .string("id\(n)"), "n": .int(Int64(n))]) }
    let isDown = Monitor(true)
    fixture.remote.refusal = { _ in isDown.withLock { $0 } ? Self.offline : nil }
    let clock = FakeRetryClock(meanwhile: { isDown.withLock { $0 = false } })
    #expect(try fixture.engine.push(call(clock)) == PushResult(pushed: 20))
    #expect(fixture.remote.requests.count == 6 + 20)
    #expect(clock.pauses.count == 1)
  }

  @Test("of a create without an id is not repeated: it would happen twice") func networkCreate()
    throws
  {
    let fixture = try TestEngine(.network)
    fixture.remote.losesAnswer = { _ in true }
    let clock = FakeRetryClock()
    let bytes = Array(#"{"n":1}"#.utf8)
    let outline = try EntityScanner.outline(of: bytes)
    var options = fixture.options()
    options.call = call(clock)
    let error = failure {
      _ = try bytes.withUnsafeBytes { try fixture.engine.save($0, outline, options: options) }
    }
    #expect(error?.kind == .network)
    #expect(fixture.remote.requests.count == 1 && clock.pauses.isEmpty)
  }

  @Test("of a pull that broke off in the middle is repeated; nothing counts twice")
  func brokenPull()
    throws
  {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a"], ["_id": "b"], ["_id": "c"])
    let isBroken = Monitor(true)
    fixture.remote.answer = { _, found in
      let found = isBroken.withLock { $0 } ? found.dropLast() : found
      return Array("[".utf8) + found.joined(separator: Array(",".utf8)) + Array("]".utf8)
    }
    fixture.remote.readEnd = { isBroken.withLock { $0 } ? Self.offline : nil }
    let clock = FakeRetryClock(meanwhile: { isBroken.withLock { $0 = false } })
    let call = call(clock)
    #expect(try fixture.engine.pull(Query(), call) == PullResult(pulled: 3))
    #expect(try fixture.local("_id") == [#""a""#, #""b""#, #""c""#])
    #expect(call.progress.snapshot.entitiesDone == 3)
  }

  @Test("does not keep an Auto store waiting that has a local answer") func autoStore() throws {
    let fixture = try TestEngine(.auto)
    fixture.remote.readError = Self.offline
    fixture.remote.refusal = { _ in Self.offline }
    let clock = FakeRetryClock()
    var options = fixture.options()
    options.call = call(clock)
    #expect(try fixture.engine.find(Query(), options).isLocal)
    let bytes = Array(#"{"n":1}"#.utf8)
    let outline = try EntityScanner.outline(of: bytes)
    #expect(
      try bytes.withUnsafeBytes { try fixture.engine.save($0, outline, options: options).isLocal })
    #expect(clock.pauses.isEmpty)
    // An answer that says "later" is no reason to fall back: it is waited for.
    fixture.remote.readError = Self.busy(503)
    #expect(failure { _ = try fixture.engine.find(Query(), options) } == Self.busy(503))
    #expect(clock.pauses.count == 3)
  }
}
