import KVBase
import KVServerCore
import KVTestSupport
import Testing

@testable import KVServerOpenID

@Suite("An id token that a program brings") struct UsedTokensTests {
  private let used = UsedTokens()

  /// A token of a provider whose tokens may be 600 s old, unless `seconds` says otherwise.
  private func use(
    _ digest: [UInt8], of issuer: String = "https://id.example", made: Int64 = 100,
    at now: Int64 = 100, for seconds: Int64 = 600
  ) throws {
    try used.use(.init(digest: digest, issuer: issuer, made: made), for: seconds, at: now)
  }

  /// Uses 100,000 tokens: as many as are kept.
  private func useMany() throws {
    for number in 0..<100_000 {
      try use([UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)])
    }
  }

  @Test("is good once until it is too old, also when many bring it at the same time")
  func once() throws {
    let uses = concurrentMap(16, threads: 8) { _ in (try? use([1, 2, 3])) != nil }
    #expect(uses.count { $0 } == 1)
    try use([1, 2, 4])
    #expect(throws: IdentityFailure.refused("the id token was used before")) {
      try use([1, 2, 4], at: 700)
    }
  }

  @Test("is good again if the login that it was used for has failed")
  func release() throws {
    try use([1, 2, 3])
    used.release([1, 2, 3])
    let uses = concurrentMap(16, threads: 8) { _ in (try? use([1, 2, 3])) != nil }
    #expect(uses.count { $0 } == 1)
  }

  @Test("waits when there are too many others, until these are too old")
  func limit() throws {
    try useMany()
    #expect(throws: IdentityFailure.unavailable("too many id tokens are used at the same time")) {
      try use([9], made: 700, at: 700)
    }
    try use([9], made: 701, at: 701)
  }

  @Test("stays too old when older ones are allowed from then on, unless it was never forgotten")
  func longerLife() throws {
    try useMany()
    try use([9], made: 701, at: 701)
    #expect(throws: IdentityFailure.refused("the id token was too old already (iat)")) {
      try use([0, 0, 7], at: 800, for: 3_600)
    }
    try use([10], made: 101, at: 800, for: 3_600)
    try use([11], of: "https://other.example", made: 90, at: 800, for: 3_600)
    #expect(throws: IdentityFailure.refused("the id token was used before")) {
      try use([9], made: 701, at: 2_000, for: 3_600)
    }
  }
}
