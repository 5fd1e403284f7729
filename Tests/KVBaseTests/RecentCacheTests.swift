import KVBase
import Testing

@Suite("Recent values") struct RecentCacheTests {
  @Test("what is used again and again stays, however many values come between")
  func keepsWhatIsUsed() {
    var cache = RecentCache<Int, String>(capacity: 4)
    cache.keep("used", for: -1)
    for number in 0..<100 {
      cache.keep("once", for: number)
      #expect(cache.value(for: -1) == "used")
    }
  }

  @Test("no more than two generations are kept")
  func forgets() {
    var cache = RecentCache<Int, Int>(capacity: 4)
    for number in 0..<100 { cache.keep(number, for: number) }
    let kept = (0..<100).filter { cache.value(for: $0) != nil }
    #expect(kept.count <= 8)
    #expect(kept.last == 99)
  }
}
