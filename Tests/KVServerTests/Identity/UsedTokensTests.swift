import KVBase
import KVServerCore
import KVTestSupport
import Testing

@testable import KVServerOpenID

@Suite("An id token that a program brings") struct UsedTokensTests {
  @Test("is good once until it is too old, also when many bring it at the same time")
  func once() throws {
    let used = UsedTokens()
    let uses = concurrentMap(16, threads: 8) { _ in
      (try? used.use([1, 2, 3], until: 700, at: 100)) != nil
    }
    #expect(uses.count { $0 } == 1)
    try used.use([1, 2, 4], until: 700, at: 100)
    #expect(throws: IdentityFailure.refused("the id token was used before")) {
      try used.use([1, 2, 4], until: 1_300, at: 700)
    }
  }

  @Test("is good again if the login that it was used for has failed")
  func release() throws {
    let used = UsedTokens()
    try used.use([1, 2, 3], until: 700, at: 100)
    used.release([1, 2, 3])
    let uses = concurrentMap(16, threads: 8) { _ in
      (try? used.use([1, 2, 3], until: 700, at: 100)) != nil
    }
    #expect(uses.count { $0 } == 1)
  }

  @Test("waits when there are too many others, until these are too old")
  func limit() throws {
    let used = UsedTokens()
    for number in 0..<100_000 {
      try used.use(
        [UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)], until: 700, at: 100)
    }
    #expect(throws: IdentityFailure.unavailable("too many id tokens are used at the same time")) {
      try used.use([9], until: 1_300, at: 700)
    }
    try used.use([9], until: 1_301, at: 701)
  }
}
