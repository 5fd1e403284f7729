internal import KVBase
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Worker pools") struct WorkerPoolTests {
  private let ana = Asker.user("ana", app: 1)
  private let ben = Asker.user("ben", app: 1)
  private let cleo = Asker.address("::1")

  @Test("run every job once, and finish the waiting ones when they are closed")
  func all() {
    let pool = WorkerPool("test", threads: 3, limit: 1000)
    let done = Monitor(0)
    for number in 0..<500 {
      #expect(pool.submit(for: [ana, ben, cleo][number % 3]) { done.withLock { $0 += 1 } })
    }
    pool.close()
    #expect(done.withLock { $0 } == 500)
    #expect(!pool.submit(for: ana) {})
  }

  @Test("keep the order on one thread")
  func order() {
    let pool = WorkerPool("test", threads: 1, limit: 1000)
    let seen = Monitor<[Int]>([])
    for number in 0..<100 { _ = pool.submit(for: ana) { seen.withLock { $0.append(number) } } }
    pool.close()
    #expect(seen.withLock { $0 } == Array(0..<100))
  }

  @Test("refuse jobs when too many wait")
  func limit() {
    let pool = WorkerPool("test", threads: 1, limit: 2)
    let (started, gate) = (Gate(), Gate())
    _ = pool.submit(for: ana) {
      started.open()
      gate.wait()
    }
    started.wait()
    #expect(pool.submit(for: ana) {})
    #expect(pool.submit(for: ana) {})
    #expect(!pool.submit(for: ana) {})
    gate.open()
    pool.close()
  }

  @Test("leave threads to others, however many jobs one asker has")
  func fairness() {
    let pool = WorkerPool("test", threads: 4, limit: 1000)
    let (gate, running) = (Gate(), Monitor(0))
    for _ in 0..<20 {
      _ = pool.submit(for: ana) {
        running.withLockNotifyingAll { $0 += 1 }
        gate.wait()
      }
    }
    _ = running.wait { $0 == 3 ? true : nil }
    let done = Gate()
    #expect(pool.submit(for: ben) { done.open() })
    done.wait()
    #expect(running.withLock { $0 } == 3)
    gate.open()
    pool.close()
    #expect(running.withLock { $0 } == 20)
  }

  @Test("let askers take turns")
  func turns() {
    var queue = WorkQueue(threads: 1, limit: 100)
    for asker in [ana, ana, ana, ben, ben, cleo] { _ = queue.add({}, for: asker) }
    var order: [Asker] = []
    while let (_, asker) = queue.next() {
      order.append(asker)
      #expect(!queue.canStart)
      queue.finish(asker)
    }
    #expect(order == [ana, ben, cleo, ana, ben, ana])
    #expect(queue.isEmpty)
  }

  @Test("leave room to wait in to others")
  func room() {
    var queue = WorkQueue(threads: 1, limit: 10)
    let mine = (0..<10).filter { _ in queue.add({}, for: ana) }.count
    #expect(mine == 6)
    let isTaken = queue.add({}, for: ben)
    #expect(isTaken)
  }
}
