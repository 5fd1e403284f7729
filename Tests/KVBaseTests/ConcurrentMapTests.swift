import KVBase
import KVTestSupport
import Testing

@Suite("Work done together") struct ConcurrentMapTests {
  @Test("gives each result in its place, with however many threads", arguments: [-1, 0, 1, 2, 9])
  func places(threads: Int) {
    #expect(concurrentMap(7, threads: threads) { $0 * $0 } == [0, 1, 4, 9, 16, 25, 36])
    #expect(concurrentMap(0, threads: threads) { $0 }.isEmpty)
    #expect(concurrentMap(-1, threads: threads) { $0 }.isEmpty)
  }

  @Test("runs at the same time") func sameTime() {
    let gates = [Gate(), Gate()]
    let met = concurrentMap(2, threads: 2) { index in
      gates[index].open()
      return gates[1 - index].wait()
    }
    #expect(met == [true, true])
  }
}
