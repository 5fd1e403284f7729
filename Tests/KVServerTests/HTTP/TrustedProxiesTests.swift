import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("Proxies in front") struct TrustedProxiesTests {
  private let proxies = TrustedProxies(
    ["10.0.0.1", "10.0.0.2", "fd00::1"].compactMap { IPAddress($0) })

  @Test(
    "tell where a request comes from: the nearest address that is none of theirs",
    arguments: [
      ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
      ("10.0.0.1", "192.0.2.1, 203.0.113.9", "203.0.113.9"),
      ("10.0.0.1", "203.0.113.9,10.0.0.2", "203.0.113.9"),
      ("10.0.0.1", "203.0.113.9,", "203.0.113.9"),
      ("fd00:0::1", " 2001:DB8::0:1 ", "2001:db8::1"),
      ("::ffff:10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"),
    ])
  func forwarded(peer: String, list: String, client: String) {
    #expect(proxies.client(peer, forwardedFor: list) == client)
  }

  @Test(
    "that say nothing, or nonsense, or are none, are the client",
    arguments: [
      ("10.0.0.1", nil), ("10.0.0.1", ""), ("10.0.0.1", "unknown"), ("10.0.0.1", "1.2.3.4:80"),
      ("10.0.0.1", "10.0.0.2"), ("10.0.0.3", "203.0.113.9"),
      ("-", "203.0.113.9"),
    ] as [(String, String?)])
  func itself(peer: String, list: String?) {
    #expect(proxies.client(peer, forwardedFor: list) == peer)
    #expect(TrustedProxies().client(peer, forwardedFor: list) == peer)
  }
}
