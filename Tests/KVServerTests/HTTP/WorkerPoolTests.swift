internal import KVBase
internal import KVTestSupport
import Testing

@testable import KVServer

@Suite("Worker pools") struct WorkerPoolTests {
  @Test("run every job once, and finish the waiting ones when they are closed")
  func all() {
    let pool = WorkerPool("test", threads: 3, limit: 1000)
    let done = Monitor(0)
    for _ in 0..<500 { #expect(pool.submit { done.peek { $0 += 1 } }) }
    pool.close()
    #expect(done.peek { $0 } == 500)
    #expect(!pool.submit {})
  }

  @Test("keep the order on one thread")
  func order() {
    let pool = WorkerPool("test", threads: 1, limit: 1000)
    let seen = Monitor<[Int]>([])
    for number in 0..<100 { _ = pool.submit { seen.peek { $0.append(number) } } }
    pool.close()
    #expect(seen.peek { $0 } == Array(0..<100))
  }

  @Test("refuse jobs when too many wait")
  func limit() {
    let pool = WorkerPool("test", threads: 1, limit: 2)
    let (started, gate) = (Gate(), Gate())
    _ = pool.submit {
      started.open()
      gate.wait()
    }
    started.wait()
    #expect(pool.submit {})
    #expect(pool.submit {})
    #expect(!pool.submit {})
    gate.open()
    pool.close()
  }
}
