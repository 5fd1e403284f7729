import KVBase
import KVClient
import KVJSON
import KVTestSupport
import Testing

@Suite("The runners of a client") struct RunnerTests {
  @Test("do local work while as many calls as there are threads wait for the network")
  func localWork() throws {
    let runners = (network: Runner(maxThreads: 2), local: Runner(maxThreads: 2))
    let (mayEnd, isDone) = (Gate(), Gate())
    for _ in 0..<4 { try runners.network.run { mayEnd.wait() } }
    try runners.local.run { isDone.open() }
    #expect(isDone.wait())
    mayEnd.open()
    runners.network.close()
    runners.local.close()
  }

  @Test("run what waits in the order it came") func order() throws {
    let runner = Runner(maxThreads: 1)
    let (mayStart, order) = (Gate(), Monitor<[Int]>([]))
    try runner.run { mayStart.wait() }
    for number in 0..<1000 { try runner.run { order.withLock { $0.append(number) } } }
    mayStart.open()
    runner.close()
    #expect(order.withLock { $0 } == Array(0..<1000))
  }
}
