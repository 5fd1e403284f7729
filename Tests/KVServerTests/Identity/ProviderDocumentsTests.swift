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
