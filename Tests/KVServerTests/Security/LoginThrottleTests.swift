internal import KVBase
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Failed logins") struct LoginThrottleTests {
  /// The fake clock, in seconds.
  private let time = Monitor<Int64>(1_000_000)
  private let throttle: LoginThrottle

  init() {
    let time = time
    throttle = LoginThrottle(now: { time.withLock { $0 } * 1_000_000_000 })
  }

  private func attempt(_ name: String, from address: String) -> LoginThrottle.Attempt {
    .init(app: 1, name: name, from: ClientAddress(address))
  }

  private func pass(seconds: Int) { time.withLock { $0 += Int64(seconds) } }

  /// Waits as long as told to, and fails. Gives how long it had to wait.
  private func fail(_ name: String, from address: String) -> Int {
    let attempt = attempt(name, from: address)
    let seconds = throttle.wait(for: attempt) ?? 0
    pass(seconds: seconds)
    #expect(throttle.wait(for: attempt) == nil)
    throttle.failed(attempt)
    return seconds
  }

  @Test("cost nothing at first, then more each time, up to half a minute")
  func delays() {
    let waits = (0..<15).map { _ in fail("ana", from: "10.0.0.1") }
    #expect(waits == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 32, 32, 32, 32])
  }

  @Test("are forgiven with time")
  func forgiven() {
    for _ in 0..<20 { _ = fail("ana", from: "10.0.0.1") }
    pass(seconds: 11 * 60)
    #expect((0..<6).map { _ in fail("ana", from: "10.0.0.1") } == [0, 0, 0, 0, 0, 1])
  }

  @Test("of a name slow whoever comes, from wherever, and nobody more than once for what others do")
  func name() {
    for number in 0..<8 { _ = fail("ana", from: "10.0.0.\(number)") }
    let owner = attempt("ana", from: "192.0.2.1")
    let wait = throttle.wait(for: owner) ?? 0
    #expect((1...32).contains(wait))
    // The attacker goes on from a thousand addresses.
    for second in 0..<wait {
      for number in 0..<1000 {
        let other = attempt("ana", from: "10.\(second).\(number / 250).\(number % 250)")
        if throttle.wait(for: other) == nil { throttle.failed(other) }
      }
      pass(seconds: 1)
    }
    #expect(throttle.wait(for: owner) == nil)
  }

  @Test("elsewhere cost nothing where the user has logged in before, at his own address too")
  func trusted() {
    let owner = attempt("ana", from: "192.0.2.1")
    throttle.succeeded(owner)
    for number in 0..<200 {
      let other = attempt("ana", from: "10.0.0.\(number)")
      if throttle.wait(for: other) == nil { throttle.failed(other) }
      let neighbour = attempt("user-\(number)", from: "192.0.2.1")
      if throttle.wait(for: neighbour) == nil { throttle.failed(neighbour) }
    }
    #expect(throttle.wait(for: attempt("ben", from: "192.0.2.1")) != nil)
    #expect(throttle.wait(for: owner) == nil)
  }

  @Test("with many names slow their address")
  func address() {
    let waits = (0..<30).map { fail("user-\($0)", from: "10.0.0.1") }
    #expect(waits.prefix(20).allSatisfy { $0 == 0 })
    #expect(waits.max() == 64)
    #expect(throttle.wait(for: attempt("ana", from: "10.0.0.2")) == nil)
    // All at once, it is still one attempt each time.
    pass(seconds: 64)
    var admitted = 0
    for number in 0..<1000 {
      let attempt = attempt("other-\(number)", from: "10.0.0.1")
      guard throttle.wait(for: attempt) == nil else { continue }
      admitted += 1
      throttle.failed(attempt)
    }
    #expect(admitted == 1)
  }

  @Test("are not forgiven to an address that logs in to an account of its own in between")
  func ownAccount() {
    var waited = 0
    for number in 0..<40 {
      throttle.succeeded(attempt("eve", from: "10.0.0.1"))
      waited += fail("user-\(number)", from: "10.0.0.1")
    }
    #expect(waited > 300)
  }

  @Test("of apps, and of names that only look alike, are told apart")
  func names() {
    for _ in 0..<6 { _ = fail("caf\u{E9}", from: "10.0.0.1") }
    #expect(throttle.wait(for: attempt("cafe\u{301}", from: "10.0.0.2")) == nil)
    #expect(throttle.wait(for: attempt("caf\u{E9}", from: "10.0.0.2")) != nil)
    let other = LoginThrottle.Attempt(
      app: 2, name: "caf\u{E9}", from: ClientAddress("10.0.0.2"))
    #expect(throttle.wait(for: other) == nil)
  }

  @Test("know an IPv4 address in both spellings, and a customer's part of an IPv6 address")
  func addresses() {
    #expect(ClientAddress("::ffff:10.0.0.1") == ClientAddress("10.0.0.1"))
    #expect(ClientAddress("10.0.0.1") != ClientAddress("10.0.0.2"))
    #expect(ClientAddress("2001:db8:1:200::1") == ClientAddress("2001:db8:1:2ff:5::9"))
    #expect(ClientAddress("2001:db8:1:200::1") != ClientAddress("2001:db8:1:300::1"))
    #expect(ClientAddress("-") != ClientAddress("unknown"))
  }

  @Test("A table forgets what was not used for the longest time, and never more than that")
  func table() {
    var table = RecentTable<Int>(limit: 100)
    for key in 0..<10_000 {
      table[key] = key
      #expect(table[0] == 0)
      #expect(table.count <= 200)
    }
    #expect((9_901..<10_000).allSatisfy { table[$0] == $0 })
    #expect(table[5] == nil)
    table[9_999] = nil
    #expect(table[9_999] == nil)
  }
}
