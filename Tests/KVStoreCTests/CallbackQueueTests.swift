import Glibc
import KVBase
import KVSync
import KVTestSupport
import Testing

@testable import KVStoreC

/// Numbers in the order in which they came.
private final class Record: Sendable {
  private let numbers = Monitor([Int]())
  func add(_ number: Int) { numbers.withLockNotifyingAll { $0.append(number) } }
  var all: [Int] { numbers.withLock { $0 } }
  func wait(for count: Int) {
    _ = numbers.wait(until: .after(seconds: 60)) { $0.count >= count ? 1 : nil }
  }
}

@Suite("Callback queues") struct CallbackQueueTests {
  @Test("jobs run in order on one thread that is not the caller's")
  func order() throws {
    let (queue, record) = (try CallbackQueue(isPumped: false), Record())
    let threads = Monitor(Set<pthread_t>())
    try queue.prepare()
    for number in 0..<1000 {
      queue.add {
        record.add(number)
        threads.withLock { _ = $0.insert(pthread_self()) }
      }
    }
    queue.close()
    #expect(record.all == Array(0..<1000))
    #expect(threads.withLock { $0.count } == 1)
    #expect(threads.withLock { !$0.contains(pthread_self()) })
  }

  @Test("closing runs what waits and refuses what comes later")
  func closing() throws {
    for isPumped in [false, true] {
      let (queue, record) = (try CallbackQueue(isPumped: isPumped), Record())
      try queue.prepare()
      queue.add { record.add(1) }
      queue.close()
      #expect(record.all == [1])
      #expect(!queue.add { record.add(2) })
      #expect(record.all == [1])
    }
  }

  @Test("a job run instead of a dispatch waits for the one that runs, and keeps others out")
  func inPlace() throws {
    let (queue, record) = (try CallbackQueue(isPumped: true), Record())
    let isInside = queue.runInPlace(Call()) {
      queue.add { record.add(1) }
      #expect(queue.dispatch(nil) == 0)
      // A job may run another one in place.
      #expect(queue.runInPlace(Call()) { 7 } == 7)
      return queue.isInside
    }
    #expect(isInside == true)
    #expect(!queue.isInside)
    #expect(queue.dispatch(nil) == 1)
    queue.add {
      // Another thread waits for the end of this dispatch, no longer than its time.
      let call = Call(deadline: .after(seconds: 0.02))
      #expect(concurrently(1) { _ in queue.runInPlace(call) { 1 } }.isEmpty)
      let cancelled = Call()
      cancelled.cancellation.cancel()
      #expect(concurrently(1) { _ in queue.runInPlace(cancelled) { 1 } }.isEmpty)
    }
    #expect(queue.dispatch(nil) == 1)
    queue.close()
    #expect(queue.runInPlace(Call()) { 1 } == nil)
    #expect(record.all == [1])
  }

  @Test("closing from inside a job runs the rest inside of it")
  func closingInside() throws {
    for isPumped in [false, true] {
      let (queue, record) = (try CallbackQueue(isPumped: isPumped), Record())
      try queue.prepare()
      queue.add {
        queue.add { record.add(2) }
        queue.close()
        record.add(3)
      }
      if isPumped { #expect(queue.dispatch(nil) == 1) }
      record.wait(for: 2)
      #expect(record.all == [2, 3])
      #expect(!queue.add {})
    }
  }

  @Test("a pumped queue runs nothing by itself and says by its descriptor that something waits")
  func pumped() throws {
    let (queue, record) = (try CallbackQueue(isPumped: true), Record())
    let descriptor = try #require(queue.descriptor)
    func isReadable() -> Bool {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&entry, 1, 0) == 1
    }
    #expect(!isReadable())
    for number in 0..<3 { queue.add { record.add(number) } }
    #expect(record.all.isEmpty)
    #expect(isReadable())
    #expect(queue.dispatch(2) == 2)
    #expect(isReadable())
    #expect(queue.dispatch(nil) == 1)
    #expect(!isReadable())
    #expect(queue.dispatch(nil) == 0)
    #expect(record.all == [0, 1, 2])
    queue.close()
  }

  @Test("a dispatch inside a dispatched job runs nothing, and what a job adds waits for the next")
  func nested() throws {
    let (queue, record) = (try CallbackQueue(isPumped: true), Record())
    queue.add {
      queue.add { record.add(2) }
      record.add(Int(queue.dispatch(nil)))
    }
    #expect(queue.dispatch(nil) == 1)
    #expect(record.all == [0])
    #expect(queue.dispatch(nil) == 1)
    #expect(record.all == [0, 2])
    queue.close()
  }

  @Test("closing waits for the job that another thread is running")
  func closingElsewhere() throws {
    for isPumped in [false, true] {
      let (queue, record) = (try CallbackQueue(isPumped: isPumped), Record())
      let (hasBegun, mayEnd) = (Monitor(false), Monitor(false))
      try queue.prepare()
      queue.add {
        hasBegun.withLockNotifyingAll { $0 = true }
        _ = mayEnd.wait { $0 ? true : nil }
        record.add(1)
      }
      let pump = isPumped ? Worker("pump") { _ = queue.dispatch(nil) } : nil
      _ = hasBegun.wait { $0 ? true : nil }
      let closer = Worker("closer") {
        queue.close()
        record.add(2)
      }
      mayEnd.withLockNotifyingAll { $0 = true }
      pump?.join()
      closer?.join()
      #expect(record.all == [1, 2])
    }
  }
}
