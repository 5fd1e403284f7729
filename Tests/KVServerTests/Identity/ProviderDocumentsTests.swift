import KVBase
import KVJSON
import KVServerCore
import KVTestSupport
import Testing

@testable import KVServerOpenID

/// What the server knows of a provider, on a clock of the test's own.
@Suite struct ProviderDocumentsTests {
  /// A provider with one EC key, whose name the test changes, and which may fail.
  private final class Provider: Sendable {
    struct State: Sendable {
      var keyId = "1"
      var fails = false
      var now: Int64 = 1000
    }

    let state = Monitor(State())
    private let server: ScriptedServer
    let documents: ProviderDocuments
    private let client: ProviderClient

    init() throws {
      let state = state
      let port = Monitor("")
      server = try ScriptedServer(replying: { request in
        let (keyId, fails) = state.withLock { ($0.keyId, $0.fails) }
        if fails { return ScriptedReply(500, "{}") }
        let issuer = port.withLock { $0 }
        if request.target == "/keys" {
          return ScriptedReply(
            200,
            """
            {"keys":[{"kty":"EC","crv":"P-256","kid":"\(keyId)",\
            "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",\
            "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}
            """)
        }
        return ScriptedReply(
          200,
          """
          {"issuer":"\(issuer)","jwks_uri":"\(issuer)/keys","token_endpoint":"\(issuer)/token",\
          "authorization_endpoint":"\(issuer)/auth"}
          """)
      })
      let url = server.url
      port.withLock { $0 = url }
      let settings = try OpenIDSettings(
        "{\"issuer\":\"\(url)\",\"client-id\":\"a\",\"secret\":\"0123456789abcdef\"}")
      client = try ProviderClient(settings)
      documents = ProviderDocuments(issuer: url, client: client) { state.withLock { $0.now } }
    }

    deinit {
      client.close()
      server.stop()
    }

    func wait(_ seconds: Int64) { state.withLock { $0.now += seconds } }

    /// How many keys fit a token with this name of a key.
    func keys(_ keyId: String) throws(IdentityFailure) -> Int {
      let header = Base64.encode(url: Array("{\"alg\":\"ES256\",\"kid\":\"\(keyId)\"}".utf8))
      return try documents.keys(for: SignedToken("\(header).e30.AA")).count
    }

    var asked: Int { server.requests.count }
  }

  /// Whether the keys of a provider are read whose documents name this address for them.
  private func readsKeys(
    at keys: @escaping @Sendable (String) -> String, private: [String] = ["127.0.0.1"]
  ) throws -> Bool {
    let port = Monitor("")
    let server = try ScriptedServer(replying: { request in
      let url = port.withLock { $0 }
      if request.target == "/keys" { return ScriptedReply(200, #"{"keys":[]}"#) }
      return ScriptedReply(
        200,
        """
        {"issuer":"\(url)","jwks_uri":"\(keys(url))","token_endpoint":"\(url)/token",\
        "authorization_endpoint":"\(url)/auth"}
        """)
    })
    defer { server.stop() }
    let url = server.url
    port.withLock { $0 = url }
    let settings = try OpenIDSettings(
      "{\"issuer\":\"\(url)\",\"client-id\":\"a\",\"secret\":\"0123456789abcdef\"}")
    let client = try ProviderClient(settings)
    defer { client.close() }
    let documents = ProviderDocuments(issuer: url, client: client, now: { 1000 }) { host in
      [IPAddress(`private`.contains(host) ? "10.0.0.1" : "192.0.2.1")].compactMap { $0 }
    }
    do throws(IdentityFailure) { _ = try documents.addresses() } catch { return false }
    return server.requests.contains { $0.target == "/keys" }
  }

  @Test func addressesKeepTheSchemeAndStayOutOfPrivateNetworks() throws {
    #expect(try readsKeys(at: { $0 + "/keys" }))
    #expect(try !readsKeys(at: { "https" + $0.dropFirst(4) + "/keys" }))
    // The issuer is of the internet here, by what the test's names stand for.
    #expect(try readsKeys(at: { $0 + "/keys" }, private: []))
    let inside: @Sendable (String) -> String = {
      $0.split(separator: "127.0.0.1").joined(separator: "localhost") + "/keys"
    }
    #expect(try !readsKeys(at: inside, private: ["localhost"]))
  }

  @Test(arguments: [
    ("127.0.0.1", true), ("10.1.2.3", true), ("172.16.0.1", true), ("172.32.0.1", false),
    ("192.168.1.1", true), ("169.254.169.254", true), ("100.64.0.1", true), ("0.0.0.0", true),
    ("198.51.100.1", false), ("8.8.8.8", false), ("::1", true), ("::", true), ("fd00::1", true),
    ("fe80::1", true), ("2001:db8::1", false), ("::ffff:10.0.0.1", true),
    ("64:ff9b::a00:1", true), ("64:ff9b::808:808", false),
  ])
  func addressesOfPrivateNetworksAreKnown(text: String, isPrivate: Bool) throws {
    #expect(try #require(IPAddress(text)).isPrivate == isPrivate)
  }

  @Test func documentsAreAskedForOnceAnHour() throws {
    let provider = try Provider()
    for _ in 0..<3 { #expect(try provider.keys("1") == 1) }
    #expect(provider.asked == 2)
    provider.wait(3600)
    #expect(try provider.keys("1") == 1)
    #expect(provider.asked == 4)
  }

  @Test func anUnknownKeyMakesTheServerAskAgainButNotEachTime() throws {
    let provider = try Provider()
    #expect(try provider.keys("1") == 1)
    provider.state.withLock { $0.keyId = "2" }
    for _ in 0..<9 { #expect(try provider.keys("2") == 0) }
    #expect(provider.asked == 2)
    provider.wait(30)
    #expect(try provider.keys("2") == 1)
    #expect(provider.asked == 4)
    #expect(try provider.keys("1") == 0, "the key was withdrawn")
  }

  @Test func whatWasKnownCountsForADayIfTheProviderIsDown() throws {
    let provider = try Provider()
    #expect(try provider.keys("1") == 1)
    provider.state.withLock { $0.fails = true }
    provider.wait(86_399)
    #expect(try provider.keys("1") == 1)
    let asked = provider.asked
    #expect(try provider.keys("1") == 1)
    #expect(provider.asked == asked, "after a failure there is a pause")
    provider.wait(2)
    #expect(throws: IdentityFailure.self) { try provider.keys("1") }
    provider.state.withLock { $0.fails = false }
    provider.wait(2)
    #expect(try provider.keys("1") == 1)
  }
}
