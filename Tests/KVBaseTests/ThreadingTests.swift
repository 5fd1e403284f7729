import Testing

@testable import KVBase

@Suite("Monitor") struct MonitorTests {
  @Test("a waiter sees what another thread puts in") func handsOver() {
    let monitor = Monitor<Int?>(nil)
    let worker = Worker("put") { monitor.withLockNotifyingAll { $0 = 7 } }
    #expect(monitor.wait { $0 } == 7)
    worker?.join()
  }

  @Test("a wait ends at its deadline") func deadline() {
    let monitor = Monitor(0)
    let before = monotonicNanoseconds()
    let found: Bool? = monitor.wait(until: .after(seconds: 0.02)) { $0 > 0 ? true : nil }
    #expect(found == nil)
    #expect(monotonicNanoseconds() - before >= 20_000_000)
  }

  @Test("a condition that holds already needs no waiting, even with no time left") func noTime() {
    #expect(Monitor(1).wait(until: .after(seconds: 0)) { $0 } == 1)
  }

  @Test("many threads count without losing one") func counts() {
    let monitor = Monitor(0)
    let workers = (0..<4).compactMap { index in
      Worker("count \(index)") { for _ in 0..<10_000 { monitor.withLockNotifyingAll { $0 += 1 } } }
    }
    for worker in workers { worker.join() }
    #expect(monitor.withLock { $0 } == 40_000)
  }
}

@Suite("Cancellation") struct CancellationTests {
  @Test("runs the handler of what is under way, once") func runsHandler() {
    let cancellation = Cancellation()
    let calls = Monitor(0)
    cancellation.notifying({ calls.withLockNotifyingAll { $0 += 1 } }) {
      cancellation.cancel()
      cancellation.cancel()
    }
    #expect(calls.withLock { $0 } == 1)
    #expect(cancellation.isCancelled)
  }

  @Test("runs the handler at once when it was cancelled before") func tooLate() {
    let cancellation = Cancellation()
    cancellation.cancel()
    let calls = Monitor(0)
    cancellation.notifying({ calls.withLockNotifyingAll { $0 += 1 } }) {}
    #expect(calls.withLock { $0 } == 1)
  }

  @Test("forgets the handler of what has ended") func forgets() {
    let cancellation = Cancellation()
    let calls = Monitor(0)
    cancellation.notifying({ calls.withLockNotifyingAll { $0 += 1 } }) {}
    cancellation.cancel()
    #expect(calls.withLock { $0 } == 0)
  }

  @Test("a handler may ask whether it is cancelled") func reentrant() {
    let cancellation = Cancellation()
    let seen = Monitor(false)
    cancellation.notifying({
      let now = cancellation.isCancelled
      seen.withLockNotifyingAll { $0 = now }
    }) {
      cancellation.cancel()
    }
    #expect(seen.withLock { $0 })
  }
}

@Suite("Worker") struct WorkerTests {
  @Test("join waits for the body, and twice is fine") func joins() {
    let done = Monitor(false)
    let worker = Worker("body") { done.withLockNotifyingAll { $0 = true } }
    worker?.join()
    worker?.join()
    #expect(done.withLock { $0 })
    #expect(worker?.isCurrent == false)
  }

  @Test("several may wait for one") func joinedByMany() {
    let gate = Monitor(false)
    let worker = Worker("body") { _ = gate.wait { $0 ? true : nil } }
    let waiting = (0..<4).map { _ in Worker("wait") { worker?.join() } }
    gate.withLockNotifyingAll { $0 = true }
    for waiter in waiting { waiter?.join() }
    worker?.join()
  }

  @Test("what the body held is gone when it is joined") func letsGo() {
    final class Held: Sendable {}
    weak var gone: Held?
    for _ in 0..<100 {
      var held: Held? = Held()
      gone = held
      let worker = Worker("body") { [held] in _ = held }
      held = nil
      worker?.join()
      #expect(gone == nil)
    }
  }

  @Test("a worker that nobody keeps still runs") func dropped() {
    let done = Monitor(false)
    _ = Worker("body") { done.withLockNotifyingAll { $0 = true } }
    #expect(done.wait(until: .after(seconds: 60)) { $0 ? true : nil } == true)
  }
}

@Suite("Deadline") struct DeadlineTests {
  @Test("never does not pass; now has passed") func passes() {
    #expect(!Deadline.never.hasPassed)
    #expect(Deadline.after(seconds: 0).hasPassed)
    #expect(Deadline.never.remainingSeconds == .infinity)
  }

  @Test("progress lets the time begin anew, unless it is over") func progress() throws {
    let deadline = Deadline.after(secondsWithoutProgress: 1_000)
    let first = try #require(deadline.nanoseconds)
    deadline.noteProgress(bytes: 16_383)
    #expect(deadline.nanoseconds == first)
    while monotonicNanoseconds() <= first - 1_000_000_000_000 {}
    deadline.noteProgress(bytes: 1)
    let second = try #require(deadline.nanoseconds)
    #expect(second > first)
    // Counted from the last progress on.
    deadline.noteProgress(bytes: 16_383)
    #expect(deadline.nanoseconds == second)
    let over = Deadline.after(secondsWithoutProgress: 0)
    over.noteProgress()
    #expect(over.hasPassed)
    let fixed = Deadline.after(seconds: 1_000)
    let end = fixed.nanoseconds
    fixed.noteProgress()
    #expect(fixed.nanoseconds == end)
    #expect(Deadline.after(secondsWithoutProgress: -1) == .never)
  }

  @Test("absurd spans mean never", arguments: [-1, .infinity, .nan, 1e300] as [Double])
  func absurd(seconds: Double) {
    #expect(Deadline.after(seconds: seconds) == .never)
  }

  @Test("the earlier of two wins, whichever comes first") func earlier() {
    let soon = Deadline(nanoseconds: 1)
    let late = Deadline(nanoseconds: 2)
    #expect(soon.earlier(late) == soon)
    #expect(late.earlier(soon) == soon)
    #expect(Deadline.never.earlier(soon) == soon)
    #expect(soon.earlier(.never) == soon)
  }
}
